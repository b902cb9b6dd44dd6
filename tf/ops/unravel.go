package ops

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UnravelIndex", In: "indices: Tidx; dims: Tidx", Out: "output: Tidx", Attrs: "Tidx: {int32, int64} = int32",
		Shape: unravelShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("Tidx", byType{tf.Int32: unravel[int32], tf.Int64: unravel[int64]}),
	})
}

// UnravelIndex returns the coordinates, in a tensor of shape dims, of the
// elements with the given numbers: one column for each index. indices is a
// vector or a scalar, for which the result is a vector, and dims is a vector;
// both are int32 or int64, of one type. Other ranks are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. The step also refuses, with the same code, indices without elements,
// dims that are not positive or whose product overflows their type, and an
// index that is not below that product; negative ones are not refused.
func UnravelIndex(indices, dims tf.Output, opts ...tf.Option) tf.Output {
	return apply("UnravelIndex", opts, indices, dims)
}

func unravelShape(c *core.Infer) error {
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
// all, which must not be more than most.
func rowSteps(dims []int, most int) (steps []int, total int, err error) {
	total = 1
	for i, n := range dims {
		switch {
		case n == 0:
			return nil, 0, tf.Errorf(tf.InvalidArgument, "Input dims cannot contain a dim of zero, but dims contains zero at index %d", i)
		case n < 0:
			return nil, 0, tf.Errorf(tf.InvalidArgument, "Input dims cannot be negative. Got dim = %d at index %d", n, i)
		case total > most/n:
			return nil, 0, tf.Errorf(tf.InvalidArgument, "Input dims product is causing integer overflow: (%s)", asWide(dims))
		}
		total *= n
	}
	steps = core.Make[int](len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		steps[i] = step
		step *= dims[i]
	}
	return steps, total, nil
}

// asWide writes numbers as TensorFlow writes vectors, all as wide as the
// widest.
func asWide(v []int) string {
	width := 0
	for _, n := range v {
		width = max(width, len(strconv.Itoa(n)))
	}
	parts := make([]string, len(v))
	for i, n := range v {
		parts[i] = fmt.Sprintf("%*d", width, n)
	}
	return strings.Join(parts, " ")
}

// largest returns the greatest index of type d.
func largest(d tf.DType) int {
	if d == tf.Int32 {
		return math.MaxInt32
	}
	return math.MaxInt64
}

func unravel[T int32 | int64](n *core.Node) (core.Kernel, error) {
	d := n.Type("Tidx")
	return core.Compute(func(c *core.OpContext) error {
		idx := c.Input(0)
		if idx.Rank() > 1 {
			return tf.Errorf(tf.InvalidArgument, "The indices can only be scalar or vector, got \"%s\"", idx.Shape().String())
		}
		if idx.Len() == 0 {
			return tf.Errorf(tf.InvalidArgument, "received empty tensor indices: Tensor<type: %s shape: [0] values: >", d.CName())
		}
		if c.Input(1).Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "The indices can only be 1-D, got \"%s\"", c.Input(1).Shape().String())
		}
		dims, err := c.Input(1).Ints()
		if err != nil {
			return err
		}
		_, total, err := rowSteps(dims, largest(d))
		if err != nil {
			return err
		}
		at := core.Data[T](idx)
		if slices.ContainsFunc(at, func(v T) bool { return v >= T(total) }) {
			return tf.Errorf(tf.InvalidArgument, "index is out of bound as with dims")
		}
		out, err := c.Alloc(0, d, append(tf.Shape{len(dims)}, idx.Shape()...))
		if err != nil {
			return err
		}
		y := core.Data[T](out)
		c.ParallelFor(len(at), elementGrain, func(lo, hi int) { coordinates(y, at, dims, lo, hi) })
		return nil
	}), nil
}

// coordinates sets the columns [lo, hi) of y to the coordinates of places in dims, block by block
// and from the last dimension on: integers are divided as vectors.
func coordinates[T int32 | int64](y, at []T, dims []int, lo, hi int) {
	const block = 512
	rest, size := make([]T, block), make([]T, block)
	for from := lo; from < hi; from += block {
		n := min(block, hi-from)
		copy(rest, at[from:from+n])
		for i := len(dims) - 1; i >= 0; i-- {
			kernel.Fill(size[:n], T(dims[i]))
			elementwise.ModInt(y[i*len(at)+from:][:n], rest, size)
			elementwise.DivInt(rest[:n], rest, size)
		}
	}
}
