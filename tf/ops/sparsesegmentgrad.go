package ops

import (
	"slices"
	"sort"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// registerSparseGrads registers the ops that give rows what the segments that
// they are in got: all rows, or those only that are in a segment.
func registerSparseGrads(s sparseSegments, types []tf.DType) {
	const attrs = "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32"
	core.Register(core.OpDef{
		Name: "SparseSegment" + string(s) + "Grad", In: "grad: T; indices: Tidx; segment_ids: Tsegmentids; output_dim0: int32", Out: "output: T",
		Attrs: attrs, Shape: sparseGradShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(s.back, types...)),
	})
	core.Register(core.OpDef{
		Name: "SparseSegment" + string(s) + "GradV2", In: "grad: T; indices: Tidx; segment_ids: Tsegmentids; dense_output_dim0: int32",
		Out: "output: T; sorted_unique_indices: Tidx", Attrs: attrs, Shape: sparseRowsShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", sameFor(s.backRows, types...)),
	})
}

// grad gives each row what the segments that it is in got.
func (s sparseSegments) grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	shape := sizes(op.Input(0))
	rows := element(shape, intScalar(dy[0], tf.Int32, 0))
	name, dxs := "SparseSegment"+string(s)+"Grad", make([]tf.Gradient, len(op.Inputs()))
	if op.Bool("sparse_gradient") {
		got := outputs(2, name+"V2", nil, dy[0], op.Input(1), op.Input(2), rows)
		dxs[0] = tf.Sparse(tf.IndexedSlices{Values: got[0], Indices: got[1], DenseShape: shape})
		return dxs
	}
	dxs[0] = tf.Dense(apply(name, nil, dy[0], op.Input(1), op.Input(2), rows))
	return dxs
}

func sparseGradShape(c *core.Infer) error {
	n := -1
	if v, ok := c.ConstInts(3); ok && len(v) == 1 && v[0] >= 0 {
		n = v[0]
	}
	if x := c.In(0); len(x) > 0 {
		c.Set(0, append(tf.Shape{n}, x[1:]...))
	}
	return nil
}

func sparseRowsShape(c *core.Infer) error {
	c.Set(1, tf.Shape{-1})
	for i := 1; i < 3; i++ {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
	}
	if x := c.In(0); len(x) > 0 {
		c.Set(0, append(tf.Shape{-1}, x[1:]...))
	}
	return nil
}

func (s sparseSegments) back(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		in, n, err := sparseGradInputs(c, "output_dim0")
		if err != nil {
			return err
		}
		defer in.release()
		return s.giveBack(c, in.indices, in.ids, n)
	}), nil
}

func (s sparseSegments) backRows(node *core.Node) (core.Kernel, error) {
	d := node.Type("Tidx")
	return core.Compute(func(c *core.OpContext) error {
		in, _, err := sparseGradInputs(c, "dense_output_dim0")
		if err != nil {
			return err
		}
		defer in.release()
		indices, ids := in.indices, in.ids
		unique := slices.Compact(slices.Sorted(slices.Values(indices)))
		places, rows := core.Make[int64](len(indices)), core.Make[int](len(unique))
		for i, at := range indices {
			k := sort.Search(len(unique), func(k int) bool { return unique[k] >= at })
			places[i], rows[k] = int64(k), int(at)
		}
		if err := allocInts(c, 1, d, rows); err != nil {
			return err
		}
		return s.giveBack(c, places, ids, len(unique))
	}), nil
}

// sparseGradInputs checks the inputs of a gradient op, of which the last is the
// number of rows that there are, and reads them as sparseInputs does.
func sparseGradInputs(c *core.OpContext, count string) (in segmentInputs, n int, err error) {
	if in, err = sparseInputs(c); err != nil {
		return in, 0, err
	}
	if n, err = sparseGradRows(c, count, in.indices); err != nil {
		in.release()
	}
	if n == 0 {
		in.indices, in.ids = nil, nil
	}
	return in, n, err
}

// sparseGradRows reads the number of rows, which the indices must keep to if there are any.
func sparseGradRows(c *core.OpContext, count string, indices []int64) (n int, err error) {
	if c.Input(3).Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "%s should be a scalar.", count)
	}
	if n, err = scalarInt(c.Input(3), count); err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Expected a non-negative size, got %d", n)
	}
	for _, at := range indices {
		if n > 0 && (at < 0 || at >= int64(n)) {
			return 0, tf.Errorf(tf.InvalidArgument, "Index %d out of range [0, %d).", at, n)
		}
	}
	return n, nil
}

// giveBack makes output 0 n rows, of which those at places get what segments
// got.
func (s sparseSegments) giveBack(c *core.OpContext, places, ids []int64, n int) error {
	dy := c.Input(0)
	scaled, err := c.Temp(sumType(dy.DType()), dy.Shape()) // each segment's gradient, divided
	if err != nil {
		return err
	}
	defer scaled.Release()
	elementwise.Cast(core.AnyData(scaled), core.AnyData(dy))
	if err := s.divideSegments(scaled, ids); err != nil {
		return err
	}
	out, err := c.Alloc(0, dy.DType(), append(tf.Shape{n}, dy.Shape()[1:]...))
	if err != nil {
		return err
	}
	sums, finish, err := sumsFor(c, out)
	if err != nil {
		return err
	}
	defer finish()
	join, width := addRows[sums.DType()](sums, scaled), dy.Shape()[1:].NumElements()
	for i, at := range places {
		join(int(at)*width, int(ids[i])*width, width)
	}
	return nil
}

// divideSegments divides each row of t by what its segment's sum was.
func (s sparseSegments) divideSegments(t *core.Tensor, ids []int64) error {
	sizes := core.Make[int](t.Dim(0))
	if n := len(ids); n > 0 && ids[n-1] >= int64(len(sizes)) {
		return tf.Errorf(tf.InvalidArgument, "Invalid number of segments")
	}
	for _, id := range ids {
		if id < 0 || id >= int64(len(sizes)) {
			return tf.Errorf(tf.InvalidArgument, "Segment id %d out of range [0, %d).", id, len(sizes))
		}
		sizes[id]++
	}
	divide, width := scaleRows[t.DType()](t), t.Shape()[1:].NumElements()
	for k, n := range sizes {
		if by := s.divisor(n); n > 0 && by != 1 {
			divide(k*width, width, by)
		}
	}
	return nil
}
