package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const padAttrs = "T: type; Tpaddings: {int32, int64} = int32"
	core.Register(core.OpDef{
		Name: "Pad", In: "input: T; paddings: Tpaddings", Out: "output: T", Attrs: padAttrs,
		Shape: padShape, Grad: tf.GradFunc(padGrad), Kernels: padKernels(),
	})
	core.Register(core.OpDef{
		Name: "PadV2", In: "input: T; paddings: Tpaddings; constant_values: T", Out: "output: T", Attrs: padAttrs,
		Shape: padShape, Grad: tf.GradFunc(padGrad), Kernels: padKernels(),
	})
}

func padKernels() core.KernelSet {
	return byCell(pad[uint8], pad[uint16], pad[uint32], pad[uint64], pad[complex128],
		pad[string], pad[core.ResourceHandle], pad[core.VariantValue]).dataOn("T", wideQuantized)
}

// Pad returns x with zeros around it: paddings[i] tells how many before and
// after dimension i. x holds numbers, bools or strings, for which false and
// the empty string are the zeros; the result has its type and rank. Paddings
// of another shape than [rank, 2] are refused with INVALID_ARGUMENT, when the
// graph is built if shapes are known, else in the step; negative ones, and
// sizes that overflow, are refused in the step.
func Pad[P Paddings](x tf.Output, paddings P, opts ...tf.Option) tf.Output {
	return apply("Pad", opts, x, paddingsOf(x, paddings))
}

// PadV2 is Pad with a value other than zero. value is a scalar of the type of
// x; another shape is refused in the step with INVALID_ARGUMENT.
func PadV2[P Paddings](x tf.Output, paddings P, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("PadV2", opts, x, paddingsOf(x, paddings), value)
}

// Paddings are, for each dimension, how many elements come before and after it:
// pairs of integers, or a tensor of int32 or int64 with shape [rank, 2].
type Paddings interface{ [][2]int | tf.Output }

func paddingsOf[P Paddings](x tf.Output, p P) tf.Output {
	switch p := any(p).(type) {
	case tf.Output:
		return p
	case [][2]int:
		return pairs(x, p)
	}
	return tf.Output{}
}

// pairs adds a constant matrix of two columns to the graph of x.
func pairs(x tf.Output, p [][2]int) tf.Output {
	if x.Err() != nil {
		return x
	}
	t := core.NewTensor(tf.Int64, tf.Shape{len(p), 2})
	all := core.Data[int64](t)
	for i := range p {
		all[2*i], all[2*i+1] = int64(p[i][0]), int64(p[i][1])
	}
	return ConstValue(x.Graph(), t)
}

func padShape(c *core.Infer) error {
	ps, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	if ps[1] >= 0 && ps[1] != 2 {
		return tf.Errorf(tf.InvalidArgument, "paddings must be a matrix with 2 columns: got shape %v", ps)
	}
	s := c.In(0)
	if s == nil && ps[0] >= 0 {
		s = unknownDims(ps[0])
	}
	if s == nil {
		return nil
	}
	if ps[0] >= 0 && ps[0] != len(s) {
		return tf.Errorf(tf.InvalidArgument, "paddings must have a row for each dimension: input %v, paddings of shape %v", s, ps)
	}
	v, ok := c.ConstInts(1)
	out := unknownDims(len(s))
	for i, d := range s {
		if ok && len(v) == 2*len(s) && d >= 0 {
			out[i] = max(d+v[2*i]+v[2*i+1], -1)
		}
	}
	c.Set(0, out)
	return nil
}

// paddings reads how much goes before and after each dimension of x.
func paddings(x, t *core.Tensor) (before, after []int, out tf.Shape, err error) {
	s := x.Shape()
	if t.Rank() != 2 || t.Dim(1) != 2 {
		return nil, nil, nil, tf.Errorf(tf.InvalidArgument, "paddings must be a matrix with 2 columns: %s", t.Shape().String())
	}
	if t.Dim(0) != len(s) {
		return nil, nil, nil, tf.Errorf(tf.InvalidArgument, "The first dimension of paddings must be the rank of inputs%s %s", t.Shape().String(), s.String())
	}
	v, err := t.Ints()
	if err != nil {
		return nil, nil, nil, err
	}
	before, after, out = make([]int, len(s)), make([]int, len(s)), make(tf.Shape, len(s))
	for i, n := range s {
		before[i], after[i] = v[2*i], v[2*i+1]
		out[i] = before[i] + n + after[i]
		if before[i] < 0 || after[i] < 0 {
			return nil, nil, nil, tf.Errorf(tf.InvalidArgument, "Paddings must be non-negative: %d %d", before[i], after[i])
		}
		if out[i] < before[i] || out[i] < after[i] {
			return nil, nil, nil, tf.Errorf(tf.InvalidArgument, "Encountered overflow when padding dimension %d of %s by %d and %d", i, s.String(), before[i], after[i])
		}
	}
	return before, after, out, nil
}

func pad[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		before, after, s, err := paddings(x, c.Input(1))
		if err != nil {
			return err
		}
		var value C
		if len(c.In) > 2 {
			v := c.Input(2)
			if v.Rank() != 0 {
				return tf.Errorf(tf.InvalidArgument, "constant_values must be a scalar. Found: %s", v.Shape().String())
			}
			value = cells[C](v)[0]
		}
		out, err := c.Alloc(0, d, s)
		if err != nil || out.Len() == 0 {
			return err
		}
		layout.Pad(c.ParallelFor, cells[C](out), cells[C](x), x.Shape(), before, after, value)
		return nil
	}), nil
}

// padGrad cuts the block of x out of the gradient.
func padGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, p := op.Input(0), op.Input(1)
	d := op.Type("Tpaddings")
	first := Slice(p, intVec(x, d, 0, 0), castTo(Pack([]tf.Output{Rank(x), intScalar(x, tf.Int32, 1)}), d))
	dxs := make([]tf.Gradient, len(op.Inputs()))
	dxs[0] = tf.Dense(Slice(dy[0], Reshape(first, intVec(x, tf.Int32, -1)), shapeValue(x, d)))
	return dxs
}
