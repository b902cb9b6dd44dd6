//go:build !noasm

package tiles

// packRowsKernel transposes a fixed number of rows.
type packRowsKernel = func(k int, src *float32, lds int, dst *float32, ldd int)

// PackerAVX512 copies float32 with vector instructions.
var PackerAVX512 = Packer[float32]{
	Rows: func(n, k int, src []float32, lds int, dst []float32, ldd int) {
		_, _ = src[(n-1)*lds+k-1], dst[(k-1)*ldd+15]
		packRowsAVX512[n-1](k, &src[0], lds, &dst[0], ldd)
	},
	Cols: func(n, k int, src []float32, lds int, dst []float32, ldd int) {
		_, _ = src[(k-1)*lds+n-1], dst[(k-1)*ldd+15]
		packColsAVX512(k, &src[0], lds, &dst[0], ldd, n)
	},
}
