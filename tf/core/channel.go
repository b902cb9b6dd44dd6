package core

// A ChannelKernel is the kernel of a normalization: an op that moves and scales each channel of
// its first input by what its other inputs say, or by the moments of the first one. Compute runs
// the whole op. Its first output is Apply's result.
type ChannelKernel struct {
	Compute
	// Moments, of an op that normalizes by the moments of its first input, computes all outputs
	// but the first one, as outputs from 0 on: 2 and 3 are the mean and the variance that the
	// first one is made with. It is nil where these are inputs 3 and 4; then only the first
	// output may be used of an op that Factor and Apply stand for.
	Moments Compute
	// Factor computes a vector of factors, its only output, from scale, offset, mean
	// and variance, which are vectors of equal lengths.
	Factor Compute
	// Apply computes the first output from the first input, the mean, the vector of Factor
	// and the offset. Each of the latter has an element for each channel, which is the last
	// dimension of the first input.
	Apply *ElementKernel
}

// A ChannelGradKernel is the kernel of the gradient of a normalization by the moments of its
// first input. Compute runs the op, whose inputs 0 to 4 are the gradient of the normalization's
// result, what was normalized, the scale, the mean and the variance.
type ChannelGradKernel struct {
	Compute
	// Gated computes the same for the gradient of what a rectifier makes of the normalization's
	// result, to the same bits, without that result. The offset follows the inputs of the op.
	Gated func(c *OpContext, r Rectifier) error
}
