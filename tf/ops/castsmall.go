package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

var float8s = map[tf.DType]numeric.Float8{tf.Float8E5M2: numeric.Float8E5M2, tf.Float8E4M3: numeric.Float8E4M3FN}

// castPart converts elements lo to hi. Small types are converted by way of
// larger ones.
func castPart(y, x *core.Tensor, lo, hi int) {
	src := elementRange(x, lo, hi)
	if f, ok := float8s[x.DType()]; ok {
		wide := core.Make[float32](hi - lo)
		kernel.Map2(wide, src.([]uint8), f.Decode)
		src = wide
	}
	dst := elementRange(y, lo, hi)
	if f, ok := float8s[y.DType()]; ok {
		wide := core.Make[float64](hi - lo)
		elementwise.Cast(wide, src)
		kernel.Map2(dst.([]uint8), wide, f.Encode)
		return
	}
	elementwise.Cast(dst, src)
	switch y.DType() {
	case tf.Int4:
		v := dst.([]int8)
		kernel.Map(v, v, func(v int8) int8 { return v << 4 >> 4 })
	case tf.Uint4:
		v := dst.([]uint8)
		kernel.Map(v, v, func(v uint8) uint8 { return v & 15 })
	}
}
