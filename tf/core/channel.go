package core

// A ChannelKernel is the kernel of an op that moves and scales each channel of its first
// input by what its other inputs say, without looking at the rest of it: a normalization
// by given moments. Compute runs the whole op; where only its first output is used, that is
// Apply's result.
type ChannelKernel struct {
	Compute
	// Factor computes a vector of factors, its only output, from inputs scale, offset, mean
	// and variance of the op, which are vectors of equal lengths.
	Factor Compute
	// Apply computes the first output from the first input, the mean, the vector of Factor
	// and the offset. Each of the latter has an element for each channel, which is the last
	// dimension of the first input.
	Apply *ElementKernel
}
