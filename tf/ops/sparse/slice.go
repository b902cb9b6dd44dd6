package sparse

import (
	"math"
	"strings"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseSlice", In: "indices: int64; values: T; shape: int64; start: int64; size: int64",
		Out: "output_indices: int64; output_values: T; output_shape: int64", Attrs: "T: type",
		Shape: sliceShape, Grad: tf.GradFunc(sliceGrad), Kernels: core.ByType("T", sameFor(computed(slice), anything...)),
	})
	core.Register(core.OpDef{
		Name: "SparseSliceGrad", In: "backprop_val_grad: T; input_indices: int64; input_start: int64; output_indices: int64", Out: "val_grad: T", Attrs: "T: numbertype",
		Shape: sliceGradShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(computed(sliceBack), numbers...)),
	})
}

// SparseSlice returns the part of t that begins at start and is as large as
// size says, or as t has it from there on. t has any type; start and size are
// int64 vectors with an element for each dimension. Indices of t need not be
// in order. Parts that do not fit together are refused with INVALID_ARGUMENT,
// when the graph is built if their shapes are known, else in the step. A
// negative size fails with INVALID_ARGUMENT in the step; a start beyond the
// end gives an empty part.
func SparseSlice(t Tensor, start, size tf.Output, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "SparseSlice", append(flat(t), start, size), opts...))
}

// SparseSliceGrad returns the gradient of SparseSlice for the values of its
// argument. dy is a vector of any integer, floating-point or complex type,
// which the result, with an element for each row of indices, keeps. Other
// shapes fail with INVALID_ARGUMENT in the step, or when the graph is built
// if the rank of indices is known; slicedIndices that are not among indices
// fail with INTERNAL.
func SparseSliceGrad(dy, indices, start, slicedIndices tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseSliceGrad", opts, dy, indices, start, slicedIndices)
}

func sliceShape(c *core.Infer) error {
	rank := -1
	for i, r := range []int{2, 1, 1, 1, 1} {
		s, err := c.Rank(i, r)
		if err != nil {
			return err
		}
		if i >= 2 {
			if rank, err = mergeDim(rank, s[0]); err != nil {
				return err
			}
		}
	}
	setSparse(c, 0, rank)
	return nil
}

func sliceGradShape(c *core.Infer) error {
	at, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	c.Set(0, at[:1])
	return nil
}

func sliceGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	grads := make([]tf.Gradient, 5)
	if !dy[1].IsZero() {
		grads[1] = tf.Dense(SparseSliceGrad(dy[1], op.Input(0), op.Input(3), op.Output(0)))
	}
	return grads
}

func slice(c *core.OpContext) error {
	t, err := anyOrder(c.Input(0), c.Input(1), c.Input(2))
	if err != nil {
		return err
	}
	start, err := t.bounds(c.Input(3), "start")
	if err != nil {
		return err
	}
	size, err := t.bounds(c.Input(4), "size")
	if err != nil {
		return err
	}
	shape := make(tf.Shape, t.rank)
	for k, from := range start {
		if size[k] < 0 {
			return invalid("Expected a non-negative size, got %d", size[k])
		}
		rest := int64(t.shape[k]) - from
		if from < 0 && rest < 0 { // more than an int64 holds
			rest = math.MaxInt64
		}
		shape[k] = int(min(size[k], max(rest, 0)))
	}
	if err := checkSizes(shape); err != nil {
		return err
	}
	kept := core.Borrow[int](c, t.n)[:0]
	for i := range t.n {
		if inSlice(t.index(i), start, size) {
			kept = append(kept, i)
		}
	}
	if err := t.write(c, kept); err != nil {
		return err
	}
	out := core.Data[int64](c.Out[0].T)
	for ; len(out) > 0; out = out[t.rank:] {
		for k, from := range start {
			out[k] -= from
		}
	}
	return allocShape(c, 2, shape)
}

// anyOrder reads a sparse tensor whose indices need not be in order.
func anyOrder(at, vals, shape *core.Tensor) (*coo, error) {
	t, err := unsized(at, vals, shape)
	if err != nil {
		return nil, err
	}
	return t, checkSizes(t.shape)
}

// unsized is anyOrder for sizes of any value.
func unsized(at, vals, shape *core.Tensor) (*coo, error) {
	switch {
	case at.Rank() != 2:
		return nil, invalid("Sparse indices must be rank 2 but is rank %d", at.Rank())
	case vals.Rank() != 1:
		return nil, invalid("Sparse values must be rank 1 but is rank %d", vals.Rank())
	case shape.Rank() != 1:
		return nil, invalid("Sparse shape must be rank 1 but is rank %d", shape.Rank())
	case at.Dim(0) != vals.Len():
		return nil, invalid("Number of elements in indices (%d) and values (%d) do not match", at.Dim(0), vals.Len())
	case at.Dim(1) != shape.Len():
		return nil, invalid("Index rank (%d) and shape rank (%d) do not match", at.Dim(1), shape.Len())
	}
	s, err := shape.Ints()
	if err != nil {
		return nil, err
	}
	return newCOO(at, vals, s)
}

// bounded is anyOrder for indices that have to lie within the shape.
func bounded(at, vals, shape *core.Tensor) (*coo, error) {
	t, err := anyOrder(at, vals, shape)
	if err != nil {
		return nil, err
	}
	for i := range t.n {
		if row := t.index(i); !within(row, t.shape) {
			return nil, invalid("Sparse index tuple indices[%d, :] = %s is out of bounds", i, strings.ReplaceAll(text(row), ",", ", "))
		}
	}
	return t, nil
}

// bounds reads a vector with an element for each dimension.
func (t *coo) bounds(v *core.Tensor, name string) ([]int64, error) {
	if v.Rank() != 1 {
		return nil, invalid("Input %s should be a vector but received shape %s", name, v.Shape().String())
	}
	if v.Len() != t.rank {
		return nil, invalid("Expected %s to be a vector of length %d but got length %d", name, t.rank, v.Len())
	}
	return core.Data[int64](v), nil
}

func inSlice(at, start, size []int64) bool {
	for k, v := range at {
		if v < start[k] || v-start[k] < 0 || v-start[k] >= size[k] { // the distance may wrap
			return false
		}
	}
	return true
}

// sliceBack hands gradients, which are in the order of the values that were
// kept, to those.
func sliceBack(c *core.OpContext) error {
	dy, at, start, kept := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	if err := checkSliceGrad(dy, at, start, kept); err != nil {
		return err
	}
	out, err := c.Alloc(0, dy.DType(), at.Shape()[:1])
	if err != nil {
		return err
	}
	rows.Clear(out)
	put, rank, j := rows.Mover(out, dy), at.Dim(1), 0
	from, to, begin := core.Data[int64](at), core.Data[int64](kept), core.Data[int64](start)
	for i := 0; i < at.Dim(0) && j < dy.Len(); i++ {
		if moved(from[i*rank:(i+1)*rank], to[j*rank:(j+1)*rank], begin) {
			put(i, j, 1)
			j++
		}
	}
	if j < dy.Len() {
		return tf.Errorf(tf.Internal, "Elements of backprop_val_grad aren't all propagated. Num elements:%d, used: %d", dy.Len(), j)
	}
	return nil
}

// moved reports whether index a is index b, counted from start.
func moved(a, b, start []int64) bool {
	for k, v := range a {
		if v != b[k]+start[k] {
			return false
		}
	}
	return true
}

func checkSliceGrad(dy, at, start, kept *core.Tensor) error {
	switch {
	case at.Rank() != 2 || kept.Rank() != 2:
		return invalid("Input and output indices should be matrices but received shapes: %s and %s", at.Shape().String(), kept.Shape().String())
	case dy.Rank() != 1:
		return invalid("Input backprop_val_grad should be a vector but received shape: %s", dy.Shape().String())
	case at.Dim(1) != kept.Dim(1):
		return invalid("The input and output should have the same ndims: got: %d and %d", at.Dim(1), kept.Dim(1))
	case kept.Dim(0) > at.Dim(0):
		return invalid("# rows of output_indices should be not greater than of input_indices, got %d and %d", kept.Dim(0), at.Dim(0))
	case dy.Len() != kept.Dim(0):
		return invalid("# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got %d and %d", dy.Len(), kept.Dim(0))
	case start.Rank() != 1:
		return invalid("The input_start should be a vector but received shape %s", start.Shape().String())
	case start.Len() != at.Dim(1):
		return invalid("Expected input_start to be a vector of length %d but got length %d", at.Dim(1), start.Len())
	}
	return nil
}
