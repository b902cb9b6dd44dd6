//go:build !noasm

package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

func init() { kernel.Dispatch(&simd, avx2Loops(), avx512Loops()) }
