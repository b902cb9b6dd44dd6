package core

// A RowKernel is the kernel of a [Reduction] op that can fold some rows at a time where
// it reduces the last axes, or of a [Rowwise] op. Compute runs the whole op. Executors
// may run such ops together with elementwise ones instead, by Rows.
type RowKernel struct {
	Compute
	// Rows computes z from rows of n elements of x: an element for each row if the op is
	// a Reduction, else a row. It gives the bits that Compute gives for these rows
	// wherever they are among others. n is 2 or more. Several goroutines may call it at
	// once.
	Rows func(z, x []byte, n int)
}

// FoldRows returns what a RowKernel does for elements of type T, nil if they are not
// plain memory.
func FoldRows[T Elem](f func(z, x []T, n int)) func(z, x []byte, n int) {
	if !plain[T]() {
		return nil
	}
	return func(z, x []byte, n int) { f(Elements[T](z), Elements[T](x), n) }
}
