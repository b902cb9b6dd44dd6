package memory

import "math/bits"

// Size classes are the powers of two from Alignment on with steps between neighbours:
// three for small blocks, of which at most a quarter is wasted, fifteen for large ones,
// of which at most a 16th is. Variables are such blocks, and stay.
const (
	minShift   = 6  // log2 of the smallest class
	fineShift  = 20 // log2 of the first class of those with fine steps
	maxShift   = 40 // log2 of the largest class
	steps      = 4  // classes per power of two
	fineSteps  = 16 // from fineShift on
	firstFine  = (fineShift-minShift)*steps + 1
	numClasses = firstFine + (maxShift-fineShift)*fineSteps
)

// classIndex is the smallest class whose blocks hold n bytes; it is
// numClasses or more when there is none.
func classIndex(n int) int {
	if n <= Alignment {
		return 0
	}
	m := uint(roundUp(n) - 1)
	e := bits.Len(m) - 1
	if e >= fineShift {
		return firstFine + (e-fineShift)*fineSteps + int(m>>(e-4))&(fineSteps-1)
	}
	return 1 + (e-minShift)*steps + int(m>>(e-2))&(steps-1)
}

// classSize is the number of bytes in a block of class i.
func classSize(i int) int {
	switch {
	case i == 0:
		return Alignment
	case i >= firstFine:
		e, q := (i-firstFine)/fineSteps+fineShift, (i-firstFine)%fineSteps
		return (fineSteps + 1 + q) << (e - 4)
	}
	e, q := (i-1)/steps+minShift, (i-1)%steps
	return (steps + 1 + q) << (e - 2)
}
