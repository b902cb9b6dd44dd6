package pool

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// mostMeaned is how many bytes a mean is of at most, for which a quotient of float32 is a half
// only if the mean is one.
const mostMeaned = 1 << 16

// byFloats computes y, of bytes, by the vector loops of float32, which hold them exactly. It
// reports false if there are none.
func byFloats[T int8 | uint8](par kernel.Par, v *Pool, y, x []T, l loops, end func(y []float32, taps int)) bool {
	if l.windows == nil {
		return false
	}
	room, loan := memory.Lend[float32](len(x) + len(y))
	defer loan.Return()
	wide, joined := room[:len(x)], room[len(x):]
	par(len(x), poolElements, func(lo, hi int) { elementwise.Cast(wide[lo:hi], x[lo:hi]) })
	poolRuns(par, v, joined, wide, l, end)
	par(len(y), poolElements, func(lo, hi int) { elementwise.Cast(y[lo:hi], joined[lo:hi]) })
	return true
}

func maxBytes[T int8 | uint8](par kernel.Par, v *Pool, y, x []T) bool {
	return byFloats(par, v, y, x, loops{simd.poolMax, elementwise.Max[float32]}, func(y []float32, taps int) {
		if taps == 0 {
			kernel.Fill(y, float32(numeric.Lowest[T]()))
		}
	})
}

// AvgPoolBytes is AvgPoolWhole for bytes.
func AvgPoolBytes[T int8 | uint8](par kernel.Par, v *Pool, y, x []T) {
	if len(y) == 0 || v.mostCovered() <= mostMeaned && byFloats(par, v, y, x, loops{simd.poolSum, elementwise.Add[float32]}, func(y []float32, taps int) {
		if taps == 0 {
			clear(y)
			return
		}
		elementwise.DivScalar(y, y, float32(taps))
		elementwise.Round(y, y)
	}) {
		return
	}
	room, loan := memory.Lend[int64](len(x) + len(y))
	defer loan.Return()
	wide, means := room[:len(x)], room[len(x):]
	elementwise.Cast(wide, x)
	AvgPoolWhole(par, v, means, wide)
	elementwise.Cast(y, means) // no mean is out of the range of its numbers
}
