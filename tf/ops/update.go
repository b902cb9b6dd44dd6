package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An update changes the value of a variable by a tensor of equal type and shape.
type update func(c *core.OpContext, v *core.Change, by *core.Tensor)

// piece is how many elements are made ready and changed at a time. It is a multiple of
// what loops take at once, so that pieces give the same bits as a whole.
const piece = 1 << 13

// stretches calls f for the elements from lo to hi, after they have been made ready: piece by
// piece if that takes anything.
func stretches(lo, hi int, f func(lo, hi int), vars ...*core.Change) {
	fresh := false
	for _, v := range vars {
		fresh = fresh || v.Fresh()
	}
	if !fresh {
		f(lo, hi)
		return
	}
	for ; lo < hi; lo += piece {
		end := min(lo+piece, hi)
		for _, v := range vars {
			v.Ready(lo, end)
		}
		f(lo, end)
	}
}

var (
	additions    = updates(addRows, descent.StreamAdd)
	subtractions = updates(subRows, descent.StreamSub)
)

// streamMin is the bytes of a variable from which on its new value passes the caches by.
// A smaller one is likely to be in a cache when the next step reads it.
const streamMin = 1 << 20

// streams reports whether the new values of variables had better be written past the
// caches: all of them go to other memory, and are large.
func streams(vars ...*core.Change) bool {
	for i, v := range vars {
		if !v.Fresh() || v.T.NumBytes() < streamMin || slices.Contains(vars[:i], v) {
			return false
		}
	}
	return true
}

// streamed calls f for stretches of n elements, each of which begins where a piece does,
// so that vectors are aligned.
func streamed(c *core.OpContext, n int, f func(lo, hi int)) {
	c.ParallelFor((n+piece-1)/piece, max(1, elementGrain/piece), func(lo, hi int) { f(lo*piece, min(hi*piece, n)) })
}

// changeWhole calls f to change the value of a variable, memory to which nothing else
// refers; nil while the variable is uninitialized.
func changeWhole(c *core.OpContext, r *core.Ref, f func(t *core.Tensor) error) error {
	return r.Change(c, func(next *core.Change) error {
		next.All(c)
		return f(next.T)
	})
}

// updates returns what changes a variable of each type by the given rowOps. stream does
// it for large variables of type Float32 whose new value goes to other memory.
func updates(rows rowOps, stream func(z, x, y []float32)) map[tf.DType]update {
	out := make(map[tf.DType]update, len(rows))
	for d, op := range rows {
		out[d] = func(c *core.OpContext, v *core.Change, by *core.Tensor) {
			if d == tf.Float32 && streams(v) {
				z, x, y := core.Data[float32](v.T), core.Data[float32](v.From()), core.Data[float32](by)
				streamed(c, len(z), func(lo, hi int) { stream(z[lo:hi], x[lo:hi], y[lo:hi]) })
				return
			}
			combine := op(v.T, by)
			step := func(lo, hi int) { combine(lo, lo, hi-lo) }
			c.ParallelFor(v.T.Len(), elementGrain, func(lo, hi int) { stretches(lo, hi, step, v) })
		}
	}
	return out
}

// widened2 runs a loop over float32 on 16-bit floats.
func widened2[H numeric.HalfFloat](f func(z, x, y []float32)) func(z, x, y []H) {
	return func(z, x, y []H) { elementwise.Widen2(z, x, y, f) }
}
