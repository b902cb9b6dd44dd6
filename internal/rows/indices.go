package rows

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf/core"
)

// Indices returns the indices in t as int64, t's own memory if they are.
func Indices(t *core.Tensor) []int64 {
	if t.DType() == core.Int64 {
		return core.Data[int64](t)
	}
	out := core.Make[int64](t.Len())
	elementwise.Cast(out, core.AnyData(t))
	return out
}

// IndicesIn is Indices in memory of the step's, which Release of temp gives back unless
// it is nil.
func IndicesIn(c *core.OpContext, t *core.Tensor) (v []int64, temp *core.Tensor, err error) {
	if t.DType() == core.Int64 {
		return core.Data[int64](t), nil, nil
	}
	if temp, err = c.Temp(core.Int64, t.Shape()); err != nil {
		return nil, nil, err
	}
	v = core.Data[int64](temp)
	elementwise.Cast(v, core.AnyData(t))
	return v, temp, nil
}
