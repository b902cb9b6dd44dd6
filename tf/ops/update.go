package ops

import (
	"github.com/gorge-tf/gorge/internal/changes"
	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An update changes the value of a variable by a tensor of equal type and shape.
type update func(c *core.OpContext, v *core.Change, by *core.Tensor)

var (
	additions    = updates(addRows, descent.StreamAdd)
	subtractions = updates(subRows, descent.StreamSub)
)

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
			if d == tf.Float32 && changes.Streams(v) {
				z, x, y := core.Data[float32](v.T), core.Data[float32](v.From()), core.Data[float32](by)
				changes.Stream(c, len(z), func(lo, hi int) { stream(z[lo:hi], x[lo:hi], y[lo:hi]) })
				return
			}
			combine := op(v.T, by)
			step := func(lo, hi int) { combine(lo, lo, hi-lo) }
			c.ParallelFor(v.T.Len(), elementGrain, func(lo, hi int) { changes.Each(lo, hi, step, v) })
		}
	}
	return out
}

// widened2 runs a loop over float32 on 16-bit floats.
func widened2[H numeric.HalfFloat](f func(z, x, y []float32)) func(z, x, y []H) {
	return func(z, x, y []H) { elementwise.Widen2(z, x, y, f) }
}
