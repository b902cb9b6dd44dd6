package memory

import "math/bits"

// Size classes are the powers of two from Alignment on with three steps
// between neighbours: at most a quarter of a block is wasted, and a tensor
// that grows a little still finds the block it had.
const (
	minShift   = 6  // log2 of the smallest class
	maxShift   = 40 // log2 of the largest class
	steps      = 4  // classes per power of two
	numClasses = (maxShift-minShift)*steps + 1
)

// classIndex is the smallest class whose blocks hold n bytes; it is
// numClasses or more when there is none.
func classIndex(n int) int {
	if n <= Alignment {
		return 0
	}
	m := uint(roundUp(n) - 1)
	e := bits.Len(m) - 1
	q := int(m>>(e-2)) & (steps - 1)
	return (e-minShift)*steps + q + 1
}

// classSize is the number of bytes in a block of class i.
func classSize(i int) int {
	if i == 0 {
		return Alignment
	}
	e, q := (i-1)/steps+minShift, (i-1)%steps
	return (steps + 1 + q) << (e - 2)
}
