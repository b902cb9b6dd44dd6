package ops

import (
	"math/bits"

	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "UnravelIndex", In: "indices: Tidx; dims: Tidx", Out: "output: Tidx", Attrs: "Tidx: {int32, int64} = int32",
		Shape: unravelShape, NoGrad: tf.NoGradientDefined, Kernels: tf.ByType("Tidx", sameFor(unravel, tf.Int32, tf.Int64)),
	})
}

// UnravelIndex returns the coordinates, in a tensor of shape dims, of the
// elements with the given numbers: one column for each index.
func UnravelIndex(indices, dims tf.Output, opts ...tf.Option) tf.Output {
	return apply("UnravelIndex", opts, indices, dims)
}

func unravelShape(c *tf.Infer) error {
	dims, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	s := c.In(0)
	if s == nil {
		return nil
	}
	switch len(s) {
	case 0:
		c.Set(0, tf.Shape{dims[0]})
	case 1:
		c.Set(0, tf.Shape{dims[0], s[0]})
	default:
		return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d: indices %v", len(s), s)
	}
	return nil
}

// rowSteps returns how many elements lie in one step of each dimension, and in
// all.
func rowSteps(dims []int) (steps []int, total int, err error) {
	steps, total = make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		n := dims[i]
		if n == 0 {
			return nil, 0, tf.Errorf(tf.InvalidArgument, "Input dims cannot contain a dim of zero, but dims contains zero at index %d", i)
		}
		steps[i] = total
		high, low := bits.Mul64(uint64(total), uint64(max(n, 0)))
		if n < 0 || high != 0 || low > 1<<62 {
			return nil, 0, tf.Errorf(tf.InvalidArgument, "Input dims product is causing integer overflow: (%s)", joinInts(dims, ", "))
		}
		total = int(low)
	}
	return steps, total, nil
}

func unravel(n *tf.Node) (tf.Kernel, error) {
	d := n.Type("Tidx")
	return tf.Compute(func(c *tf.OpContext) error {
		idx := c.Input(0)
		if idx.Rank() > 1 {
			return tf.Errorf(tf.InvalidArgument, "The indices can only be scalar or vector, got \"%s\"", idx.Shape().Text())
		}
		if c.Input(1).Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "The indices can only be 1-D, got \"%s\"", c.Input(1).Shape().Text())
		}
		dims, err := c.Input(1).Ints()
		if err != nil {
			return err
		}
		at, err := idx.Ints()
		if err != nil {
			return err
		}
		steps, total, err := rowSteps(dims)
		if err != nil {
			return err
		}
		coordinates := make([]int, len(dims)*len(at))
		for k, v := range at {
			if v < 0 || v >= total {
				return tf.Errorf(tf.InvalidArgument, "index is out of bound as with dims")
			}
			for i := range dims {
				coordinates[i*len(at)+k] = v / steps[i] % dims[i]
			}
		}
		out, err := c.Alloc(0, d, append(tf.Shape{len(dims)}, idx.Shape()...))
		if err != nil {
			return err
		}
		return fillInts(out, coordinates)
	}), nil
}
