package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Range", In: "start: Tidx; limit: Tidx; delta: Tidx", Out: "output: Tidx",
		Attrs: "Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = int32",
		Shape: rangeShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("Tidx", map[tf.DType]core.NewKernel{
			tf.Float32: rangeOf[float32], tf.Float64: rangeOf[float64], tf.Int32: rangeOf[int32], tf.Int64: rangeOf[int64],
			tf.Int8: rangeOf[int8], tf.Int16: rangeOf[int16], tf.Uint16: rangeOf[uint16], tf.Uint32: rangeOf[uint32], tf.Uint64: rangeOf[uint64],
			tf.Float16: rangeHalf[tf.Half], tf.BFloat16: rangeHalf[tf.BF16],
		}),
	})
}

// Range returns the vector start, start+delta, ... up to but without limit. Each
// of them is an Output, with which g may be nil, or a Go number, which must be a
// value of their type; numbers alone are what Scalar makes of them.
func Range(g *tf.Graph, start, limit, delta any, opts ...tf.Option) tf.Output {
	in := operands(g, start, limit, delta)
	return apply("Range", opts, in...)
}

func rangeShape(c *core.Infer) error {
	for i := range 3 {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	var v [3]float64
	for i := range v {
		t := c.Const(i)
		if t == nil || t.Len() != 1 {
			c.Set(0, tf.Shape{-1})
			return nil
		}
		elementwise.Cast(v[i:i+1], elementRange(t, 0, 1))
	}
	n, err := rangeLen(v[0], v[1], v[2], c.Type("Tidx").IsInteger())
	c.Set(0, tf.Shape{n})
	return err
}

// rangeLen returns how many elements a range has.
func rangeLen(start, limit, delta float64, integer bool) (int, error) {
	switch {
	case delta == 0:
		return 0, tf.Errorf(tf.InvalidArgument, "Requires delta != 0: %v", delta)
	case delta > 0 && start > limit:
		return 0, tf.Errorf(tf.InvalidArgument, "Requires start <= limit when delta > 0: %v/%v", start, limit)
	case delta < 0 && start < limit:
		return 0, tf.Errorf(tf.InvalidArgument, "Requires start >= limit when delta < 0: %v/%v", start, limit)
	}
	n := math.Ceil(math.Abs((limit - start) / delta))
	if integer {
		n = math.Ceil(math.Abs(limit-start) / math.Abs(delta))
	}
	if !(n <= math.MaxInt32*1024) {
		return 0, tf.Errorf(tf.InvalidArgument, "Requires ((limit - start) / delta) to fit in memory, got %v", n)
	}
	return int(n), nil
}

func rangeOf[T numeric.Integer | numeric.Float](n *core.Node) (core.Kernel, error) {
	d := n.Type("Tidx")
	return core.Compute(func(c *core.OpContext) error {
		v, err := rangeArgs[T](c)
		if err != nil {
			return err
		}
		count, err := rangeLen(float64(v[0]), float64(v[1]), float64(v[2]), d.IsInteger())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, d, tf.Shape{count})
		if err != nil {
			return err
		}
		dst := core.Data[T](out)
		for i := range dst {
			dst[i] = v[0] + T(T(i)*v[2]) // the conversion keeps the product's rounding
		}
		return nil
	}), nil
}

// rangeArgs returns start, limit and delta.
func rangeArgs[T tf.Elem](c *core.OpContext) (v [3]T, err error) {
	for i, name := range [3]string{"start", "limit", "delta"} {
		t := c.Input(i)
		if t.Len() != 1 || t.Rank() > 1 {
			return v, tf.Errorf(tf.InvalidArgument, "%s must be a scalar, not shape %s", name, t.Shape().String())
		}
		v[i] = core.Data[T](t)[0]
	}
	return v, nil
}

// rangeHalf rounds after each step, as arithmetic on 16 bits does.
func rangeHalf[H tf.Half | tf.BF16](n *core.Node) (core.Kernel, error) {
	d := n.Type("Tidx")
	return core.Compute(func(c *core.OpContext) error {
		h, err := rangeArgs[H](c)
		if err != nil {
			return err
		}
		var v [3]float32
		elementwise.Widen(v[:], h[:])
		count, err := rangeLen(float64(v[0]), float64(v[1]), float64(v[2]), false)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, d, tf.Shape{count})
		if err != nil {
			return err
		}
		for i, dst := 0, core.Data[H](out); i < len(dst); i++ {
			dst[i] = narrow[H](v[0] + widened[H](widened[H](float32(i))*v[2]))
		}
		return nil
	}), nil
}

// narrow rounds v to 16 bits.
func narrow[H tf.Half | tf.BF16](v float32) H {
	var h [1]H
	elementwise.Narrow(h[:], []float32{v})
	return h[0]
}

// widened returns v as 16 bits can hold it.
func widened[H tf.Half | tf.BF16](v float32) float32 {
	var f [1]float32
	elementwise.Widen(f[:], []H{narrow[H](v)})
	return f[0]
}
