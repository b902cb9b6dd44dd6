package tf

import "github.com/gorge-tf/gorge/internal/random"

// Seeds returns the attributes seed and seed2 of a random operation, from the
// graph's seed and the operation's own by TensorFlow's rule; op is nil if the
// operation was given none. Both are 0 if there is no seed at all: such an
// operation draws one when it first runs.
func (g *Graph) Seeds(op *int64) (seed, seed2 int64) {
	g = g.outermost()
	var graph *int64
	if g.hasSeed {
		graph = &g.seed
	}
	seed, seed2, counted := random.OpSeeds(graph, op, g.seeded)
	if counted {
		g.seeded++
	}
	return seed, seed2
}
