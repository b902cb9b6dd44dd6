package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ConcatV2", In: "values: N * T; axis: Tidx", Out: "output: T", Attrs: "N: int >= 2; T: type; Tidx: {int32, int64} = int32",
		Shape: concatShape, Grad: tf.GradFunc(concatGrad),
		Kernels: byCell(concat[uint8], concat[uint16], concat[uint32], concat[uint64], concat[complex128],
			concat[string], concat[core.ResourceHandle], concat[core.VariantValue]).on("T", allQuantized, smallFloats),
	})
	core.Register(core.OpDef{
		Name: "Concat", In: "concat_dim: int32; values: N * T", Out: "output: T", Attrs: "N: int >= 2; T: type",
		Shape: concatShape, Grad: tf.GradFunc(concatGrad),
		Kernels: byCell(concat[uint8], concat[uint16], concat[uint32], concat[uint64], concat[complex128],
			concat[string], concat[core.ResourceHandle], concat[core.VariantValue]).on("T", allQuantized, smallFloats),
	})
	core.Register(core.OpDef{
		Name: "ConcatOffset", In: "concat_dim: int32; shape: N * shape_type", Out: "offset: N * shape_type",
		Attrs: "N: int >= 2; shape_type: {int32, int64} = int32",
		Shape: concatOffsetShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(concatOffset),
	})
}

// ConcatV2 joins values, two or more of equal shape but for one dimension,
// along that dimension, axis. values have one type of any kind, but are no
// 4-bit integers. axis is a scalar of int32 or int64 and counts from the end if
// it is negative. Scalars, different ranks or sizes, and an axis that is not
// there are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func ConcatV2(values []tf.Output, axis tf.Output, opts ...tf.Option) tf.Output {
	return apply("ConcatV2", opts, append(append([]tf.Output{}, values...), axis)...)
}

// Concat joins values, one or more of equal shape but for one dimension, along
// that dimension, axis, which counts from the end if it is negative. A single
// value is returned as it is. Types and errors are those of ConcatV2.
func Concat[A tf.Int](axis A, values []tf.Output, opts ...tf.Option) tf.Output {
	if len(values) == 1 {
		return apply("Identity", opts, values...)
	}
	return ConcatV2(values, author.AsInt(first(values), axis), opts...)
}

// first returns the first of values, the zero Output if there is none.
func first(values []tf.Output) tf.Output {
	if len(values) == 0 {
		return tf.Output{}
	}
	return values[0]
}

// A joinInputs says which inputs of a node are joined, and where it finds the axis.
type joinInputs struct {
	axis, first, count int
	axisName           string
}

// joinInputsOf tells the two forms of the op apart.
func joinInputsOf(op string, inputs int) joinInputs {
	if op == "Concat" {
		return joinInputs{axis: 0, first: 1, count: inputs - 1, axisName: "concat_dim"}
	}
	return joinInputs{axis: inputs - 1, count: inputs - 1, axisName: "axis"}
}

// ConcatOffset returns where each of the tensors whose shapes are given begins
// in what joining them along concatDim gives. concatDim is an int32 scalar; the
// shapes are vectors of one length and type, int32 or int64, and so are the
// results, zero but for that dimension. A dimension that is not there, and
// shapes that differ in another, fail the step with INVALID_ARGUMENT.
func ConcatOffset(concatDim tf.Output, shapes []tf.Output, opts ...tf.Option) []tf.Output {
	return outputs(len(shapes), "ConcatOffset", opts, append([]tf.Output{concatDim}, shapes...)...)
}

func concatShape(c *core.Infer) error {
	j := joinInputsOf(c.OpName(), c.NumIn())
	axis, ok := c.ConstInts(j.axis)
	if !ok || len(axis) != 1 {
		c.Set(0, sameRank(c, j))
		return nil
	}
	out := c.In(j.first)
	for i := 1; i < j.count; i++ {
		joined, err := joinedShape(out, c.In(j.first+i), axis[0])
		if err != nil {
			return err
		}
		out = joined
	}
	if out != nil {
		if _, ok := wrapAxis(axis[0], len(out)); !ok {
			return tf.Errorf(tf.InvalidArgument, "the axis must be one of the %d dimensions, got %d", len(out), axis[0])
		}
	}
	c.Set(0, out)
	return nil
}

// sameRank returns the shape of which nothing but the rank, that of one of the
// values, is known.
func sameRank(c *core.Infer, j joinInputs) tf.Shape {
	for i := range j.count {
		if s := c.In(j.first + i); s != nil {
			return unknownDims(len(s))
		}
	}
	return nil
}

// joinedShape returns the shape of tensors of shapes a and b joined.
func joinedShape(a, b tf.Shape, axis int) (tf.Shape, error) {
	if a == nil || b == nil {
		known := a
		if known == nil {
			known = b
		}
		at, ok := wrapAxis(axis, len(known))
		if known == nil || !ok {
			return nil, nil
		}
		out := known.Clone()
		out[at] = -1
		return out, nil
	}
	at, ok := wrapAxis(axis, len(a))
	if len(a) != len(b) || !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "tensors to be joined must have equal rank, and the axis must be a dimension: shapes %v and %v, axis %d", a, b, axis)
	}
	out := a.Clone()
	for i := range out {
		d, ok := mergedDim(a[i], b[i])
		switch {
		case i == at && (a[i] < 0 || b[i] < 0):
			d = -1
		case i == at:
			d = a[i] + b[i]
		case !ok:
			return nil, tf.Errorf(tf.InvalidArgument, "Dimension %d in both shapes must be equal: shapes %v and %v are joined along dimension %d", i, a, b, at)
		}
		out[i] = d
	}
	return out, nil
}

func concat[C cell](n *core.Node) (core.Kernel, error) {
	d, op := n.Type("T"), n.OpName()
	return core.Compute(func(c *core.OpContext) error {
		j := joinInputsOf(op, len(c.In))
		axis, s, err := concatPlan(c, j)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, d, s)
		if err != nil || out.Len() == 0 {
			return err
		}
		parts, widths := make([][]C, j.count), make([]int, j.count)
		for i := range parts {
			x := c.Input(j.first + i)
			parts[i], widths[i] = cells[C](x), product(x.Shape()[axis:])
		}
		joinParts(c, cells[C](out), parts, product(s[:axis]), widths)
		return nil
	}), nil
}

var errJoinScalars = tf.Errorf(tf.InvalidArgument, "ConcatOp : Can't concatenate scalars (use tf.stack instead)")

// concatPlan checks the inputs and returns along which dimension they are
// joined and the shape that results.
func concatPlan(c *core.OpContext, j joinInputs) (int, tf.Shape, error) {
	at := c.Input(j.axis)
	if at.Len() != 1 {
		return 0, nil, tf.Errorf(tf.InvalidArgument, "%s tensor should be a scalar integer, but got shape %s", j.axisName, at.Shape().String())
	}
	given, err := scalarInt(at, j.axisName)
	if err != nil {
		return 0, nil, err
	}
	first := c.Input(j.first).Shape()
	axis, ok := wrapAxis(given, len(first))
	if len(first) == 0 {
		return 0, nil, errJoinScalars
	}
	if !ok {
		return 0, nil, tf.Errorf(tf.InvalidArgument, "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %d", -len(first), len(first), given)
	}
	out := first.Clone()
	for i := 1; i < j.count; i++ {
		s := c.Input(j.first + i).Shape()
		if err := checkJoin(first, s, i, axis); err != nil {
			return 0, nil, err
		}
		out[axis] += s[axis]
	}
	return axis, out, nil
}

func checkJoin(first, s tf.Shape, i, axis int) error {
	if len(s) == 0 {
		return errJoinScalars
	}
	if len(s) != len(first) {
		return tf.Errorf(tf.InvalidArgument, "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] = %s", first.String(), i, s.String())
	}
	for k := range s {
		if k != axis && s[k] != first[k] {
			return tf.Errorf(tf.InvalidArgument, "ConcatOp : Dimension %d in both shapes must be equal: shape[0] = %s vs. shape[%d] = %s", k, first.String(), i, s.String())
		}
	}
	return nil
}

// fewRows are cut between threads wherever it suits.
const fewRows = 16

// joinParts is kernel.Concat on as many threads as are worth it.
func joinParts[C cell](c *core.OpContext, dst []C, parts [][]C, outer int, widths []int) {
	row := 0
	for _, w := range widths {
		row += w
	}
	if outer < fewRows {
		c.ParallelFor(outer*row, elementGrain, func(lo, hi int) { layout.ConcatPart(dst, parts, widths, lo, hi) })
		return
	}
	c.ParallelFor(outer, max(1, elementGrain/max(1, row)), func(lo, hi int) {
		some := make([][]C, len(parts))
		for i, p := range parts {
			some[i] = p[lo*widths[i] : hi*widths[i]]
		}
		layout.Concat(dst[lo*row:hi*row], some, hi-lo, widths)
	})
}

// manyInputs is from how many inputs on the gradient of a concatenation is
// split in one operation.
const manyInputs = 16

// concatGrad cuts the gradient into the parts that were joined.
func concatGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	j := joinInputsOf(op.OpName(), len(op.Inputs()))
	values, axis := op.Inputs()[j.first:j.first+j.count], op.Input(j.axis)
	dxs := joinedParts(dy[0], values, axis)
	if j.axis == 0 {
		return tf.Grads(append([]tf.Output{{}}, dxs...)...)
	}
	return tf.Grads(append(dxs, tf.Output{})...)
}

// joinedParts cuts dy into parts of the shapes of values.
func joinedParts(dy tf.Output, values []tf.Output, axis tf.Output) (parts []tf.Output) {
	at := apply("FloorMod", nil, castTo(axis, tf.Int32), Rank(values[0]))
	shapes := inputShapes(values)
	if len(values) > manyInputs {
		column := Slice(Pack(shapes, AxisOpts{1}), Pack([]tf.Output{at, intScalar(at, tf.Int32, 0)}), intVec(at, tf.Int32, 1, -1))
		return SplitV(dy, Squeeze(column, nil), at, len(values))
	}
	for i, begin := range ConcatOffset(at, shapes) {
		parts = append(parts, Slice(dy, begin, shapes[i]))
	}
	return parts
}

// inputShapes returns the shapes of values: constants if all are known.
func inputShapes(values []tf.Output) []tf.Output {
	out := make([]tf.Output, len(values))
	for i, v := range values {
		if !v.Shape().Known() {
			return ShapeN(values)
		}
		out[i] = intVec(v, tf.Int32, v.Shape()...)
	}
	return out
}

func concatOffsetShape(c *core.Infer) error {
	for i := 1; i < c.NumIn(); i++ {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
		c.Set(i-1, c.In(i))
	}
	return nil
}

func concatOffset(n *core.Node) (core.Kernel, error) {
	d := n.Type("shape_type")
	return core.Compute(func(c *core.OpContext) error {
		if c.Input(0).Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Concat dim tensor should be a scalar integer, but got shape %s", c.Input(0).Shape().String())
		}
		given, err := scalarInt(c.Input(0), "concat_dim")
		if err != nil {
			return err
		}
		shapes, axis, err := offsetInputs(c, given)
		if err != nil {
			return err
		}
		at := 0
		for i, s := range shapes {
			begin := make([]int, len(s))
			begin[axis] = at
			at += s[axis]
			if err := allocInts(c, i, d, begin); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// offsetInputs reads and checks the shapes that ConcatOffset gets.
func offsetInputs(c *core.OpContext, given int) (shapes [][]int, axis int, err error) {
	for i := range len(c.In) - 1 {
		t := c.Input(i + 1)
		if t.Rank() != 1 {
			return nil, 0, tf.Errorf(tf.InvalidArgument, "input %d should be a vector, but got shape %s", i+1, t.Shape().String())
		}
		s, err := t.Ints()
		if err != nil {
			return nil, 0, err
		}
		shapes = append(shapes, s)
	}
	axis, ok := wrapAxis(given, len(shapes[0]))
	if !ok {
		return nil, 0, tf.Errorf(tf.InvalidArgument, "Concat dim is out of range: %d vs. %d", given, len(shapes[0]))
	}
	for i, s := range shapes {
		if len(s) != len(shapes[0]) {
			return nil, 0, tf.Errorf(tf.InvalidArgument, "input %d should contain %d elements, but got %d", i, len(shapes[0]), len(s))
		}
		for k := range s {
			if k != axis && s[k] != shapes[0][k] {
				return nil, 0, tf.Errorf(tf.InvalidArgument, "All dimensions except %d must match. Input %d has shape [%s] and doesn't match input 0 with shape [%s].",
					axis, i, joinInts(s, " "), joinInts(shapes[0], " "))
			}
		}
	}
	return shapes, axis, nil
}
