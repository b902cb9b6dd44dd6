//go:build !noasm

package kernel

func init() { Dispatch(&simd, avx2Loops(), avx512Loops()) }
