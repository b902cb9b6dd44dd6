package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "DynamicPartition", In: "data: T; partitions: int32", Out: "outputs: num_partitions * T",
		Attrs: "num_partitions: int >= 1; T: type", Shape: partitionShape, Grad: tf.GradFunc(partitionGrad),
		Kernels: core.ByType("T", sameFor(partition, objectTypes...)),
	})
}

// DynamicPartition divides the rows of x among n tensors: row i goes to the
// one that partitions[i] names. partitions is an int32 tensor whose shape is
// the beginning of that of x; a row is what lies under one of its elements,
// and the rows keep their order. x has any type but the quantized ones; n is
// at least 1. Another shape of partitions is refused with INVALID_ARGUMENT,
// when the graph is built if it is known, else in the step; a number outside
// of [0, n) is refused in the step.
func DynamicPartition(x, partitions tf.Output, n int, opts ...tf.Option) []tf.Output {
	return outputs(n, "DynamicPartition", tf.Join(opts, tf.Attr("num_partitions", n)), x, partitions)
}

func partitionShape(c *core.Infer) error {
	x, p := c.In(0), c.In(1)
	if x == nil || p == nil {
		return nil
	}
	if len(x) < len(p) || !p.Compatible(x[:len(p)]) {
		return tf.Errorf(tf.InvalidArgument, "data must begin with the dimensions of partitions: data %v, partitions %v", x, p)
	}
	for i := range c.NumOut() {
		c.Set(i, append(tf.Shape{-1}, x[len(p):]...))
	}
	return nil
}

func partitionGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, p := op.Input(0), op.Input(1)
	shape := Shape(p)
	zero, one := intScalar(x, tf.Int32, 0), intScalar(x, tf.Int32, 1)
	rows := Reshape(Range(nil, zero, apply("Prod", nil, shape, intVec(x, tf.Int32, 0)), one), shape)
	from := DynamicPartition(rows, p, op.Int("num_partitions"))
	return tf.Grads(Reshape(ParallelDynamicStitch(from, orZeros(op, dy)), Shape(x)), tf.Output{})
}

func partition(n *core.Node) (core.Kernel, error) {
	count := n.Int("num_partitions")
	return core.Compute(func(c *core.OpContext) error {
		x, p := c.Input(0), c.Input(1)
		s := x.Shape()
		if len(s) < p.Rank() || !slices.Equal(s[:p.Rank()], p.Shape()) {
			return tf.Errorf(tf.InvalidArgument, "data.shape must start with partitions.shape, got data.shape = %s, partitions.shape = %s", s.String(), p.Shape().String())
		}
		sizes := core.Make[int](count)
		for i, k := range core.Data[int32](p) {
			if k < 0 || int(k) >= count {
				return tf.Errorf(tf.InvalidArgument, "partitions%s = %d is not in [0, %d)", position(p.Shape(), i), k, count)
			}
			sizes[k]++
		}
		puts := make([]func(d, s, n int), count)
		for k := range puts {
			out, err := c.Alloc(k, x.DType(), append(tf.Shape{sizes[k]}, s[p.Rank():]...))
			if err != nil {
				return err
			}
			puts[k] = move(out, x)
		}
		width, next := product(s[p.Rank():]), core.Make[int](count)
		for i, k := range core.Data[int32](p) {
			puts[k](next[k]*width, i*width, width)
			next[k]++
		}
		return nil
	}), nil
}
