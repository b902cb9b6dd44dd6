package kernel

// Product returns the number of elements of a shape.
func Product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
