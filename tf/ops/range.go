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
			tf.Float32: rangeOf(ramp[float32]), tf.Float64: rangeOf(ramp[float64]), tf.Int32: rangeOf(stepsBehind), tf.Int64: rangeOf(steps[int64]),
			tf.Int8: rangeOf(steps[int8]), tf.Int16: rangeOf(steps[int16]), tf.Uint16: rangeOf(steps[uint16]), tf.Uint32: rangeOf(steps[uint32]), tf.Uint64: rangeOf(steps[uint64]),
			tf.Float16: rangeHalf[tf.Half], tf.BFloat16: rangeHalf[tf.BF16],
		}),
	})
}

// Range returns the vector start, start+delta, ... up to but without limit.
// Each of them is an Output, with which g may be nil, or a Go number, which
// must be a value of their type; numbers alone are what Scalar makes of them.
// The three are scalars of one type, a floating-point number (float16,
// bfloat16, float32, float64) or an integer other than uint8. A delta of 0, a
// delta that leads away from limit, NaN, and more elements than an int64 counts
// are refused with INVALID_ARGUMENT, when the graph is built if the three are
// known, else in the step. start equal to limit gives an empty vector.
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
	var v [3]*core.Tensor
	for i := range v {
		if v[i] = c.Const(i); v[i] == nil || v[i].Len() != 1 {
			c.Set(0, tf.Shape{-1})
			return nil
		}
	}
	n, err := lenOfRange(v)
	c.Set(0, tf.Shape{n})
	return err
}

// lenOfRange returns how many elements a range of scalars has.
func lenOfRange(v [3]*core.Tensor) (int, error) {
	switch d := v[0].DType(); {
	case d == tf.Uint64:
		return intRangeLen(castRange[uint64](v))
	case d.IsInteger():
		return intRangeLen(castRange[int64](v))
	case d == tf.Float64:
		return rangeLen(castRange[float64](v), func(v float64) float64 { return v })
	case d == tf.Float16:
		return rangeLen(castRange[float32](v), widened[tf.Half])
	case d == tf.BFloat16:
		return rangeLen(castRange[float32](v), widened[tf.BF16])
	}
	return rangeLen(castRange[float32](v), func(v float32) float32 { return v })
}

func castRange[T int64 | uint64 | float32 | float64](v [3]*core.Tensor) (out [3]T) {
	for i, t := range v {
		elementwise.Cast(out[i:i+1], elementRange(t, 0, 1))
	}
	return out
}

// checkRange checks that delta leads from start to limit.
func checkRange[T numeric.Integer | numeric.Float](start, limit, delta T) error {
	text := func(v T) any {
		switch any(v).(type) {
		case float32, float64:
			return general(float64(v), 6)
		}
		return v
	}
	switch {
	case delta == 0:
		return tf.Errorf(tf.InvalidArgument, "Requires delta != 0: %v", text(delta))
	case delta > 0 && !(start <= limit):
		return tf.Errorf(tf.InvalidArgument, "Requires start <= limit when delta > 0: %v/%v", text(start), text(limit))
	case !(delta > 0) && !(start >= limit):
		return tf.Errorf(tf.InvalidArgument, "Requires start >= limit when delta < 0: %v/%v", text(start), text(limit))
	}
	return nil
}

// rangeLen returns how many elements a range of floating-point numbers has, which
// round rounds as those of its type are.
func rangeLen[T float32 | float64](v [3]T, round func(T) T) (int, error) {
	start, limit, delta := v[0], v[1], v[2]
	if err := checkRange(start, limit, delta); err != nil {
		return 0, err
	}
	n := math.Ceil(math.Abs(float64(round(round(limit-start) / delta))))
	if !(n < 1<<63) {
		return 0, tooLongRange()
	}
	return int(n), nil
}

// intRangeLen is rangeLen for integers, whose distance may need a bit more than they have.
func intRangeLen[T int64 | uint64](v [3]T) (int, error) {
	start, limit, delta := v[0], v[1], v[2]
	if err := checkRange(start, limit, delta); err != nil {
		return 0, err
	}
	span, step := uint64(limit)-uint64(start), uint64(delta)
	if delta < 0 {
		span, step = -span, -step
	}
	n := span / step
	if span%step != 0 {
		n++
	}
	if n > math.MaxInt64 {
		return 0, tooLongRange()
	}
	return int(n), nil
}

func tooLongRange() error {
	return tf.Errorf(tf.InvalidArgument, "Requires ((limit - start) / delta) <= %d", math.MaxInt64)
}

// rangeOf makes kernels of what fills y with start, start+delta and so on.
func rangeOf[T tf.Elem](fill func(y []T, start, delta T)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("Tidx")
		return core.Compute(func(c *core.OpContext) error { return fillRange(c, d, fill) }), nil
	}
}

func fillRange[T tf.Elem](c *core.OpContext, d tf.DType, fill func(y []T, start, delta T)) error {
	v, err := rangeArgs[T](c)
	if err != nil {
		return err
	}
	count, err := lenOfRange([3]*core.Tensor{c.Input(0), c.Input(1), c.Input(2)})
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, d, tf.Shape{count})
	if err != nil {
		return err
	}
	fill(core.Data[T](out), v[0], v[2])
	return nil
}

// steps sets y to start, start+delta and so on, four at a time: none of them
// waits for the one before it.
func steps[T numeric.Integer](y []T, start, delta T) {
	a, b, c, d := start, start+delta, start+2*delta, start+3*delta
	for ; len(y) >= 4; y = y[4:] {
		y[0], y[1], y[2], y[3] = a, b, c, d
		a, b, c, d = a+4*delta, b+4*delta, c+4*delta, d+4*delta
	}
	for i := range y {
		y[i], a = a, a+delta
	}
}

// stepsBlock numbers are computed one by one, further ones by the vectors that add to those.
const stepsBlock = 1024

var addInts = elementwise.AddLoops[int32]()

// stepsBehind is steps for int32.
func stepsBehind(y []int32, start, delta int32) {
	steps(y[:min(stepsBlock, len(y))], start, delta)
	for at := stepsBlock; at < len(y); at += stepsBlock {
		to := y[at:min(at+stepsBlock, len(y))]
		addInts.ScalarY(to, y[at-stepsBlock:][:len(to)], stepsBlock*delta)
	}
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
		count, err := rangeLen(v, widened[H])
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
