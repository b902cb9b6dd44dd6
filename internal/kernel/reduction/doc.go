// Package reduction holds the loops that make few numbers of many: sums, products,
// greatest and least elements and their positions, along any axes of a tensor.
//
// A [Fold] is an associative operation, a [Reduction] says along which axes. How a
// reduction is cut depends on the shape alone, so that the bits of a result do not
// depend on the number of threads; sums are taken in halves, so that their rounding
// error grows with the logarithm of their length.
package reduction
