package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UnsortedSegmentSum", In: "data: T; segment_ids: Tindices; num_segments: Tnumsegments", Out: "output: T",
		Attrs: "T: numbertype; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64} = int32",
		Shape: unsortedSegmentShape, Grad: tf.GradFunc(unsortedSegmentSumGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: segmentSum(elementwise.Add[float32]), tf.Float64: segmentSum(elementwise.Add[float64]),
			tf.Float16: segmentSum(widened2[tf.Half](elementwise.Add[float32])), tf.BFloat16: segmentSum(widened2[tf.BF16](elementwise.Add[float32])),
			tf.Int8: segmentSum(elementwise.Add[int8]), tf.Int16: segmentSum(elementwise.Add[int16]), tf.Int32: segmentSum(elementwise.Add[int32]), tf.Int64: segmentSum(elementwise.Add[int64]),
			tf.Uint8: segmentSum(elementwise.Add[uint8]), tf.Uint16: segmentSum(elementwise.Add[uint16]), tf.Uint32: segmentSum(elementwise.Add[uint32]), tf.Uint64: segmentSum(elementwise.Add[uint64]),
			tf.Complex64: segmentSum(elementwise.Add[complex64]), tf.Complex128: segmentSum(elementwise.Add[complex128]),
		}),
	})
}

// UnsortedSegmentSum returns n rows, row k of which is the sum of the slices
// of x that ids assigns to k. Negative ids are left out. ids is a tensor of
// int16, int32 or int64 whose shape is the beginning of that of x; a slice is
// what lies under one of its elements. x holds numbers, and a row without
// slices is 0. Another shape of ids, and an n that is negative or no scalar,
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. An id of n or more ends the step with
// INVALID_ARGUMENT.
func UnsortedSegmentSum(x, ids, n tf.Output, opts ...tf.Option) tf.Output {
	return apply("UnsortedSegmentSum", opts, x, ids, n)
}

func unsortedSegmentShape(c *core.Infer) error {
	x, ids := c.In(0), c.In(1)
	if x == nil || ids == nil {
		return nil
	}
	if len(ids) > len(x) || !x[:len(ids)].Compatible(ids) {
		return tf.Errorf(tf.InvalidArgument, "data must begin with the dimensions of segment_ids: data %v, segment_ids %v", x, ids)
	}
	n := -1
	if v, ok := c.ConstInts(2); ok && len(v) == 1 {
		if n = v[0]; n < 0 {
			return tf.Errorf(tf.InvalidArgument, "Input num_segments == %d must not be negative.", n)
		}
	}
	c.Set(0, append(tf.Shape{n}, x[len(ids):]...))
	return nil
}

// unsortedSegmentSumGrad gathers from the gradient, zeros for negative ids.
func unsortedSegmentSumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	ids := op.Input(1)
	rows := GatherV2(dy[0], apply("Maximum", nil, ids, ZerosLike(ids)), intScalar(ids, tf.Int32, 0))
	counted := apply("GreaterEqual", nil, ids, castTo(intScalar(ids, tf.Int32, 0), ids.DType()))
	shape := Shape(counted)
	missing := Reshape(Sub(Rank(rows), Rank(counted)), intVec(ids, tf.Int32, 1))
	form := ConcatV2([]tf.Output{shape, Fill(missing, intScalar(ids, tf.Int32, 1))}, intScalar(ids, tf.Int32, 0))
	mask := apply("LogicalAnd", nil, Reshape(counted, form), OnesLike(castTo(rows, tf.Bool)))
	return tf.Grads(apply("SelectV2", nil, mask, rows, ZerosLike(rows)), tf.Output{}, tf.Output{})
}

func segmentSum[T tf.Elem](add func(z, x, y []T)) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		x, ids := c.Input(0), c.Input(1)
		n, err := segmentCount(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), append(tf.Shape{n}, x.Shape()[ids.Rank():]...))
		if err != nil {
			return err
		}
		clearCells(out)
		return addSegments(core.Data[T](out), core.Data[T](x), ids, n, product(x.Shape()[ids.Rank():]), add)
	})
}

// segmentCount checks the inputs and returns the number of segments.
func segmentCount(c *core.OpContext) (int, error) {
	x, ids, t := c.Input(0).Shape(), c.Input(1).Shape(), c.Input(2)
	if t.Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "num_segments should be a scalar, not shape %s", t.Shape().String())
	}
	n, err := scalarInt(t, "num_segments")
	if err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Input num_segments == %d must not be negative.", n)
	}
	if len(ids) > len(x) || !x[:len(ids)].Equal(ids) {
		return 0, tf.Errorf(tf.InvalidArgument, "data.shape = %s does not start with segment_ids.shape = %s", x.String(), ids.String())
	}
	return n, checkProduct(append(tf.Shape{n}, x[len(ids):]...))
}

// addSegments adds each slice of src to the row of dst that its id names.
func addSegments[T tf.Elem](dst, src []T, ids *core.Tensor, n, inner int, add func(z, x, y []T)) error {
	for i, id := range rows.Indices(ids) {
		if id >= int64(n) {
			return tf.Errorf(tf.InvalidArgument, "segment_ids%s = %d is out of range [0, %d)", position(ids.Shape(), i), id, n)
		}
		if id >= 0 {
			row := dst[int(id)*inner : (int(id)+1)*inner]
			add(row, row, src[i*inner:(i+1)*inner])
		}
	}
	return nil
}
