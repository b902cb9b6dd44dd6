//go:build unix

package gemm

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestNothingOutside: products of all forms neither read nor write beyond their operands.
func TestNothingOutside(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range gemmShapes {
			if s.m*s.n*s.k == 0 {
				continue
			}
			for trans := range 4 {
				g := NewGemm(s.m, s.n, s.k, trans&1 != 0, trans&2 != 0)
				for _, atEnd := range []bool{false, true} {
					t.Run(fmt.Sprint(s, trans, atEnd), func(t *testing.T) {
						c, a, b := kerneltest.Paged[float32](t, g.M*g.N, atEnd), kerneltest.Paged[float32](t, g.M*g.K, atEnd), kerneltest.Paged[float32](t, g.K*g.N, atEnd)
						MatMul(kerneltest.Pieces, g, c, a, b, Epilogue[float32]{})
					})
				}
			}
		}
	})
}
