package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseToDense", In: "sparse_indices: Tindices; output_shape: Tindices; sparse_values: T; default_value: T", Out: "dense: T",
		Attrs: "validate_indices: bool = true; T: type; Tindices: {int32, int64}",
		Shape: func(c *core.Infer) error { c.Set(0, c.ConstShape(1)); return nil }, Grad: tf.GradFunc(sparseToDenseGrad),
		Kernels: core.ByType("T", sameFor(sparseToDense, slices.Concat(dataTypes, []tf.DType{tf.QInt8, tf.QUint8, tf.QInt16, tf.QUint16})...)),
	})
}

// SparseToDenseOpts are the optional attributes of SparseToDense: Unordered
// indices may be in any order and repeat.
type SparseToDenseOpts struct{ Unordered bool }

// Apply sets the attributes.
func (o SparseToDenseOpts) Apply(s *tf.Spec) { s.Set("validate_indices", !o.Unordered) }

// SparseToDense returns a tensor of the given shape with values at the indices
// given, one to a row, and def everywhere else. indices is a matrix of n rows,
// a vector of n positions, or a scalar; values is a vector of n elements or a
// scalar for all of them; def is a scalar. Values are numbers, bool or
// strings. Shapes that do not fit and indices out of bounds are refused with
// INVALID_ARGUMENT in the step, as are indices that repeat or are not in
// lexicographic order unless the option allows them; without order the last of
// equal indices wins. Its options are [SparseToDenseOpts].
func SparseToDense(indices, shape, values, def tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseToDense", opts, indices, shape, values, def)
}

func sparseToDenseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	values := GatherNd(dy[0], op.Input(0))
	rest := Sub(sumAll(dy[0]), sumAll(values))
	return tf.Grads(ZerosLike(op.Input(0)), ZerosLike(op.Input(1)), values, rest)
}

func sparseToDense(n *core.Node) (core.Kernel, error) {
	validate := n.Bool("validate_indices")
	return core.Compute(func(c *core.OpContext) error {
		s, err := sparseShape(c)
		if err != nil {
			return err
		}
		idx, values := c.Input(0), c.Input(2)
		at, err := sparsePlaces(c, idx, s, validate)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, values.DType(), s)
		if err != nil {
			return err
		}
		fillWith(out, c.Input(3))
		putCells(out, values, at)
		return nil
	}), nil
}

// putCells sets the elements at those places, in order, to values or to the one there is.
func putCells(out, values *core.Tensor, at []int64) {
	if size := values.DType().Size(); values.Len() == len(at) && values.Buffer() != nil && size > 0 {
		layout.PutRows(out.Buffer().Bytes(), values.Buffer().Bytes(), at, size)
		return
	}
	put := move(out, values)
	for i, to := range at {
		put(int(to), min(i, values.Len()-1), 1)
	}
}

// sparseShape checks the shapes of the inputs of SparseToDense and returns
// that of its result.
func sparseShape(c *core.OpContext) (tf.Shape, error) {
	idx, shape, values, def := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	count, depth := 1, 1
	if idx.Rank() > 0 {
		count = idx.Dim(0)
	}
	if idx.Rank() > 1 {
		depth = idx.Dim(1)
	}
	switch {
	case idx.Rank() > 2:
		return nil, tf.Errorf(tf.InvalidArgument, "sparse_indices should be a scalar, vector, or matrix, got shape %s", idx.Shape().String())
	case shape.Rank() != 1:
		return nil, tf.Errorf(tf.InvalidArgument, "output_shape must be rank 1, got shape %s", shape.Shape().String())
	case shape.Len() != depth:
		return nil, tf.Errorf(tf.InvalidArgument, "output_shape has incorrect number of elements: %d should be: %d", shape.Len(), depth)
	case values.Rank() > 1 || values.Rank() == 1 && values.Len() != count:
		return nil, tf.Errorf(tf.InvalidArgument, "sparse_values has incorrect shape %s, should be [] or [%d]", values.Shape().String(), count)
	case def.Rank() != 0:
		return nil, tf.Errorf(tf.InvalidArgument, "default_value should be a scalar.")
	}
	s, err := shapeOf(shape, "output_shape")
	if err == nil {
		err = checkSizes(s)
	}
	return s, err
}

// sparsePlaces returns where in a tensor of shape s the elements lie that the indices point
// to, which must be in order if that is to be validated.
func sparsePlaces(c *core.OpContext, idx *core.Tensor, s tf.Shape, validate bool) ([]int64, error) {
	n := 1
	if idx.Rank() > 0 {
		n = idx.Dim(0)
	}
	matrix, err := idx.Reshape(tf.Shape{n, len(s)})
	if err != nil {
		return nil, err
	}
	at := core.Borrow[int64](c, n)
	inside := newSlices(matrix, s).find(at, 0)
	switch {
	case validate && !(inside && ascending(at)):
		return nil, checkSparseRows(rows.Indices(matrix), n, s)
	case !inside:
		return nil, tf.Errorf(tf.InvalidArgument, "Indices are not valid (out of bounds).  Shape: %s", s.String())
	}
	return at, nil
}

// ascending reports whether each number is above the one before.
func ascending(x []int64) bool {
	for i := 1; i < len(x); i++ {
		if x[i-1] >= x[i] {
			return false
		}
	}
	return true
}

// checkSparseRows returns what is wrong with the first of n indices into a tensor of shape s
// that lies outside or does not come after the one before.
func checkSparseRows(v []int64, n int, s tf.Shape) error {
	for i := range n {
		row := v[i*len(s) : (i+1)*len(s)]
		for k, at := range row {
			if at < 0 || at >= int64(s[k]) {
				return tf.Errorf(tf.InvalidArgument, "indices[%d] = %s is out of bounds: need 0 <= index < %s", i, int64Text(row), s.String())
			}
		}
		if i == 0 {
			continue
		}
		if order := slices.Compare(v[(i-1)*len(s):i*len(s)], row); order == 0 {
			return tf.Errorf(tf.InvalidArgument, "indices[%d] = %s is repeated", i, int64Text(row))
		} else if order > 0 {
			return tf.Errorf(tf.InvalidArgument, "indices[%d] = %s is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n", i, int64Text(row))
		}
	}
	return nil
}
