package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, name := range []string{"DynamicStitch", "ParallelDynamicStitch"} {
		core.Register(core.OpDef{
			Name: name, In: "indices: N * int32; data: N * T", Out: "merged: T", Attrs: "N: int >= 1; T: type",
			Shape: stitchShape, Grad: tf.GradFunc(stitchGrad),
			Kernels: byCell(stateless(stitch[uint8]), stateless(stitch[uint16]), stateless(stitch[uint32]), stateless(stitch[uint64]), stateless(stitch[complex128]),
				stateless(stitch[string]), stateless(stitch[core.ResourceHandle]), stateless(stitch[core.VariantValue])).on("T", wideQuantized),
		})
	}
}

// DynamicStitch puts the rows of all data tensors into one: row i of data[m]
// becomes row indices[m][i]. A row that is given more than once is the last.
// indices are int32, as many tensors as data; the shape of data[m] begins with
// that of indices[m], and the rest is the shape of a row, equal for all. The
// result has one row more than the greatest index says, and rows that are not
// given are zeros or empty. Shapes that do not fit are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step, and negative indices in the step.
func DynamicStitch(indices, data []tf.Output, opts ...tf.Option) tf.Output {
	return apply("DynamicStitch", opts, slices.Concat(indices, data)...)
}

// ParallelDynamicStitch is DynamicStitch, but which row is taken of those that
// are given more than once is not defined. Shapes, types and errors are as
// there.
func ParallelDynamicStitch(indices, data []tf.Output, opts ...tf.Option) tf.Output {
	return apply("ParallelDynamicStitch", opts, slices.Concat(indices, data)...)
}

func stitchShape(c *core.Infer) error {
	n := c.NumIn() / 2
	var row tf.Shape
	rows := 0
	for i := range n {
		idx, data := c.In(i), c.In(n+i)
		if idx != nil && data != nil {
			if len(data) < len(idx) || !idx.Compatible(data[:len(idx)]) {
				return tf.Errorf(tf.InvalidArgument, "data[%d].shape must start with indices[%d].shape: shapes are %v and %v", i, i, data, idx)
			}
			merged, ok := row.Merge(data[len(idx):])
			if !ok {
				return tf.Errorf(tf.InvalidArgument, "rows must have one shape: %v and that of data[%d], %v, differ", row, i, data[len(idx):])
			}
			row = merged
		}
		rows = stitchedRows(c, i, rows)
	}
	if row != nil {
		c.Set(0, append(tf.Shape{rows}, row...))
	}
	return nil
}

// stitchedRows returns how many rows the indices up to argument i call for, -1
// if they are not all known.
func stitchedRows(c *core.Infer, i, rows int) int {
	v, ok := c.ConstInts(i)
	if !ok || rows < 0 {
		return -1
	}
	for _, at := range v {
		rows = max(rows, at+1)
	}
	return rows
}

// stitched checks the inputs and returns the shape of the result.
func stitched(c *core.OpContext) (tf.Shape, error) {
	n := c.Inputs() / 2
	first := c.Input(0).Rank()
	rows := 0
	for i := range n {
		idx, data := c.Input(i).Shape(), c.Input(n+i).Shape()
		if len(data) < len(idx) || !slices.Equal(idx, data[:len(idx)]) {
			return nil, tf.Errorf(tf.InvalidArgument, "data[%d].shape = %s does not start with indices[%d].shape = %s", i, data.String(), i, idx.String())
		}
		if row := c.Input(n).Shape()[first:]; !slices.Equal(row, data[len(idx):]) {
			return nil, tf.Errorf(tf.InvalidArgument, "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, data[%d].shape = %s, indices[0].shape = %s, indices[%d].shape = %s",
				first, i, len(idx), c.Input(n).Shape().String(), i, data.String(), c.Input(0).Shape().String(), i, idx.String())
		}
		for k, at := range core.Data[int32](c.Input(i)) {
			if at < 0 {
				return nil, tf.Errorf(tf.InvalidArgument, "indices[%d] is out of range", k)
			}
			rows = max(rows, int(at)+1)
		}
	}
	return append(tf.Shape{rows}, c.Input(n).Shape()[first:]...), nil
}

func stitch[T cell](c *core.OpContext) error {
	s, err := stitched(c)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.Node.Type("T"), s)
	if err != nil {
		return err
	}
	clearCells(out)
	dst, n, row := cells[T](out), c.Inputs()/2, s[1:].NumElements()
	for i := range n {
		src := cells[T](c.Input(n + i))
		for k, at := range core.Data[int32](c.Input(i)) {
			copy(dst[int(at)*row:(int(at)+1)*row], src[k*row:(k+1)*row])
		}
	}
	return nil
}

// stitchGrad gives every row of the data the gradient of where it went.
func stitchGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	n := op.Int("N")
	out := make([]tf.Gradient, 2*n)
	zero := intScalar(dy[0], tf.Int32, 0)
	for i := range n {
		out[n+i] = tf.Dense(apply("GatherV2", nil, dy[0], op.Input(i), zero))
	}
	return out
}
