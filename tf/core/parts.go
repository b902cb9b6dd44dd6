package core

// A PartsKernel is the kernel of an op with one output that can compute it stretch by
// stretch, so that what follows element by element can be done while a stretch is in the
// cache: a product of matrices, a convolution.
type PartsKernel struct {
	// Compute runs the whole op.
	Compute
	// Shape returns the shape of the output, and the errors of Compute for inputs that do
	// not fit.
	Shape func(c *OpContext) (Shape, error)
	// Rows says that stretches are whole rows, the elements along the last axis, so that what
	// follows may fold these, too.
	Rows bool
	// Into computes the output of inputs that fit into z, which has as many elements, and
	// calls done for stretches of its elements [lo, hi) once these are computed, from any
	// goroutine. Each element is in one stretch; done may change the elements of its own.
	// It may be nil.
	Into func(c *OpContext, z *Tensor, done func(lo, hi int))
}
