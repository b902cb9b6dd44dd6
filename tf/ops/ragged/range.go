package ragged

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RaggedRange", In: "starts: T; limits: T; deltas: T", Out: "rt_nested_splits: Tsplits; rt_dense_values: T",
		Attrs: "T: {bfloat16, float, double, int32, int64} = int32; Tsplits: {int32, int64} = int64",
		Shape: rangeShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.Float32: ranges(floatLength[float32]), tf.Float64: ranges(floatLength[float64]),
			tf.Int32: ranges(intLength[int32]), tf.Int64: ranges(intLength[int64]),
		}),
	})
}

// SplitsOpts is the optional attribute of ops that compute row splits: their
// type, int64 unless Type says int32.
type SplitsOpts struct{ Type tf.DType }

// Apply sets the attributes.
func (o SplitsOpts) Apply(s *tf.Spec) {
	if o.Type != tf.Invalid {
		s.Set("Tsplits", o.Type)
	}
}

// RaggedRange returns a row of numbers from start up to limit, in steps of
// delta, for each element of its arguments: vectors of one length, or scalars
// that serve all rows. Splits, a vector longer by one than there are rows,
// says where each row of values begins and the last ends. The types are
// float32, float64, int32 and int64. A row is empty where delta leads away
// from limit. Arguments of two dimensions or more, or of different lengths,
// are refused with INVALID_ARGUMENT, when the graph is built if the shapes are
// known, else in the step; so are, in the step, a delta of 0 and more numbers
// than the type of the splits can count. Its options are [SplitsOpts].
func RaggedRange(starts, limits, deltas tf.Output, opts ...tf.Option) (splits, values tf.Output) {
	op := tf.Apply(nil, "RaggedRange", []tf.Output{starts, limits, deltas}, opts...)
	return op.Output(0), op.Output(1)
}

func rangeShape(c *core.Infer) error {
	rows := -1
	scalars := 0
	for i := range 3 {
		s := c.In(i)
		switch {
		case len(s) > 1:
			return invalid("Shape must be at most rank 1 but is rank %d", len(s))
		case s == nil:
		case len(s) == 0:
			scalars++
		case rows >= 0 && s[0] >= 0 && rows != s[0]:
			return invalid("Dimensions must be equal, but are %d and %d", rows, s[0])
		default:
			rows = max(rows, s[0])
		}
	}
	if scalars == 3 {
		rows = 1
	}
	c.Set(0, tf.Shape{-1})
	if rows >= 0 {
		c.Set(0, tf.Shape{rows + 1})
	}
	c.Set(1, tf.Shape{-1})
	return nil
}

type number interface {
	int32 | int64 | float32 | float64
}

// intLength returns how many numbers there are from start to limit, which the
// sign of delta leads to. The difference may need the 64th bit.
func intLength[T int32 | int64](start, limit, delta T) (uint64, bool) {
	span, step := uint64(int64(limit)-int64(start)), uint64(int64(delta))
	if delta < 0 {
		span, step = -span, -step
	}
	n := span / step
	if span%step != 0 {
		n++
	}
	return n, n <= math.MaxInt64
}

// floatLength is intLength for floating-point numbers.
func floatLength[T float32 | float64](start, limit, delta T) (uint64, bool) {
	n := math.Ceil(math.Abs(float64((limit - start) / delta)))
	if !(n < math.MaxInt64) {
		return 0, false
	}
	return uint64(n), true
}

// ranges makes the kernel for a type of numbers.
func ranges[T number](length func(start, limit, delta T) (uint64, bool)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("Tsplits")
		return core.Compute(func(c *core.OpContext) error {
			r, err := newRows[T](c)
			if err != nil {
				return err
			}
			splits, err := r.splits(d, length)
			if err != nil {
				return err
			}
			if err := allocInts(c, 0, d, splits); err != nil {
				return err
			}
			out, err := c.Alloc(1, c.Input(0).DType(), tf.Shape{splits[r.n]})
			if err != nil {
				return err
			}
			values := core.Data[T](out)
			for i := range r.n {
				v, _, delta := r.row(i)
				for k := splits[i]; k < splits[i+1]; k++ {
					values[k] = v
					v += delta
				}
			}
			return nil
		}), nil
	}
}

// rangeRows holds starts, limits and deltas; one that is a scalar serves all
// rows.
type rangeRows[T number] struct {
	n    int
	data [3][]T
	step [3]int
}

func newRows[T number](c *core.OpContext) (*rangeRows[T], error) {
	r := &rangeRows[T]{n: -1}
	for i, name := range []string{"starts", "limits", "deltas"} {
		t := c.Input(i)
		if t.Rank() > 1 {
			return nil, invalid("%s must be a scalar or vector", name)
		}
		r.data[i] = core.Data[T](t)
		if t.Rank() == 0 {
			continue
		}
		if r.n >= 0 && r.n != t.Len() {
			return nil, invalid("starts, limits, and deltas must have the same shape")
		}
		r.n, r.step[i] = t.Len(), 1
	}
	if r.n < 0 {
		r.n = 1
	}
	return r, nil
}

func (r *rangeRows[T]) row(i int) (start, limit, delta T) {
	return r.data[0][i*r.step[0]], r.data[1][i*r.step[1]], r.data[2][i*r.step[2]]
}

// splits returns where rows begin.
func (r *rangeRows[T]) splits(d tf.DType, length func(start, limit, delta T) (uint64, bool)) ([]int, error) {
	most := uint64(math.MaxInt64)
	if d == tf.Int32 {
		most = math.MaxInt32
	}
	out := make([]int, 1, r.n+1)
	for i := range r.n {
		start, limit, delta := r.row(i)
		if delta == 0 {
			return nil, invalid("Requires delta != 0")
		}
		if delta > 0 && limit < start || delta < 0 && limit > start {
			out = append(out, out[i])
			continue
		}
		n, ok := length(start, limit, delta)
		if !ok || n > most {
			return nil, invalid("Requires ((limit - start) / delta) <= %d", most)
		}
		if n > most-uint64(out[i]) {
			return nil, invalid("The total range size overflowed. Consider using int64 instead of int32 for row_splits_dtype.")
		}
		out = append(out, out[i]+int(n))
	}
	return out, nil
}
