package core

// An UpdateKernel is the kernel of an op that changes variables by a gradient of their
// shape, and that can do so as parts of the gradient come: then the gradient need not be
// in memory as a whole.
type UpdateKernel struct {
	// Compute does what the op does.
	Compute Compute
	// Gradient is the number of the input that is the gradient.
	Gradient int
	// Parts does the same with a gradient of type Float32 and this shape that compute
	// computes; c's input Gradient is not read. compute is called once, if the other inputs
	// are right. It calls worker for each goroutine that takes part, and what that returns
	// for parts of the gradient, the elements from at on, that together are all of it, each
	// once. nil: there is no such way for the type of the variables.
	Parts func(c *OpContext, shape Shape, compute func(worker func() UpdatePart)) error
}

// An UpdatePart updates variables by the elements of a gradient from element at on, which it
// does not keep.
type UpdatePart func(at int, part []float32)

func (*UpdateKernel) kernel() {}
