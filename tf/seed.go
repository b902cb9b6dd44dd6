package tf

import "github.com/gorge-tf/gorge/internal/random"

// graphSeeds is what random operations get their seeds from.
type graphSeeds struct {
	seed    *int64 // the graph's, nil if it has none
	counted int64  // how many operations got their own seed from the graph's
}

// SetSeed sets the graph's random seed.
func (g *Graph) SetSeed(seed int64) { g.scope.seeds.seed = &seed }

// Seeds returns the attributes seed and seed2 of a random operation, from the
// graph's seed and the operation's own by TensorFlow's rule; op is nil if the
// operation was given none. Both are 0 if there is no seed at all: such an
// operation draws one when it first runs.
func (g *Graph) Seeds(op *int64) (seed, seed2 int64) { return g.outermost().scope.seeds.next(op) }

func (s *graphSeeds) next(op *int64) (seed, seed2 int64) {
	seed, seed2, counts := random.OpSeeds(s.seed, op, s.counted)
	if counts {
		s.counted++
	}
	return seed, seed2
}
