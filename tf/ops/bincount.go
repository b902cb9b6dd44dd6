package ops

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const weightTypes = "T: {int32, int64, float, double}"
	const attrs = "Tidx: {int32, int64}; " + weightTypes + "; binary_output: bool = false"
	core.Register(core.OpDef{
		Name: "Bincount", In: "arr: int32; size: int32; weights: T", Out: "bins: T", Attrs: weightTypes,
		Shape: bincountShape(func(*core.Infer) tf.Shape { return tf.Shape{} }), NoGrad: core.NoGradientDefined, Kernels: countKernels(countAll[int32], countAll[int64], countAll[float32], countAll[float64]),
	})
	core.Register(core.OpDef{
		Name: "DenseBincount", In: "input: Tidx; size: Tidx; weights: T", Out: "output: T", Attrs: attrs,
		Shape: bincountShape(denseRows), NoGrad: core.NoGradientDefined, Kernels: countKernels(countDense[int32], countDense[int64], countDense[float32], countDense[float64]),
	})
	core.Register(core.OpDef{
		Name: "RaggedBincount", In: "splits: int64; values: Tidx; size: Tidx; weights: T", Out: "output: T", Attrs: attrs,
		Shape: raggedBincountShape, NoGrad: core.NoGradientDefined, Kernels: countKernels(countRagged[int32], countRagged[int64], countRagged[float32], countRagged[float64]),
	})
	core.Register(core.OpDef{
		Name: "SparseBincount", In: "indices: int64; values: Tidx; dense_shape: int64; size: Tidx; weights: T", Out: "output: T", Attrs: attrs,
		Shape: sparseBincountShape, NoGrad: core.NoGradientDefined, Kernels: countKernels(countSparse[int32], countSparse[int64], countSparse[float32], countSparse[float64]),
	})
}

// BincountOpts are the optional attributes of DenseBincount and its like: with
// Binary, bins tell whether there is a value at all.
type BincountOpts struct{ Binary bool }

// Apply sets the attributes.
func (o BincountOpts) Apply(s *tf.Spec) { s.Set("binary_output", o.Binary) }

// Bincount returns how often each of the integers 0 to size-1 comes in x, or
// the sum of the weights it comes with if there are any. x is of int32 and of
// any shape, size an int32 scalar. weights are as many as the elements of x, or none;
// they are int32, int64, float32 or float64, and so is the result, a vector of
// size elements. Values of size or more are left out. Of many values the weights
// are summed in parts first, which depend on the numbers of values and of bins. A
// negative value, a negative size and weights of another number fail the step with
// INVALID_ARGUMENT; a size that is known is checked when the graph is built.
func Bincount(x, size, weights tf.Output, opts ...tf.Option) tf.Output {
	return apply("Bincount", opts, x, size, weights)
}

// DenseBincount is Bincount of a vector, or of each row of a matrix. x and size
// have one type, int32 or int64. The result is a vector of size elements, or a
// matrix with a row for each of x. An x of more than two dimensions fails the
// step with INVALID_ARGUMENT; otherwise types, weights and errors are those of
// Bincount. Its options are [BincountOpts].
func DenseBincount(x, size, weights tf.Output, opts ...tf.Option) tf.Output {
	return apply("DenseBincount", opts, x, size, weights)
}

// RaggedBincount is Bincount of each row of a ragged matrix. splits are int64
// numbers that begin with 0 and end with the number of values; values and size
// have one type, int32 or int64. The result is a matrix with a row for each row
// of values. There are as many weights as values, or none. Other splits or
// weights, and negative values, fail the step with INVALID_ARGUMENT.
// Its options are [BincountOpts].
func RaggedBincount(splits, values, size, weights tf.Output, opts ...tf.Option) tf.Output {
	return apply("RaggedBincount", opts, splits, values, size, weights)
}

// SparseBincount is DenseBincount of a sparse tensor. values and size have one
// type, int32 or int64; indices is an int64 matrix with a row for each value,
// and denseShape an int64 vector. Rows are told apart by the first index if
// denseShape has more than one element; negative values are then left out.
// Indices outside denseShape, parts that do not fit together and negative
// values of a vector fail the step with INVALID_ARGUMENT. Types and weights
// are those of Bincount. Its options are [BincountOpts].
func SparseBincount(indices, values, denseShape, size, weights tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseBincount", opts, indices, values, denseShape, size, weights)
}

func countKernels(i32, i64, f32, f64 core.NewKernel) core.KernelSet {
	return core.ByType("T", byType{tf.Int32: i32, tf.Int64: i64, tf.Float32: f32, tf.Float64: f64})
}

// knownSize returns the size in input i, -1 if it is not known.
func knownSize(c *core.Infer, i int) (int, error) {
	if s := c.In(i); len(s) != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Shape must be rank 0 but is rank %d: size has shape %v", len(s), s)
	}
	v, ok := c.ConstInts(i)
	switch {
	case !ok || len(v) != 1:
		return -1, nil
	case v[0] < 0:
		return 0, tf.Errorf(tf.InvalidArgument, "size (%d) must be non-negative", v[0])
	}
	return v[0], nil
}

func denseRows(c *core.Infer) tf.Shape {
	s := c.In(0)
	if len(s) > 1 {
		return s[:1]
	}
	if s == nil {
		return nil
	}
	return tf.Shape{}
}

// bincountShape puts the bins after the rows.
func bincountShape(rows func(*core.Infer) tf.Shape) func(*core.Infer) error {
	return func(c *core.Infer) error {
		n, err := knownSize(c, 1)
		if r := rows(c); r != nil {
			c.Set(0, append(r.Clone(), n))
		}
		return err
	}
}

func raggedBincountShape(c *core.Infer) error {
	n, err := knownSize(c, 2)
	c.Set(0, tf.Shape{-1, n})
	if s := c.In(0); len(s) == 1 && s[0] > 0 {
		c.Set(0, tf.Shape{s[0] - 1, n})
	}
	return err
}

func sparseBincountShape(c *core.Infer) error {
	n, err := knownSize(c, 3)
	switch s := c.ConstShape(2); {
	case len(s) == 1:
		c.Set(0, tf.Shape{n})
	case len(s) > 1:
		c.Set(0, tf.Shape{s[0], n})
	}
	return err
}

// A counter adds values to the bins of one output.
type counter[T numeric.Real] struct {
	bins    []T
	size    int
	weights []T
	binary  bool
}

// newCounter makes the output, of the given rows, for values of which there
// are as many as weights, if any.
func newCounter[T interface {
	numeric.Real
	tf.Elem
}](c *core.OpContext, rows tf.Shape, size, weights, values *core.Tensor) (*counter[T], error) {
	n, err := binSize(size)
	if err != nil {
		return nil, err
	}
	if !weights.Shape().Equal(values.Shape()) && weights.Len() != 0 && !(weighsByPlace(c.Node.OpName()) && weights.Len() == values.Len()) {
		return nil, tf.Errorf(tf.InvalidArgument, "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights equal to 1. Received %s",
			weights.Shape().String())
	}
	out, err := c.Alloc(0, tf.TypeOf[T](), append(rows.Clone(), n))
	if err != nil {
		return nil, err
	}
	clearCells(out)
	return &counter[T]{bins: core.Data[T](out), size: n, weights: core.Data[T](weights), binary: c.Node.Bool("binary_output")}, nil
}

// weighsByPlace reports whether an op takes weights of any shape that are as many as
// the values.
func weighsByPlace(op string) bool { return op == "Bincount" || op == "RaggedBincount" }

func binSize(t *core.Tensor) (int, error) {
	if t.Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Shape must be rank 0 but is rank %d", t.Rank())
	}
	n, err := scalarInt(t, "size")
	if err == nil && n < 0 {
		err = tf.Errorf(tf.InvalidArgument, "size (%d) must be non-negative", n)
	}
	return n, err
}

// add counts value i, v, in a row of bins.
func (b *counter[T]) add(row, i int, v int64) error {
	switch at := row*b.size + int(v); {
	case v < 0:
		return tf.Errorf(tf.InvalidArgument, "Input arr must be non-negative!")
	case v >= int64(b.size):
	case b.binary:
		b.bins[at] = 1
	case len(b.weights) == 0:
		b.bins[at]++
	default:
		b.bins[at] += b.weights[i]
	}
	return nil
}

func countAll[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if n := c.Input(2).Len(); n != 0 && n != c.Input(0).Len() {
			return tf.Errorf(tf.InvalidArgument, "Input indices and weights must have the same size.")
		}
		b, err := newCounter[T](c, tf.Shape{}, c.Input(1), c.Input(2), c.Input(0))
		if err != nil {
			return err
		}
		return b.addRows(c, c.Input(0), max(1, c.Input(0).Len()))
	}), nil
}

// addRows counts values that lie in rows of equal width.
func (b *counter[T]) addRows(c *core.OpContext, values *core.Tensor, width int) error {
	ok := false
	if values.DType() == tf.Int32 {
		ok = countRows(c, b, core.Data[int32](values), width)
	} else {
		ok = countRows(c, b, rows.Indices(values), width)
	}
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Input arr must be non-negative!")
	}
	return nil
}

func countDense[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() > 2 {
			return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 2 but is rank %d", x.Rank())
		}
		batch, width := tf.Shape{}, max(1, x.Len())
		if x.Rank() == 2 {
			batch, width = x.Shape()[:1], max(1, x.Dim(1))
		}
		b, err := newCounter[T](c, batch, c.Input(1), c.Input(2), x)
		if err != nil {
			return err
		}
		return b.addRows(c, x, width)
	}), nil
}

func countRagged[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		splits, values := rows.Indices(c.Input(0)), rows.Indices(c.Input(1))
		switch {
		case len(splits) == 0:
			return tf.Errorf(tf.InvalidArgument, "Splits must be non-empty")
		case splits[0] != 0:
			return tf.Errorf(tf.InvalidArgument, "Splits must start with 0, not with %d", splits[0])
		case splits[len(splits)-1] != int64(len(values)):
			return tf.Errorf(tf.InvalidArgument, "Splits must end with the number of values, got %d instead of %d", splits[len(splits)-1], len(values))
		}
		b, err := newCounter[T](c, tf.Shape{len(splits) - 1}, c.Input(2), c.Input(3), c.Input(1))
		if err != nil {
			return err
		}
		row := 0
		for i, v := range values {
			for row < len(splits)-2 && int64(i) >= splits[row+1] {
				row++
			}
			if v < 0 {
				return tf.Errorf(tf.InvalidArgument, "Input must be non-negative")
			}
			if err := b.add(row, i, v); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func countSparse[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		idx, values, shape := c.Input(0), c.Input(1), c.Input(2)
		s, err := shapeOf(shape, "dense_shape")
		if err != nil {
			return err
		}
		if _, err := binSize(c.Input(3)); err != nil {
			return err // before what is said of the values
		}
		if err := checkSparseValues(idx, values, s); err != nil {
			return err
		}
		batch := tf.Shape{}
		if len(s) > 1 {
			batch = s[:1]
		}
		b, err := newCounter[T](c, batch, c.Input(3), c.Input(4), values)
		if err != nil {
			return err
		}
		if len(s) == 1 {
			return b.addRows(c, values, max(1, values.Len()))
		}
		return b.addSparse(core.Data[int64](idx), rows.Indices(values), len(s))
	}), nil
}

// addSparse counts the values at indices of so many dimensions.
func (b *counter[T]) addSparse(at, values []int64, rank int) error {
	for i, v := range values {
		if v < 0 {
			continue // as a value of size or more
		}
		if err := b.add(int(at[i*rank]), i, v); err != nil {
			return err
		}
	}
	return nil
}

// checkSparseValues checks the parts of a sparse tensor of shape s.
func checkSparseValues(idx, values *core.Tensor, s tf.Shape) error {
	if err := checkSizes(s); err != nil {
		return err
	}
	if idx.Rank() != 2 || values.Rank() != 1 || idx.Dim(1) != len(s) {
		return tf.Errorf(tf.InvalidArgument, "Input indices must be a matrix with a column for each dimension. Got indices shape: %s, dense shape: %s", idx.Shape().String(), s.String())
	}
	if idx.Dim(0) != values.Len() {
		return tf.Errorf(tf.InvalidArgument, "Number of elements in indices (%d) and values (%d) do not match", idx.Dim(0), values.Len())
	}
	if len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "The shape argument requires at least one element.")
	}
	w := newSlices(idx, s)
	for i := range idx.Dim(0) {
		if _, ok := w.offset(i); !ok {
			return tf.Errorf(tf.InvalidArgument, "Sparse index tuple indices[%d, :] = [%s] is out of bounds", i, w.text(i))
		}
	}
	return nil
}
