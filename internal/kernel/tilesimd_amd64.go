//go:build !noasm

package kernel

func init() {
	Dispatch(&transpose16, nil, func(dst, src *float32, ldd, lds int) { packRows16AVX512(16, src, lds, dst, ldd) })
}
