package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const mirrorAttrs = "T: type; Tpaddings: {int32, int64} = int32; mode: {'REFLECT', 'SYMMETRIC'}"
	core.Register(core.OpDef{
		Name: "MirrorPad", In: "input: T; paddings: Tpaddings", Out: "output: T", Attrs: mirrorAttrs,
		Shape: padShape, Grad: tf.GradFunc(mirrorPadGrad), Kernels: core.ByType("T", sameFor(mirrorPad, slices.Concat(dataTypes, wideQuantized)...)),
	})
	core.Register(core.OpDef{
		Name: "MirrorPadGrad", In: "input: T; paddings: Tpaddings", Out: "output: T", Attrs: mirrorAttrs,
		Shape: unpadShape, Grad: tf.GradFunc(mirrorPadGradGrad), Kernels: core.ByType("T", sameFor(mirrorUnpad, numberTypes...)),
	})
}

// The modes of MirrorPad.
const (
	Reflect   = "REFLECT"   // the edge is the mirror: c b | a b c | b a
	Symmetric = "SYMMETRIC" // the mirror is outside of the edge: b a | a b c | c b
)

// MirrorPad returns x with its mirror image around it: paddings[i] tells how
// many elements before and after dimension i. mode is Reflect or Symmetric. x
// has five dimensions at most and holds numbers, bools or strings; paddings
// is a tensor [rank, 2] of int32 or int64. More dimensions are refused in the
// step with UNIMPLEMENTED. Paddings of another shape are refused with
// INVALID_ARGUMENT, when the graph is built if shapes are known, else in the
// step; so are, in the step, negative ones and those that are greater than
// the dimension, or equal to it with Reflect.
func MirrorPad(x, paddings tf.Output, mode string, opts ...tf.Option) tf.Output {
	return apply("MirrorPad", tf.Join(opts, tf.Attr("mode", mode)), x, paddings)
}

// MirrorPadGrad returns dy without its paddings, the elements of which are
// added to those that they are the image of. dy has five dimensions at most
// and holds numbers; paddings and mode are those of MirrorPad. More
// dimensions are refused in the step with UNIMPLEMENTED. Paddings of another
// shape, negative ones and those that are greater than the dimension that
// they leave, or equal to it with Reflect, are refused in the step with
// INVALID_ARGUMENT; paddings that leave a negative size are so when the graph
// is built if they are known.
func MirrorPadGrad(dy, paddings tf.Output, mode string, opts ...tf.Option) tf.Output {
	return apply("MirrorPadGrad", tf.Join(opts, tf.Attr("mode", mode)), dy, paddings)
}

func unpadShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	v, ok := c.ConstInts(1)
	out := unknownDims(len(s))
	for i, d := range s {
		if !ok || len(v) != 2*len(s) || d < 0 {
			continue
		}
		if out[i] = d - v[2*i] - v[2*i+1]; out[i] < 0 {
			return tf.Errorf(tf.InvalidArgument, "paddings must not take more than there is: input %v, dimension %d loses %d and %d", s, i, v[2*i], v[2*i+1])
		}
	}
	c.Set(0, out)
	return nil
}

// A mirror is a padding by mirror images: for each dimension where the
// elements of the padded tensor come from.
type mirror struct {
	sizes  tf.Shape // without padding
	before []int
	from   [][]int // by dimension of the padded tensor, times the step of that dimension
}

// mirrorArgs reads paddings for a tensor of the given rank.
func mirrorArgs(x, t *core.Tensor) (before, after []int, err error) {
	s := x.Shape()
	const most = 5 // dimensions that TensorFlow's kernel is made for
	switch {
	case len(s) > most:
		return nil, nil, tf.Errorf(tf.Unimplemented, "inputs rank not in [0,%d]: %d", most, len(s))
	case t.Rank() != 2 || t.Dim(1) != 2:
		return nil, nil, tf.Errorf(tf.InvalidArgument, "paddings must be a matrix with 2 columns: %s", t.Shape().String())
	case t.Dim(0) != len(s):
		return nil, nil, tf.Errorf(tf.InvalidArgument, "The first dimension of paddings must be the rank of inputs%s, %s", t.Shape().String(), s.String())
	}
	v, err := t.Ints()
	for i := range s {
		if v != nil && (v[2*i] < 0 || v[2*i+1] < 0) {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "paddings must be non-negative: %d %d", v[2*i], v[2*i+1])
		}
		if v != nil {
			before, after = append(before, v[2*i]), append(after, v[2*i+1])
		}
	}
	return before, after, err
}

// newMirror returns how a tensor of the given sizes is padded. offset is 1 if
// the edge is the mirror.
func newMirror(sizes tf.Shape, before, after []int, offset int) *mirror {
	m := &mirror{sizes: sizes, before: before, from: make([][]int, len(sizes))}
	steps := layout.Strides(sizes)
	for i, n := range sizes {
		for k := -before[i]; k < n+after[i]; k++ {
			at := k
			if k < 0 {
				at = offset - 1 - k
			} else if k >= n {
				at = 2*n - 1 - offset - k
			}
			m.from[i] = append(m.from[i], at*steps[i])
		}
	}
	return m
}

// shape returns the sizes with padding.
func (m *mirror) shape() tf.Shape {
	s := make(tf.Shape, len(m.from))
	for i := range s {
		s[i] = len(m.from[i])
	}
	return s
}

// each calls f for runs of n elements: padded is where they lie in the padded
// tensor, plain in the other.
func (m *mirror) each(f func(padded, plain, n int)) {
	last := len(m.from) - 1
	if last < 0 {
		f(0, 0, 1)
		return
	}
	outer, index := m.shape()[:last], make([]int, last)
	row, inner := m.from[last], m.sizes[last]
	for p := range outer.NumElements() {
		base := 0
		for i, k := range index {
			base += m.from[i][k]
		}
		at, b := p*len(row), m.before[last]
		f(at+b, base, inner)
		for k, from := range row {
			if k < b || k >= b+inner {
				f(at+k, base+from, 1)
			}
		}
		advance(index, outer)
	}
}

// advance moves index on to the next position in a tensor of shape s.
func advance(index []int, s tf.Shape) {
	for i := len(s) - 1; i >= 0; i-- {
		if index[i]++; index[i] < s[i] {
			return
		}
		index[i] = 0
	}
}

func mirrorOffset(n *core.Node) int { return b2i(n.Str("mode") == Reflect) }

func mirrorPad(n *core.Node) (core.Kernel, error) {
	d, offset := n.Type("T"), mirrorOffset(n)
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		before, after, err := mirrorArgs(x, c.Input(1))
		if err != nil {
			return err
		}
		for i, n := range x.Shape() {
			if before[i] > n-offset || after[i] > n-offset {
				return badMirror(offset, "dimension size", before[i], after[i], n)
			}
		}
		m := newMirror(x.Shape(), before, after, offset)
		out, err := c.Alloc(0, d, m.shape())
		if err != nil || out.Len() == 0 {
			return err
		}
		take := move(out, x)
		m.each(func(padded, plain, n int) { take(padded, plain, n) })
		return nil
	}), nil
}

// badMirror says that there is not enough to be mirrored.
func badMirror(offset int, what string, before, after, n int) error {
	if offset == 0 {
		return tf.Errorf(tf.InvalidArgument, "paddings must be no greater than the %s: %d, %d greater than %d", what, before, after, n)
	}
	return tf.Errorf(tf.InvalidArgument, "paddings must be less than the %s: %d, %d not less than %d", what, before, after, n)
}

func mirrorUnpad(n *core.Node) (core.Kernel, error) {
	d, offset := n.Type("T"), mirrorOffset(n)
	return core.Compute(func(c *core.OpContext) error {
		dy := c.Input(0)
		before, after, err := mirrorArgs(dy, c.Input(1))
		if err != nil {
			return err
		}
		sizes := make(tf.Shape, dy.Rank())
		for i, n := range dy.Shape() {
			total := before[i] + after[i]
			if total >= n || total < 0 {
				return tf.Errorf(tf.InvalidArgument, "Total paddings must be less than the input dimension size: %d was not less than %d", total, n)
			}
			sizes[i] = n - total
			if before[i] > sizes[i]-offset || after[i] > sizes[i]-offset {
				return badMirror(offset, "output dimension size", before[i], after[i], sizes[i])
			}
		}
		out, err := c.Alloc(0, d, sizes)
		if err != nil {
			return err
		}
		clearCells(out)
		if out.Len() > 0 {
			join := addRows[d](out, dy)
			newMirror(sizes, before, after, offset).each(func(padded, plain, n int) { join(plain, padded, n) })
		}
		return nil
	}), nil
}

func mirrorPadGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(MirrorPadGrad(dy[0], op.Input(1), op.Str("mode")), tf.Output{})
}

func mirrorPadGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(MirrorPad(dy[0], op.Input(1), op.Str("mode")), tf.Output{})
}
