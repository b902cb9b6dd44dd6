package sparse

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseTensorDenseAdd", In: "a_indices: Tindices; a_values: T; a_shape: Tindices; b: T", Out: "output: T", Attrs: "T: numbertype; Tindices: {int32, int64}",
		Shape: func(c *core.Infer) error { c.Set(0, c.In(3)); return nil }, Grad: tf.GradFunc(denseAddGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: computed(denseAdd[float32]), tf.Float64: computed(denseAdd[float64]), tf.Float16: computed(denseAdd[float32]), tf.BFloat16: computed(denseAdd[float32]),
			tf.Int8: computed(denseAdd[int8]), tf.Int16: computed(denseAdd[int16]), tf.Int32: computed(denseAdd[int32]), tf.Int64: computed(denseAdd[int64]),
			tf.Uint8: computed(denseAdd[uint8]), tf.Uint16: computed(denseAdd[uint16]), tf.Uint32: computed(denseAdd[uint32]), tf.Uint64: computed(denseAdd[uint64]),
			tf.Complex64: computed(denseAdd[complex64]), tf.Complex128: computed(denseAdd[complex128]),
		}),
	})
	cwise("SparseDenseCwiseAdd", nil, realLoops(
		elementwise.Add[float32], elementwise.Add[float64], elementwise.Add[int8], elementwise.Add[int16], elementwise.Add[int32], elementwise.Add[int64],
		elementwise.Add[uint8], elementwise.Add[uint16], elementwise.Add[uint32], elementwise.Add[uint64]))
	cwise("SparseDenseCwiseMul", cwiseGrad, realLoops(
		elementwise.Mul[float32], elementwise.Mul[float64], elementwise.Mul[int8], elementwise.Mul[int16], elementwise.Mul[int32], elementwise.Mul[int64],
		elementwise.Mul[uint8], elementwise.Mul[uint16], elementwise.Mul[uint32], elementwise.Mul[uint64]))
	cwise("SparseDenseCwiseDiv", cwiseGrad, realLoops(
		elementwise.Div[float32], elementwise.Div[float64], quotients[int8], quotients[int16], quotients[int32], quotients[int64],
		quotients[uint8], quotients[uint16], quotients[uint32], quotients[uint64]))
}

// cwise registers an op on a sparse tensor's values and what a dense one has at
// their indices.
func cwise(name string, grad tf.GradFunc, kernels byType) {
	d := core.OpDef{
		Name: name, In: "sp_indices: int64; sp_values: T; sp_shape: int64; dense: T", Out: "output: T", Attrs: "T: numbertype",
		Shape: cwiseShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels),
	}
	if grad == nil {
		d.NoGrad = core.NoGradientDefined
	}
	core.Register(d)
}

// realLoops lists the kernels of an elementwise op; small floats are computed
// in float32.
func realLoops(f32 func(z, x, y []float32), f64 func(z, x, y []float64),
	i8 func(z, x, y []int8), i16 func(z, x, y []int16), i32 func(z, x, y []int32), i64 func(z, x, y []int64),
	u8 func(z, x, y []uint8), u16 func(z, x, y []uint16), u32 func(z, x, y []uint32), u64 func(z, x, y []uint64),
) byType {
	return byType{
		tf.Float32: cwiseKernel(f32), tf.Float64: cwiseKernel(f64), tf.Float16: cwiseKernel(f32), tf.BFloat16: cwiseKernel(f32),
		tf.Int8: cwiseKernel(i8), tf.Int16: cwiseKernel(i16), tf.Int32: cwiseKernel(i32), tf.Int64: cwiseKernel(i64),
		tf.Uint8: cwiseKernel(u8), tf.Uint16: cwiseKernel(u16), tf.Uint32: cwiseKernel(u32), tf.Uint64: cwiseKernel(u64),
	}
}

// SparseTensorDenseAdd returns the sum of a sparse tensor, whose indices and
// shape are int32 or int64 and may repeat, and a dense one of equal shape.
// Both have one integer, floating-point or complex type; the result has the
// type and the shape of b. Parts that do not fit together, another shape than
// that of b, and indices out of bounds fail with INVALID_ARGUMENT in the
// step.
func SparseTensorDenseAdd(a Tensor, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseTensorDenseAdd", opts, append(flat(a), b)...)
}

// SparseDenseCwiseAdd returns the values of t plus the elements of y at their
// indices. Y, of rank 5 or less, is repeated to the shape of t. t has rank 1
// to 5, and both have one integer or floating-point type; the result is a
// vector of that type with an element for each one of t. Parts that do not
// fit together, indices out of bounds, and a y that cannot be repeated to the
// shape of t fail with INVALID_ARGUMENT in the step.
func SparseDenseCwiseAdd(t Tensor, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseDenseCwiseAdd", opts, append(flat(t), y)...)
}

// SparseDenseCwiseMul is SparseDenseCwiseAdd for products. Types, shapes and
// errors are those of SparseDenseCwiseAdd.
func SparseDenseCwiseMul(t Tensor, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseDenseCwiseMul", opts, append(flat(t), y)...)
}

// SparseDenseCwiseDiv is SparseDenseCwiseAdd for quotients. Integers are
// rounded towards zero. A 0 or -0 of y at an index of t, of any type, fails
// with INVALID_ARGUMENT in the step. Types, shapes and other errors are those
// of SparseDenseCwiseAdd.
func SparseDenseCwiseDiv(t Tensor, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseDenseCwiseDiv", opts, append(flat(t), y)...)
}

func cwiseShape(c *core.Infer) error {
	at, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	c.Set(0, at[:1])
	return nil
}

func denseAddGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, ops.GatherNd(dy[0], op.Input(0)), tf.Output{}, dy[0])
}

// cwiseGrad computes the gradient of a product or quotient; that for the dense
// operand is summed up over the indices that one of its elements was used for.
func cwiseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	at, x, y := op.Input(0), op.Input(1), op.Input(3)
	shape := ops.Cast(ops.Shape(y), tf.Int64)
	at = denseIndices(at, op.Input(2), shape)
	z := ops.GatherNd(y, at)
	dx, dz := ops.Mul(dy[0], z), ops.Mul(dy[0], x)
	if op.OpName() == "SparseDenseCwiseDiv" {
		dx, dz = ops.RealDiv(dy[0], z), ops.Mul(dy[0], ops.RealDiv(ops.Neg(x), ops.Square(z)))
	}
	return tf.Grads(tf.Output{}, dx, tf.Output{}, SparseTensorDenseAdd(Tensor{at, dz, shape}, ops.ZerosLike(y)))
}

// denseIndices returns where the elements at indices of a tensor come from in
// one of the given shape that is repeated to the tensor's.
func denseIndices(at, wide, shape tf.Output) tf.Output {
	g := at.Graph()
	more := ops.ExpandDims(ops.Sub(ops.Size(wide), ops.Size(shape)), ops.Scalar(g, int32(0)))
	ones := ops.Fill(more, ops.Scalar(g, int64(1)))
	repeats := ops.FloorDiv(wide, ops.ConcatV2([]tf.Output{ones, shape}, ops.Scalar(g, int32(0))))
	begin := ops.ConcatV2([]tf.Output{ops.Const(g, []int32{0}), more}, ops.Scalar(g, int32(0)))
	return ops.Slice(ops.FloorDiv(at, repeats), begin, ops.Const(g, []int32{-1, -1}))
}

func denseAdd[T number](c *core.OpContext) error {
	at, vals, shape, b := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	if err := checkDenseAdd(at, vals, shape, b); err != nil {
		return err
	}
	where, err := at.Ints()
	if err != nil {
		return err
	}
	out, store, err := result[T](c, 0, b.DType(), b.Shape())
	if err != nil {
		return err
	}
	copy(out, values[T](b))
	s := b.Shape()
	for i, v := range values[T](vals) {
		place := 0
		for k, x := range where[i*len(s) : (i+1)*len(s)] {
			if x < 0 || x >= s[k] {
				return invalid("Sparse tensor has an invalid index on dimension %d: a_indices(%d,%d) = %d, dense tensor shape: %s", k, i, k, x, strings.Trim(fmt.Sprint([]int(s)), "[]"))
			}
			place = place*s[k] + x
		}
		out[place] += v
	}
	store()
	return nil
}

func checkDenseAdd(at, vals, shape, b *core.Tensor) error {
	switch {
	case at.Rank() != 2:
		return invalid("Input a_indices should be a matrix but received shape: %s", at.Shape().String())
	case vals.Rank() != 1 || shape.Rank() != 1:
		return invalid("Inputs a_values and a_shape should be vectors but received shapes: %s and %s", vals.Shape().String(), shape.Shape().String())
	case shape.Len() != b.Rank():
		return invalid("Two operands have different ranks; received: %d and %d", shape.Len(), b.Rank())
	case at.Dim(0) != vals.Len():
		return invalid("Dimensions %d and %d are not compatible", at.Dim(0), vals.Len())
	case at.Dim(1) != shape.Len():
		return invalid("Dimensions %d and %d are not compatible", at.Dim(1), shape.Len())
	}
	v, err := shape.Ints()
	if err != nil {
		return err
	}
	for k, d := range v {
		if d != b.Dim(k) {
			return invalid("Dimension %d does not equal (no broadcasting is supported): sparse side %d vs dense side %d", k, d, b.Dim(k))
		}
	}
	return nil
}

// quotients sets z = x / y for integers, none of y zero.
func quotients[T numeric.Integer](z, x, y []T) {
	for i := range z {
		z[i] = x[i] / y[i]
	}
}

// cwiseKernel makes the kernel of an elementwise op.
func cwiseKernel[T realNumber](f func(z, x, y []T)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		divides := n.OpName() == "SparseDenseCwiseDiv"
		return core.Compute(func(c *core.OpContext) error {
			y, err := gatherDense(c)
			if err != nil {
				return err
			}
			z, store, err := result[T](c, 0, y.DType(), y.Shape())
			if err != nil {
				return err
			}
			other := values[T](y)
			for _, v := range other {
				if divides && v == 0 {
					return invalid("SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero ")
				}
			}
			f(z, values[T](c.Input(1)), other)
			store()
			return nil
		}), nil
	}
}

// gatherDense returns the elements of the dense operand at the indices of the
// sparse one.
func gatherDense(c *core.OpContext) (*core.Tensor, error) {
	at, vals, shape, y := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	if err := checkCwise(at, vals, shape); err != nil {
		return nil, err
	}
	s, err := sizes(shape)
	if err != nil {
		return nil, err
	}
	steps, err := repeatedSteps(s, y.Shape())
	if err != nil {
		return nil, err
	}
	t := &coo{at: core.Data[int64](at), rank: len(s), n: vals.Len(), shape: s}
	out := core.NewTensor(y.DType(), tf.Shape{t.n})
	move := rows.Mover(out, y)
	for i := range t.n {
		row := t.index(i)
		if !within(row, s) {
			return nil, invalid("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape")
		}
		from := 0
		for k, v := range row {
			from += int(v) * steps[k]
		}
		move(i, from, 1)
	}
	return out, nil
}

func checkCwise(at, vals, shape *core.Tensor) error {
	switch {
	case at.Rank() != 2:
		return invalid("Input sp_indices should be a matrix but received shape: %s", at.Shape().String())
	case vals.Rank() != 1 || shape.Rank() != 1:
		return invalid("Inputs sp_values and sp_shape should be vectors but received shapes: %s and %s", vals.Shape().String(), shape.Shape().String())
	case shape.Len() == 0:
		return invalid("The shape argument requires at least one element.")
	case at.Dim(1) != shape.Len():
		return invalid("Number of dimensions must match second dimension of indices. Got %d dimensions, indices shape: %s", shape.Len(), at.Shape().String())
	case at.Dim(0) != vals.Len():
		return invalid("The first dimension of values and indices should match. (%d vs. %d)", vals.Len(), at.Dim(0))
	}
	return nil
}

// repeatedSteps returns by how many elements neighbours in a tensor of shape d,
// which is repeated to shape s, are apart.
func repeatedSteps(s, d tf.Shape) ([]int, error) {
	fits := len(d) <= len(s)
	steps, step := make([]int, len(s)), 1
	for k := len(d) - 1; k >= 0 && fits; k-- {
		wide := s[len(s)-len(d)+k]
		fits = d[k] == wide || d[k] == 1 && wide > 0
		if d[k] > 1 {
			steps[len(s)-len(d)+k] = step
		}
		step *= d[k]
	}
	if !fits {
		return nil, invalid("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: %s vs. %s", s.String(), d.String())
	}
	if len(s) > 5 {
		return nil, invalid("Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: %d", len(s))
	}
	return steps, nil
}
