package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, norm := range []string{"Sum", "Mean", "SqrtN"} {
		types, kinds := "{bfloat16, half, float, double}", []tf.DType{tf.Float32, tf.Float64, tf.Float16, tf.BFloat16}
		op := sparseSegments(norm)
		registerSparseGrads(op, kinds)
		if norm == "Sum" {
			types, kinds = "realnumbertype", realTypes
		}
		kernels := core.ByType("T", sameFor(op.forward, kinds...))
		core.Register(core.OpDef{
			Name: "SparseSegment" + norm, In: "data: T; indices: Tidx; segment_ids: Tsegmentids", Out: "output: T",
			Attrs: "T: " + types + "; Tidx: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false",
			Shape: sparseSegmentShape, Grad: tf.GradFunc(op.grad), Kernels: kernels,
		})
		core.Register(core.OpDef{
			Name: "SparseSegment" + norm + "WithNumSegments", In: "data: T; indices: Tidx; segment_ids: Tsegmentids; num_segments: Tnumsegments", Out: "output: T",
			Attrs: "T: " + types + "; Tidx: {int32, int64} = int32; Tnumsegments: {int32, int64} = int32; Tsegmentids: {int32, int64} = int32; sparse_gradient: bool = false",
			Shape: sparseSegmentShape, Grad: tf.GradFunc(op.grad), Kernels: kernels,
		})
	}
}

// A sparseSegments is how the rows of a segment are put together: "Sum",
// "Mean", or "SqrtN" for the sum divided by the root of their number.
type sparseSegments string

// divisor returns what the sum of n rows is divided by.
func (s sparseSegments) divisor(n int) float64 {
	switch s {
	case "Mean":
		return float64(n)
	case "SqrtN":
		return math.Sqrt(float64(n))
	}
	return 1
}

// SparseSegmentSum returns SegmentSum of the rows of x that indices name. x
// holds real numbers and has one dimension or more; indices and ids are
// vectors of equal length, int32 or int64. The result has as many rows as the
// last id and one, and rows of zeros for segments that do not occur. Ids that
// are negative or descend, and indices without a row in x, are refused with
// INVALID_ARGUMENT in the step, wrong ranks when the graph is built if they
// are known.
func SparseSegmentSum(x, indices, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseSegmentSum", opts, x, indices, ids)
}

// SparseSegmentMean is SparseSegmentSum for means. x holds floating-point
// numbers (float16, bfloat16, float32, float64). Segments that do not occur
// have rows of zeros, and what SparseSegmentSum refuses is refused alike.
func SparseSegmentMean(x, indices, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseSegmentMean", opts, x, indices, ids)
}

// SparseSegmentSqrtN is SparseSegmentSum, divided by the root of the number of
// rows. x holds floating-point numbers (float16, bfloat16, float32, float64).
// Segments that do not occur have rows of zeros, and what SparseSegmentSum
// refuses is refused alike.
func SparseSegmentSqrtN(x, indices, ids tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseSegmentSqrtN", opts, x, indices, ids)
}

func sparseSegmentShape(c *core.Infer) error {
	for i := 1; i < 3; i++ {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
	}
	n := -1
	if c.NumIn() > 3 {
		if v, ok := c.ConstInts(3); ok && len(v) == 1 {
			n = v[0]
		}
		if n < -1 {
			return tf.Errorf(tf.InvalidArgument, "Cannot specify a negative value for num_segments")
		}
	}
	if x := c.In(0); len(x) > 0 {
		c.Set(0, append(tf.Shape{n}, x[1:]...))
	}
	return nil
}

// segmentInputs are what the sparse segment ops have in common: the rows of input 0
// that count, and their segments.
type segmentInputs struct {
	indices, ids []int64
	temps        [2]*core.Tensor // whose memory these are, if any
}

// release gives the memory back.
func (in *segmentInputs) release() {
	for _, t := range in.temps {
		if t != nil {
			t.Release()
		}
	}
}

// sparseInputs checks the inputs and reads the indices, which release gives back.
func sparseInputs(c *core.OpContext) (in segmentInputs, err error) {
	x, i, s := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case i.Rank() != 1:
		return in, tf.Errorf(tf.InvalidArgument, "indices should be a vector.")
	case s.Rank() != 1:
		return in, tf.Errorf(tf.InvalidArgument, "segment_ids should be a vector.")
	case i.Len() != s.Len():
		return in, tf.Errorf(tf.InvalidArgument, "segment_ids and indices should have same size.")
	case x.Rank() < 1:
		return in, tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1")
	}
	if in.indices, in.temps[0], err = rows.IndicesIn(c, i); err != nil {
		return in, err
	}
	if in.ids, in.temps[1], err = rows.IndicesIn(c, s); err != nil {
		in.release()
	}
	return in, err
}

func (s sparseSegments) forward(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		in, err := sparseInputs(c)
		if err != nil {
			return err
		}
		defer in.release()
		indices, ids := in.indices, in.ids
		n, err := sparseCount(c, ids)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), append(tf.Shape{n}, x.Shape()[1:]...))
		if err != nil {
			return err
		}
		sums, finish, err := sumsFor(c, out)
		if err != nil {
			return err
		}
		defer finish()
		width := x.Shape()[1:].NumElements()
		for i, at := range indices {
			if at < 0 || at >= int64(x.Dim(0)) {
				return tf.Errorf(tf.InvalidArgument, "Bad: indices[%d] == %d out of range [0, %d)", i, at, x.Dim(0))
			}
		}
		join, divide := segmentAdder(sums, x, width), scaleRows[sums.DType()](sums)
		for begin := 0; begin < len(ids); {
			end := segmentEnd(ids, begin)
			join(int(ids[begin]), indices[begin:end])
			if by := s.divisor(end - begin); by != 1 {
				divide(int(ids[begin])*width, width, by)
			}
			begin = end
		}
		return nil
	}), nil
}

// sumsFor returns zeros of out's shape to add rows to: those of 16 bits are added
// up in float32, as in TensorFlow. What it returns beside puts the sums into out.
func sumsFor(c *core.OpContext, out *core.Tensor) (sums *core.Tensor, finish func(), err error) {
	if sumType(out.DType()) == out.DType() {
		clearCells(out)
		return out, func() {}, nil
	}
	if sums, err = c.Temp(tf.Float32, out.Shape()); err != nil {
		return nil, nil, err
	}
	clearCells(sums)
	return sums, func() {
		elementwise.Cast(core.AnyData(out), core.AnyData(sums))
		sums.Release()
	}, nil
}

// sumType returns the type in which numbers of type d are added up.
func sumType(d tf.DType) tf.DType {
	if d == tf.Float16 || d == tf.BFloat16 {
		return tf.Float32
	}
	return d
}

// adderOf is addRows with a loop of its own for narrow rows of float32, as
// embeddings and weights have: for these the way through a kernel is the longer part.
// out holds float32 where x has 16 bits.
func adderOf(out, x *core.Tensor, width int) func(to, from, n int) {
	switch x.DType() {
	case tf.Float16:
		return halfAdder[tf.Half](out, x)
	case tf.BFloat16:
		return halfAdder[tf.BF16](out, x)
	}
	const narrow = 64
	if x.DType() != tf.Float32 || width > narrow {
		return addRows[x.DType()](out, x)
	}
	z, v := core.Data[float32](out), core.Data[float32](x)
	return func(to, from, n int) {
		row := z[to : to+n]
		for k, f := range v[from : from+n] {
			row[k] += f
		}
	}
}

// segmentEnd returns where the ids end that are the one at begin.
func segmentEnd(ids []int64, begin int) int {
	end := begin + 1
	for end < len(ids) && ids[end] == ids[begin] {
		end++
	}
	return end
}

// segmentAdder returns what adds rows of x to a row of out, in their order. Of float32 it
// takes four at a time, which saves reading and writing the sums.
func segmentAdder(out, x *core.Tensor, width int) func(to int, from []int64) {
	join := adderOf(out, x, width)
	one := func(to int, from []int64) {
		for _, at := range from {
			join(to*width, int(at)*width, width)
		}
	}
	const narrow = 128 // wider rows are added by vectors
	if x.DType() != tf.Float32 || width == 0 || width > narrow {
		return one
	}
	z, v := core.Data[float32](out), core.Data[float32](x)
	far := kernel.Far(v)
	return func(to int, from []int64) {
		if far {
			for _, at := range from[:min(len(from), kernel.RowsAhead)] {
				kernel.Prefetch(v[int(at)*width:][:width])
			}
		}
		for ; len(from) >= 4; from = from[4:] {
			row := func(i int) []float32 { return v[int(from[i])*width:][:width] }
			addFour(z[to*width:][:width], row(0), row(1), row(2), row(3))
		}
		one(to, from)
	}
}

func addFour(z, a, b, c, d []float32) {
	a, b, c, d = a[:len(z)], b[:len(z)], c[:len(z)], d[:len(z)]
	for i, v := range z {
		z[i] = v + a[i] + b[i] + c[i] + d[i]
	}
}

func halfAdder[H tf.Half | tf.BF16](out, x *core.Tensor) func(to, from, n int) {
	z, v := core.Data[float32](out), core.Data[H](x)
	row := core.Make[float32](x.Shape()[1:].NumElements())
	return func(to, from, n int) {
		elementwise.Widen(row[:n], v[from:from+n])
		elementwise.Add(z[to:to+n], z[to:to+n], row[:n])
	}
}

// sparseCount returns the number of segments of ids, which must ascend.
func sparseCount(c *core.OpContext, ids []int64) (n int, err error) {
	if c.Inputs() > 3 {
		n, err = givenSegments(c, ids)
	} else {
		n, err = lastSegment(ids)
	}
	if err != nil {
		return 0, err
	}
	return n, checkSegments(ids, append(tf.Shape{n}, c.Input(0).Shape()[1:]...))
}

// givenSegments reads the number of segments from input 3.
func givenSegments(c *core.OpContext, ids []int64) (int, error) {
	if c.Input(3).Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "num_segments should be a scalar, not shape %s", c.Input(3).Shape().String())
	}
	n, err := scalarInt(c.Input(3), "num_segments")
	if err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "segment ids must be >= 0")
	}
	if k := len(ids) - 1; k >= 0 && ids[k] >= int64(n) {
		return 0, tf.Errorf(tf.InvalidArgument, "segment ids must be < num_segments")
	}
	return n, nil
}
