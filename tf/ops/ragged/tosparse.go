package ragged

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "RaggedTensorToSparse", In: "rt_nested_splits: RAGGED_RANK * Tsplits; rt_dense_values: T",
		Out:   "sparse_indices: int64; sparse_values: T; sparse_dense_shape: int64",
		Attrs: "RAGGED_RANK: int >= 1; T: type; Tsplits: {int32, int64} = int64",
		Shape: toSparseShape, Grad: tf.GradFunc(toSparseGrad), Kernels: core.AnyType(toSparse),
	})
}

// RaggedTensorToSparse returns a ragged tensor, of one or more row splits from
// the outside inwards and values, as a sparse one that is as wide as the
// longest rows. indices, an int64 matrix, has a row for each value,
// sparseValues is a vector, and denseShape is an int64 vector. The splits are
// int32 or int64 vectors, the values have one dimension or more and any type.
// Splits of another rank are refused with INVALID_ARGUMENT when the graph is
// built; so are, in the step, splits that are empty, do not begin with 0,
// descend, or do not end where the next ones or the values do.
func RaggedTensorToSparse(splits []tf.Output, values tf.Output, opts ...tf.Option) (indices, sparseValues, denseShape tf.Output) {
	in := append(append([]tf.Output{}, splits...), values)
	op := tf.Apply(nil, "RaggedTensorToSparse", in, tf.Join(opts, tf.Attr("RAGGED_RANK", len(splits)))...)
	return op.Output(0), op.Output(1), op.Output(2)
}

func toSparseShape(c *core.Infer) error {
	n := c.Int("RAGGED_RANK")
	if err := splitsRank(c, n); err != nil {
		return err
	}
	count, rank := -1, -1
	if s := c.In(n); s != nil {
		count, rank = s.NumElements(), len(s)+n
	}
	c.Set(0, tf.Shape{count, rank})
	c.Set(1, tf.Shape{count})
	c.Set(2, tf.Shape{rank})
	return nil
}

func toSparseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	grads := make([]tf.Gradient, len(op.Inputs()))
	last := len(grads) - 1
	if !dy[1].IsZero() {
		grads[last] = tf.Dense(ops.Reshape(dy[1], ops.Shape(op.Input(last))))
	}
	return grads
}

func toSparse(n *core.Node) (core.Kernel, error) {
	rank := n.Int("RAGGED_RANK")
	return core.Compute(func(c *core.OpContext) error {
		splits, err := splitsOf(c, rank)
		if err != nil {
			return err
		}
		values := c.Input(rank)
		if values.Rank() == 0 {
			return invalid("Final value of ragged splits must match the length the corresponding ragged values.")
		}
		if err := checkSplits(splits, values.Dim(0)); err != nil {
			return err
		}
		inner := values.Shape()[1:]
		out, err := c.Alloc(0, tf.Int64, tf.Shape{values.Len(), rank + values.Rank()})
		if err != nil {
			return err
		}
		w := indexWriter{dst: core.Data[int64](out), splits: splits, inner: inner, at: make([]int64, rank+values.Rank())}
		for row := 0; row < len(splits[0])-1 && values.Len() > 0; row++ { // a shape [2^40 0] costs nothing
			w.write(0, row, int64(row))
		}
		c.ForwardShape(rank, 1, tf.Shape{values.Len()})
		return allocShape(c, 2, denseShape(splits, inner))
	}), nil
}

// checkSplits wants splits that begin at 0, ascend and end where the next ones,
// or n values, do.
func checkSplits(splits [][]int, n int) error {
	for i, s := range splits {
		if len(s) == 0 {
			return invalid("ragged splits may not be empty.")
		}
		if s[0] != 0 {
			return invalid("First value of ragged splits must be 0.")
		}
		for k := 1; k < len(s); k++ {
			if s[k] < s[k-1] {
				return invalid("Ragged splits should be non decreasing, but we got %d followed by %d", s[k-1], s[k])
			}
		}
		if i > 0 && len(s) != splits[i-1][len(splits[i-1])-1]+1 {
			return invalid("Final value of ragged splits must match the length the corresponding ragged values.")
		}
	}
	if last := splits[len(splits)-1]; last[len(last)-1] != n {
		return invalid("Final value of ragged splits must match the length the corresponding ragged values.")
	}
	return nil
}

// An indexWriter writes the indices of all values in order.
type indexWriter struct {
	dst    []int64
	splits [][]int
	inner  tf.Shape
	at     []int64
}

// write writes the indices of what is in a row of splits of a dimension.
func (w *indexWriter) write(dim, row int, index int64) {
	w.at[dim] = index
	if dim == len(w.splits) {
		w.writeInner(dim + 1)
		return
	}
	from := w.splits[dim][row]
	for k := from; k < w.splits[dim][row+1]; k++ {
		w.write(dim+1, k, int64(k-from))
	}
}

// writeInner writes the indices within one value, from a dimension on.
func (w *indexWriter) writeInner(dim int) {
	if dim == len(w.at) {
		w.dst = w.dst[copy(w.dst, w.at):]
		return
	}
	for i := range w.inner[dim-len(w.splits)-1] {
		w.at[dim] = int64(i)
		w.writeInner(dim + 1)
	}
}

// denseShape returns the shape that holds all rows.
func denseShape(splits [][]int, inner tf.Shape) tf.Shape {
	s := tf.Shape{len(splits[0]) - 1}
	for _, v := range splits {
		s = append(s, longest(v))
	}
	return append(s, inner...)
}

// longest returns the length of the longest row.
func longest(splits []int) int {
	most := 0
	for k := 1; k < len(splits); k++ {
		most = max(most, splits[k]-splits[k-1])
	}
	return most
}

// allocShape makes output i a vector of the sizes in s.
func allocShape(c *core.OpContext, i int, s tf.Shape) error { return allocInts(c, i, tf.Int64, s) }
