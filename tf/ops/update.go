package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An update changes the value of a variable, memory that nobody else sees, by
// a tensor of equal type and shape.
type update func(c *core.OpContext, v, by *core.Tensor)

// updates returns what changes a variable of each type by the given rowOps.
func updates(rows rowOps) map[tf.DType]update {
	out := make(map[tf.DType]update, len(rows))
	for d, op := range rows {
		out[d] = func(c *core.OpContext, v, by *core.Tensor) {
			combine := op(v, by)
			c.ParallelFor(v.Len(), elementGrain, func(lo, hi int) { combine(lo, lo, hi-lo) })
		}
	}
	return out
}

// widened2 runs a loop over float32 on 16-bit floats.
func widened2[H kernel.HalfFloat](f func(z, x, y []float32)) func(z, x, y []H) {
	return func(z, x, y []H) { kernel.Widen2(z, x, y, f) }
}
