package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
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
			tf.Float32: segmentSum(layout.ScatterAdd[float32, int64], sumInPlace), tf.Float64: segmentSum(layout.ScatterAdd[float64, int64], sumInPlace),
			tf.Float16: segmentSum(addHalfRows[tf.Half], nil), tf.BFloat16: segmentSum(addHalfRows[tf.BF16], nil),
			tf.Int8: segmentSum(layout.ScatterAdd[int8, int64], nil), tf.Int16: segmentSum(layout.ScatterAdd[int16, int64], nil), tf.Int32: segmentSum(layout.ScatterAdd[int32, int64], nil), tf.Int64: segmentSum(layout.ScatterAdd[int64, int64], nil),
			tf.Uint8: segmentSum(layout.ScatterAdd[uint8, int64], nil), tf.Uint16: segmentSum(layout.ScatterAdd[uint16, int64], nil), tf.Uint32: segmentSum(layout.ScatterAdd[uint32, int64], nil), tf.Uint64: segmentSum(layout.ScatterAdd[uint64, int64], nil),
			tf.Complex64: segmentSum(layout.ScatterAdd[complex64, int64], nil), tf.Complex128: segmentSum(layout.ScatterAdd[complex128, int64], nil),
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

// adding adds rows of src, of inner elements, to those of dst that idx names.
type adding[T any] = func(dst, src []T, idx []int64, inner int)

// segmentSum makes the kernel of an add that adds rows of src to those of dst that idx
// names, in order, and leaves out those of a negative one. inPlace, if there, does so in the
// memory of src.
func segmentSum[T tf.Elem](add adding[T], inPlace func(add adding[T], x []T, idx []int64, n, inner int)) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		x, ids := c.Input(0), c.Input(1)
		n, err := segmentCount(c)
		if err != nil {
			return err
		}
		idx, temp, err := rows.IndicesIn(c, ids)
		if err != nil {
			return err
		}
		if temp != nil {
			defer temp.Release()
		}
		if x.Len() == 0 {
			idx = nil // of nothing: TensorFlow does not look at them
		}
		if err := checkSegmentsBelow(n, idx, ids.Shape()); err != nil {
			return err
		}
		shape, inner := append(tf.Shape{n}, x.Shape()[ids.Rank():]...), product(x.Shape()[ids.Rank():])
		if inPlace != nil && inner > 1 && inOrderOfFirst(idx) && c.AllocWithin(0, 0, x.DType(), shape) {
			inPlace(add, core.Data[T](x), idx, n, inner)
			return nil
		}
		out, err := c.Alloc(0, x.DType(), shape)
		if err != nil {
			return err
		}
		clearCells(out)
		add(core.Data[T](out), core.Data[T](x), idx, inner)
		return nil
	})
}

// inOrderOfFirst reports whether segments are numbered in the order in which they come first,
// as Unique does: then each row lies at or behind the place of its sum.
func inOrderOfFirst(idx []int64) bool {
	next := int64(0)
	for _, k := range idx {
		switch {
		case k < 0 || k > next:
			return false
		case k == next:
			next++
		}
	}
	return true
}

// sumInPlace sums rows of x at the places of the first n of them, for segments in order of
// first. Each sum begins with 0, as where it has memory of its own: 0 and -0 are 0.
func sumInPlace[T float32 | float64](add adding[T], x []T, idx []int64, n, inner int) {
	first, sum, next := []int64{0}, make([]T, inner), 0
	for i, k := range idx {
		row, to := x[i*inner:(i+1)*inner], x[int(k)*inner:(int(k)+1)*inner]
		if int(k) < next {
			add(to, row, first, inner)
			continue
		}
		next++
		clear(sum)
		add(sum, row, first, inner)
		copy(to, sum)
	}
	clear(x[next*inner : n*inner])
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

// checkSegmentsBelow checks that all ids are below n.
func checkSegmentsBelow(n int, ids []int64, shape tf.Shape) error {
	for i, id := range ids {
		if id >= int64(n) {
			return tf.Errorf(tf.InvalidArgument, "segment_ids%s = %d is out of range [0, %d)", position(shape, i), id, n)
		}
	}
	return nil
}

// addHalfRows is layout.ScatterAdd for 16-bit floats: each sum is rounded.
func addHalfRows[H numeric.HalfFloat](dst, src []H, idx []int64, inner int) {
	add := widened2[H](elementwise.Add[float32])
	for i, k := range idx {
		if k >= 0 {
			row := dst[int(k)*inner : (int(k)+1)*inner]
			add(row, row, src[i*inner:(i+1)*inner])
		}
	}
}
