// Package conv holds convolutions of images and their gradients: plain ones, in groups,
// depthwise ones and dilation. How a window moves is said by a [sliding.Window].
//
// On float32 and float64 micro-kernels in assembly multiply images where they lie, line
// by line (engine). Otherwise patches or lines of images are multiplied as matrices by
// package gemm.
package conv
