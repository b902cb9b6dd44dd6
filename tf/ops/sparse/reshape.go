package sparse

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseReshape", In: "input_indices: int64; input_shape: int64; new_shape: int64", Out: "output_indices: int64; output_shape: int64",
		Shape: reshapeShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(computed(reshape)),
	})
}

// SparseReshape returns what the indices and the shape of a sparse tensor
// become when the tensor is taken for one of another shape, in row-major
// order. One size of newShape may be -1: it follows from the others. Values
// stay as they are. All are int64: indices a matrix [n rank], the shapes
// vectors. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Sizes that are negative, more
// than one -1, and another number of elements than shape has fail with
// INVALID_ARGUMENT in the step.
func SparseReshape(indices, shape, newShape tf.Output, opts ...tf.Option) (newIndices, denseShape tf.Output) {
	op := tf.Apply(nil, "SparseReshape", []tf.Output{indices, shape, newShape}, opts...)
	return op.Output(0), op.Output(1)
}

func reshapeShape(c *core.Infer) error {
	at, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	old, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	if _, err := mergeDim(at[1], old[0]); err != nil {
		return err
	}
	s, err := c.Rank(2, 1)
	if err != nil {
		return err
	}
	c.Set(0, tf.Shape{at[0], s[0]})
	c.Set(1, tf.Shape{s[0]})
	return nil
}

func reshape(c *core.OpContext) error {
	at := c.Input(0)
	from, to, err := reshapeSizes(at, c.Input(1), c.Input(2))
	if err != nil {
		return err
	}
	if slices.Equal(from, to) {
		c.Forward(0, 0)
		c.Forward(1, 1)
		return nil
	}
	if at.Dim(0) > 0 && from.NumElements() == 0 {
		return invalid("Input tensor has %d non zero elements but input shape (%s) or output shape (%s) is empty", at.Dim(0), from.String(), to.String())
	}
	if err := allocShape(c, 1, to); err != nil {
		return err
	}
	out, err := c.Alloc(0, tf.Int64, tf.Shape{at.Dim(0), len(to)})
	if err != nil {
		return err
	}
	src, dst := core.Data[int64](at), core.Data[int64](out)
	c.ParallelFor(at.Dim(0), 4096, func(lo, hi int) {
		move(dst[lo*len(to):hi*len(to)], src[lo*len(from):hi*len(from)], hi-lo, steps(to), steps(from))
	})
	return nil
}

// move writes n indices of a shape of the steps from as those that point to the
// same places of a shape of the steps to.
func move(dst, src []int64, n int, to, from []int64) {
	for i := range n {
		place := int64(0)
		for k, step := range from {
			place += src[i*len(from)+k] * step
		}
		for k, step := range to {
			dst[i*len(to)+k] = place / step
			place %= step
		}
	}
}

// steps returns by how many elements neighbours along each dimension of s are
// apart.
func steps(s tf.Shape) []int64 {
	out := make([]int64, len(s))
	step := int64(1)
	for k := len(s) - 1; k >= 0; k-- {
		out[k] = step
		step *= int64(s[k])
	}
	return out
}

// reshapeSizes checks the inputs of a reshape and returns both shapes.
func reshapeSizes(at, old, target *core.Tensor) (from, to tf.Shape, err error) {
	switch {
	case at.Rank() != 2:
		return nil, nil, invalid("Input must be a matrix.")
	case old.Rank() != 1:
		return nil, nil, invalid("Input shape must be a vector.")
	case target.Rank() != 1:
		return nil, nil, invalid("Target shape should be a vector but received shape %s", target.Shape().String())
	case at.Dim(1) != old.Len():
		return nil, nil, invalid("Input tensor rank must match input shape length.")
	}
	if from, err = sizes(old); err != nil {
		return nil, nil, err
	}
	if to, err = target.Ints(); err != nil {
		return nil, nil, err
	}
	to, err = completeShape(from, to)
	return from, to, err
}

// completeShape fills in the size of s that is -1, so that it has as many
// elements as from.
func completeShape(from, s tf.Shape) (tf.Shape, error) {
	total, free := from.NumElements(), -1
	known := s.Clone()
	for k, d := range s {
		switch {
		case d == -1 && free >= 0:
			return nil, invalid("only one output dimension may be -1, not both %d and %d", free, k)
		case d == -1:
			free, known[k] = k, 1
		case d < 0:
			return nil, invalid("size %d must be non-negative, not %d", k, d)
		}
	}
	if err := checkSizes(known); err != nil {
		return nil, err
	}
	n := known.NumElements()
	if free >= 0 {
		if n == 0 {
			return nil, invalid("reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero")
		}
		if total%n != 0 {
			return nil, invalid("Input to reshape is a SparseTensor with %d dense values, but the requested shape requires a multiple of %d. input_shape=%s output_shape=%s",
				total, n, from.String(), known.String())
		}
		known[free], n = total/n, total
	}
	if n != total {
		return nil, invalid("Input to reshape is a tensor with %d dense values, but the requested shape has %d. input_shape=%s output_shape=%s", total, n, from.String(), known.String())
	}
	return known, nil
}
