package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "TopK", In: "input: T", Out: "values: T; indices: int32", Attrs: "k: int >= 0; sorted: bool = true; T: {" + poolableTypes + "}",
		Shape: topKShape, Grad: tf.GradFunc(topKGrad), Kernels: core.ByType("T", topKKernels()),
	})
	core.Register(core.OpDef{
		Name: "TopKV2", In: "input: T; k: Tk", Out: "values: T; indices: index_type",
		Attrs: "sorted: bool = true; T: {" + poolableTypes + "}; Tk: {int16, int32, int64} = DT_INT32; index_type: {int16, int32, int64} = DT_INT32",
		Shape: topKShape, Grad: tf.GradFunc(topKGrad), Kernels: core.ByType("T", topKKernels()),
	})
}

// TopKV2 returns the k greatest elements along the last dimension of x, in
// descending order, and their indices. x holds real numbers in one dimension
// or more, and k is a scalar of type int16, int32 or int64. Both results have
// the shape of x with k as the last size; equal elements come in the order of
// their indices, and where NaN goes is not defined. A scalar x, and a k
// greater than the last dimension, are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step, and a negative k in the
// step.
func TopKV2(x, k tf.Output, opts ...tf.Option) (values, indices tf.Output) {
	op := tf.Apply(nil, "TopKV2", []tf.Output{x, k}, opts...)
	return op.Output(0), op.Output(1)
}

// TopK returns the k greatest elements along the last dimension of x, in
// descending order, and their int32 indices. k is a Go integer or a scalar
// Output. Types, shapes and what is refused are as for TopKV2.
func TopK[K tf.Int](x tf.Output, k K, opts ...tf.Option) (values, indices tf.Output) {
	return TopKV2(x, author.AsInt(x, k), opts...)
}

func topKShape(c *core.Infer) error {
	k := c.Int("k")
	if c.NumIn() == 2 {
		k = -1
		if v, ok := c.ConstInts(1); ok && len(v) == 1 {
			if k = v[0]; k < 0 {
				return tf.Errorf(tf.InvalidArgument, "Need k >= 0, got %d", k)
			}
		}
	}
	s := c.In(0).Clone()
	if s == nil {
		return nil
	}
	if len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0: input is a scalar")
	}
	if n := s[len(s)-1]; n >= 0 && n < k {
		return tf.Errorf(tf.InvalidArgument, "input must have last dimension >= k = %d but is %d", k, n)
	}
	s[len(s)-1] = k
	c.Set(0, s)
	c.Set(1, s)
	return nil
}

func topKKernels() byType {
	return realPools(realPool{
		f32: topK[float32], f64: topK[float64], i8: topK[int8], i16: topK[int16], i32: topK[int32], i64: topK[int64],
		u8: topK[uint8], u16: topK[uint16], u32: topK[uint32], u64: topK[uint64],
	})
}

// topKSize returns k.
func topKSize(c *core.OpContext) (int, error) {
	if c.Inputs() == 1 {
		return c.Node.Int("k"), nil
	}
	t := c.Input(1)
	if t.Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "k must be scalar, got shape %s", t.Shape().String())
	}
	k, err := scalarInt(t, "k")
	if err == nil && k < 0 {
		err = tf.Errorf(tf.InvalidArgument, "Need k >= 0, got %d", k)
	}
	return k, err
}

func topK[T numeric.Real](k computedIn[T]) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		n, err := topKSize(c)
		if err != nil {
			return err
		}
		x := c.Input(0)
		if x.Rank() < 1 {
			return tf.Errorf(tf.InvalidArgument, "input must be >= 1-D, got shape %s", x.Shape().String())
		}
		s := x.Shape().Clone()
		width := s[len(s)-1]
		if width < n {
			return tf.Errorf(tf.InvalidArgument, "input must have at least k columns. Had %d, needed %d", width, n)
		}
		s[len(s)-1] = n
		values, z, err := k.alloc(c, 0, x.DType(), s)
		if err != nil {
			return err
		}
		indices, err := c.Alloc(1, c.Node.OutTypes[1], s)
		if err != nil {
			return err
		}
		at := core.Borrow[int64](c, len(z))
		reduction.TopK(c.ParallelFor, z, at, k.load(c, x), width, n)
		k.finish(values, z)
		elementwise.Cast(core.AnyData(indices), at)
		return nil
	})
}

// topKGrad puts the gradients where the values came from.
func topKGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, indices := op.Input(0), op.Output(1)
	shape := castTo(Shape(x), tf.Int64)
	last := Sub(Size(shape), intScalar(x, tf.Int32, 1))
	width, k := pick(shape, last), pick(castTo(Shape(indices), tf.Int64), last)
	count := reduceProd(Slice(shape, intVec(x, tf.Int32, 0), ExpandDims(last, intScalar(x, tf.Int32, 0))))
	starts := Mul(Range(nil, intScalar(x, tf.Int64, 0), count, intScalar(x, tf.Int64, 1)), width)
	rows := AddV2(Reshape(castTo(indices, tf.Int64), Pack([]tf.Output{count, k})), ExpandDims(starts, intScalar(x, tf.Int32, 1)))
	n := Pack([]tf.Output{Mul(count, k)})
	at := ExpandDims(Reshape(rows, n), intScalar(x, tf.Int32, 1))
	dx := Reshape(ScatterNd(at, Reshape(dy[0], n), Pack([]tf.Output{Mul(count, width)})), shape)
	return tf.Grads(dx, tf.Output{})[:len(op.Inputs())]
}

// reduceProd returns the product of a vector's elements.
func reduceProd(x tf.Output) tf.Output { return Prod(x, intScalar(x, tf.Int32, 0)) }
