package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
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
// elements of the padded tensor come from. Dimensions inside the last one with
// padding are no dimensions of their own: their elements are a unit.
type mirror struct {
	padded tf.Shape // with padding, all dimensions
	sizes  tf.Shape // without padding
	before []int
	from   [][]int // by dimension of the padded tensor, times the step of that dimension
	unit   int
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
	m := &mirror{padded: sizes.Clone(), unit: 1}
	for i := range sizes {
		m.padded[i] += before[i] + after[i]
	}
	last := len(sizes)
	for last > 0 && before[last-1] == 0 && after[last-1] == 0 {
		last--
		m.unit *= sizes[last]
	}
	m.sizes, m.before = sizes[:last], before
	if last == 0 { // a row of one unit
		m.sizes, m.before, after = tf.Shape{1}, []int{0}, []int{0}
	}
	steps := layout.Strides(m.sizes)
	for i, n := range m.sizes {
		from := core.Make[int](m.before[i] + n + after[i])
		for k := range from {
			at := k - m.before[i]
			if at < 0 {
				at = offset - 1 - at
			} else if at >= n {
				at = 2*n - 1 - offset - at
			}
			from[k] = at * steps[i] * m.unit
		}
		m.from = append(m.from, from)
	}
	return m
}

// shape returns the sizes with padding.
func (m *mirror) shape() tf.Shape { return m.padded }

// outer returns the dimensions of rows of the padded tensor.
func (m *mirror) outer() tf.Shape {
	s := make(tf.Shape, len(m.from)-1)
	for i := range s {
		s[i] = len(m.from[i])
	}
	return s
}

// A mirrorRow is a row of the padded tensor: where it begins, and of the plain one
// that it is an image of. One that is inside lies between paddings itself.
type mirrorRow struct {
	padded, plain int
	inside        bool
}

// rows calls f for rows [lo, hi) of the padded tensor.
func (m *mirror) rows(lo, hi int, f func(r mirrorRow)) {
	width := len(m.from[len(m.from)-1]) * m.unit
	eachLine(m.outer(), lo, hi, func(i int, at []int) {
		r := mirrorRow{i * width, 0, true}
		for k, p := range at {
			r.plain += m.from[k][p]
			p -= m.before[k]
			r.inside = r.inside && p >= 0 && p < m.sizes[k]
		}
		f(r)
	})
}

// middle returns what of a row is not in its own padding.
func (m *mirror) middle(r mirrorRow) (padded, plain, n int) {
	last := len(m.sizes) - 1
	return r.padded + m.before[last]*m.unit, r.plain, m.sizes[last] * m.unit
}

// mostTurned elements at most are turned round at a time: 16-bit floats are widened
// in blocks that are longer.
const mostTurned = 64

// edges calls f for the runs of n elements in a row's own padding. Where a unit is an
// element they are turned round.
func (m *mirror) edges(r mirrorRow, f func(padded, plain, n int)) {
	last := len(m.sizes) - 1
	row, b, size := m.from[last], m.before[last], m.sizes[last]
	for _, part := range [2][2]int{{0, b}, {b + size, len(row)}} {
		for k, n := part[0], 1; k < part[1]; k += n {
			at := k
			if m.unit == 1 {
				n = min(mostTurned, part[1]-k)
				at = k + n - 1
			}
			f(r.padded+k*m.unit, r.plain+row[at], n*m.unit)
		}
	}
}

// fill copies what the padded tensor has of the plain one by take, which sets runs of n
// elements.
func (m *mirror) fill(c *core.OpContext, take func(padded, plain, n int)) {
	width := len(m.from[len(m.from)-1]) * m.unit
	c.ParallelFor(m.outer().NumElements(), max(1, elementGrain/max(1, width)), func(lo, hi int) {
		m.rows(lo, hi, func(r mirrorRow) {
			take(m.middle(r))
			m.edges(r, func(padded, plain, n int) {
				if m.unit > 1 {
					take(padded, plain, n)
					return
				}
				for i := range n {
					take(padded+i, plain+n-1-i, 1)
				}
			})
		})
	})
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
		m.fill(c, move(out, x))
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
		if out.Len() > 0 {
			newMirror(sizes, before, after, offset).gather(c, out, dy)
		}
		return nil
	}), nil
}

// gather sets out to dy without its paddings, which are added to what they are the image of.
// Rows inside come first: each is one of out's.
func (m *mirror) gather(c *core.OpContext, out, dy *core.Tensor) {
	take, add, turned := move(out, dy), addRows[dy.DType()](out, dy), addTurnedRows[dy.DType()](out, dy)
	edges := func(r mirrorRow) {
		m.edges(r, func(padded, plain, n int) {
			if m.unit > 1 {
				add(plain, padded, n)
			} else {
				turned(plain, padded, n)
			}
		})
	}
	rows, width := m.outer().NumElements(), len(m.from[len(m.from)-1])*m.unit
	c.ParallelFor(rows, max(1, elementGrain/max(1, width)), func(lo, hi int) {
		m.rows(lo, hi, func(r mirrorRow) {
			if r.inside {
				padded, plain, n := m.middle(r)
				take(plain, padded, n)
				edges(r)
			}
		})
	})
	m.rows(0, rows, func(r mirrorRow) {
		if !r.inside {
			padded, plain, n := m.middle(r)
			add(plain, padded, n)
			edges(r)
		}
	})
}

// addTurned sets z to x and y turned round.
func addTurned[T numeric.Number](z, x, y []T) {
	for i, v := range y {
		k := len(y) - 1 - i
		z[k] = x[k] + v
	}
}

// addTurnedRows lists addTurned by type.
var addTurnedRows = realRows(addTurned[float32], addTurned[float64], addTurned[int8], addTurned[int16], addTurned[int32], addTurned[int64],
	addTurned[uint8], addTurned[uint16], addTurned[uint32], addTurned[uint64]).with(addTurned[complex64], addTurned[complex128])

func mirrorPadGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(MirrorPadGrad(dy[0], op.Input(1), op.Str("mode")), tf.Output{})
}

func mirrorPadGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(MirrorPad(dy[0], op.Input(1), op.Str("mode")), tf.Output{})
}
