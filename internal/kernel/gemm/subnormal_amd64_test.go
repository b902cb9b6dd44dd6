//go:build !noasm

package gemm

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestColumnsFlushAlike: where subnormal results are 0, they are in all columns, those that do not
// fill a vector included, and where the sums of blocks are added up.
func TestColumnsFlushAlike(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for m := 1; m <= 4; m++ {
			g := NewGemm(m, 1027, 2000, false, false)
			a, b, c := make([]float32, g.M*g.K), make([]float32, g.K*g.N), make([]float32, g.M*g.N)
			kernel.Fill(a, 0x1p-100)
			kernel.Fill(b, 0x1p-40)
			MatMul(kerneltest.Pieces, g, c, a, b, Epilogue[float32]{})
			for i, v := range c {
				if v != 0 {
					t.Fatalf("%+v: element %d is %v", g, i, v)
				}
			}
		}
	})
}
