package random

// maxSeed is what clients reduce seeds by.
const maxSeed = 1<<31 - 1

// defaultGraphSeed stands for the graph's seed when only the op has one.
const defaultGraphSeed = 87654321

// OpSeeds returns the attributes seed and seed2 that a client gives a random op.
// graph and op are the seeds that the user set, nil for none. unseeded is how
// many ops of the graph got their seeds before from a graph that has one without
// having one themselves; counts says that this op is the next of them.
func OpSeeds(graph, op *int64, unseeded int64) (seed, seed2 int64, counts bool) {
	switch {
	case graph == nil && op == nil:
		return 0, 0, false
	case graph == nil:
		seed, seed2 = defaultGraphSeed, reduceSeed(*op)
	case op == nil:
		seed, seed2, counts = reduceSeed(*graph), reduceSeed(unseeded), true
	default:
		seed, seed2 = reduceSeed(*graph), reduceSeed(*op)
	}
	if seed == 0 && seed2 == 0 {
		seed2 = maxSeed // two zeros would ask for a stream of chance
	}
	return seed, seed2, counts
}

// reduceSeed is the remainder that is never negative.
func reduceSeed(s int64) int64 {
	return ((s % maxSeed) + maxSeed) % maxSeed
}
