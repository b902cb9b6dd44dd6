package tf

import "github.com/gorge-tf/gorge/internal/random"

// graphSeeds is what random operations get their seeds from.
type graphSeeds struct {
	seed    *int64          // the graph's, nil if it has none
	counted int64           // how many operations got their own seed from the graph's
	drawn   *random.Twister // gives operations of an eager graph theirs
}

// SetSeed sets the graph's random seed. In an eager graph the sequences of random
// numbers begin again, as after tf.random.set_seed. Those of functions that have been
// traced do, too, with the seeds that they were traced with.
func (g *Graph) SetSeed(seed int64) {
	g.scope.seeds.seed = &seed
	if g.IsEager() {
		g.scope.seeds.drawn = random.NewTwister(seed)
		g.eager.cache.forget() // kernels know how far their sequences are
		if again := g.eager.cache.again; again != nil {
			again()
		}
	}
}

// Seeds returns the attributes seed and seed2 of a random operation, from the
// graph's seed and the operation's own by TensorFlow's rule; op is nil if the
// operation was given none. Both are 0 if there is no seed at all: such an
// operation draws one when it first runs.
//
// Operations without a seed of their own get their number among those of the
// graph; in an eager graph a number that is drawn, and in a function that an
// eager program traces their number among those of the function.
func (g *Graph) Seeds(op *int64) (seed, seed2 int64) {
	root, body := g.outermost(), g.current()
	from := &root.scope.seeds
	switch {
	case !root.IsEager() || from.seed == nil || op != nil:
	case body == root:
		drawn := from.drawn.Seed()
		op = &drawn
	default:
		body.scope.seeds.seed = from.seed
		from = &body.scope.seeds
	}
	return from.next(op)
}

func (s *graphSeeds) next(op *int64) (seed, seed2 int64) {
	seed, seed2, counts := random.OpSeeds(s.seed, op, s.counted)
	if counts {
		s.counted++
	}
	return seed, seed2
}
