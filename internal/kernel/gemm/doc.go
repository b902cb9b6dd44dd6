// Package gemm holds products of matrices: C = A·B, with operands that are transposed
// or lie apart, and an [Epilogue] for what follows while a tile of C is in the cache.
//
// float32 and float64 run in micro-kernels in assembly, in blocks that fit the caches
// (blocked); all other types, and other processors, run the loops in Go. Products of
// 8-bit integers are computed in floating point where that is exact ([MatMul8]).
package gemm
