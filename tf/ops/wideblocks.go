package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf/core"
)

// wideElements of float32 stay in the first-level cache beside as many results.
const wideElements = 4096

// inWideBlocks computes rows of 16-bit floats in float32, some at a time: f makes m results of each
// row of n elements.
func inWideBlocks[H numeric.HalfFloat](par kernel.Par, y, x []H, m, n int, f func(y, x []float32, n int)) {
	block := max(1, wideElements/n)
	par(len(x)/n, max(1, elementGrain/n), func(lo, hi int) {
		most := min(block, hi-lo)
		room, loan := core.Lend[float32](most * (n + m))
		defer loan.Return()
		in, out := room[:most*n], room[most*n:]
		for ; lo < hi; lo += most {
			k := min(most, hi-lo)
			wide, z := in[:k*n], out[:k*m]
			elementwise.Widen(wide, x[lo*n:(lo+k)*n])
			f(z, wide, n)
			elementwise.Narrow(y[lo*m:(lo+k)*m], z)
		}
	})
}
