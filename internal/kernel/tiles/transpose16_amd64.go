//go:build !noasm

package tiles

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&Transpose16, nil, func(dst, src *float32, ldd, lds int) { packRows16AVX512(16, src, lds, dst, ldd) })
}
