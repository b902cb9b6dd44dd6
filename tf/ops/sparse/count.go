package sparse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	counting("DenseCountSparseOutput", "values: T; weights: output_type", denseCountShape, readDense)
	counting("SparseCountSparseOutput", "indices: int64; values: T; dense_shape: int64; weights: output_type", sparseCountShape, readSparse)
	counting("RaggedCountSparseOutput", "splits: int64; values: T; weights: output_type", raggedCountShape, readRagged)
}

func counting(name, in string, shape func(*core.Infer) error, read func(*core.OpContext) (*counted, error)) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: "output_indices: int64; output_values: output_type; output_dense_shape: int64",
		Attrs: "T: {int32, int64}; minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; output_type: {int32, int64, float, double}",
		Shape: shape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("output_type", byType{
			tf.Int32: count[int32](read), tf.Int64: count[int64](read), tf.Float32: count[float32](read), tf.Float64: count[float64](read),
		}),
	})
}

// CountOpts are the optional attributes of ops that count: how many columns the
// result has at least; how many at most, beyond which values are left out, 0
// for any number; and whether it tells only that a value is there.
type CountOpts struct {
	MinLength, MaxLength int
	Binary               bool
}

// Apply sets the attributes.
func (o CountOpts) Apply(s *tf.Spec) {
	s.Set("minlength", cmp.Or(o.MinLength, -1))
	s.Set("maxlength", cmp.Or(o.MaxLength, -1))
	s.Set("binary_output", o.Binary)
}

// DenseCountSparseOutput returns how often each integer occurs in x, or in
// each of its rows. Weights, of the shape of x or none, add up instead of
// ones; their type is that of the result. x is int32 or int64 with one or two
// dimensions, and weights are int32, int64, float32 or float64; the result
// has as many columns as the greatest value needs. Another rank of x,
// negative values, a matrix without rows, and weights of another shape fail
// with INVALID_ARGUMENT in the step, shapes of x and weights that differ when
// the graph is built. Its options are [CountOpts].
func DenseCountSparseOutput(x, weights tf.Output, opts ...tf.Option) Tensor {
	return countOf("DenseCountSparseOutput", opts, x, weights)
}

// SparseCountSparseOutput is DenseCountSparseOutput for a sparse tensor.
// Values are int32 or int64. Rows are told by the first index; a tensor of
// rank 1 is one row. Parts that do not fit together are refused with
// INVALID_ARGUMENT, when the graph is built if their shapes are known, else
// in the step. Indices out of bounds, negative values, and weights of another
// shape than Values fail with INVALID_ARGUMENT in the step.
// Its options are [CountOpts].
func SparseCountSparseOutput(x Tensor, weights tf.Output, opts ...tf.Option) Tensor {
	return countOf("SparseCountSparseOutput", opts, x.Indices, x.Values, x.DenseShape, weights)
}

// RaggedCountSparseOutput is DenseCountSparseOutput for ragged rows. splits
// is int64, values int32 or int64. Splits that do not go from 0 to the number
// of values, fewer than two of them, negative values, and weights of another
// shape than values fail with INVALID_ARGUMENT in the step.
// Its options are [CountOpts].
func RaggedCountSparseOutput(splits, values, weights tf.Output, opts ...tf.Option) Tensor {
	return countOf("RaggedCountSparseOutput", opts, splits, values, weights)
}

func countOf(op string, opts []tf.Option, in ...tf.Output) Tensor {
	return tensorOf(tf.Apply(nil, op, in, tf.Join(opts, CountOpts{})...))
}

// sparseOutputs sets the shapes of a sparse tensor of some rank, -1 if unknown.
func sparseOutputs(c *core.Infer, rank int) {
	c.Set(0, tf.Shape{-1, rank})
	c.Set(1, tf.Shape{-1})
	c.Set(2, tf.Shape{rank})
}

func rankOf(s tf.Shape) int {
	if s == nil {
		return -1
	}
	return len(s)
}

func denseCountShape(c *core.Infer) error {
	s := c.In(0)
	if w := c.In(1); w == nil || !slices.Contains(w, 0) {
		m, ok := s.Merge(w)
		if !ok {
			return invalid("Shapes must be equal: values %v, weights %v", s, w)
		}
		s = m
	}
	sparseOutputs(c, rankOf(s))
	return nil
}

func sparseCountShape(c *core.Infer) error {
	s, err := c.Rank(0, 2)
	if err == nil {
		sparseOutputs(c, s[1])
	}
	return err
}

func raggedCountShape(c *core.Infer) error {
	rank := rankOf(c.In(1))
	if rank >= 0 {
		rank++
	}
	sparseOutputs(c, rank)
	return nil
}

// counted is what is counted: values, the row of each, and how many rows there
// are; a vector has none.
type counted struct {
	values, weights *core.Tensor
	what            string // the name of values in messages
	row             func(i int) int64
	rows            int
	vector          bool
}

// check wants values to count, and as many weights as there are.
func (x *counted) check(numbers []int64) error {
	if slices.ContainsFunc(numbers, func(v int64) bool { return v < 0 }) {
		return invalid("Input values must all be non-negative")
	}
	if w := x.weights.Shape(); x.weights.Len() > 0 && !w.Equal(x.values.Shape()) {
		return invalid("Weights and %s must have the same shape. Weight shape: %s; %s shape: %s", x.what, w.String(), x.what, x.values.Shape().String())
	}
	return nil
}

func readDense(c *core.OpContext) (*counted, error) {
	t := c.Input(0)
	x := &counted{values: t, weights: c.Input(1), what: "data", rows: 1, vector: t.Rank() == 1, row: func(int) int64 { return 0 }}
	if t.Rank() != 1 && t.Rank() != 2 {
		return nil, invalid("Input must be a 1 or 2-dimensional tensor. Got: %s", t.Shape().String())
	}
	if t.Rank() == 2 {
		width := int64(max(t.Dim(1), 1))
		x.rows, x.row = t.Dim(0), func(i int) int64 { return int64(i) / width }
	}
	if x.rows == 0 {
		return nil, invalid("Invalid input: Shapes dimension cannot be 0.")
	}
	return x, nil
}

func readRagged(c *core.OpContext) (*counted, error) {
	splits, n := core.Data[int64](c.Input(0)), c.Input(1).Len()
	x := &counted{values: c.Input(1), weights: c.Input(2), what: "values", rows: len(splits) - 1}
	switch {
	case x.rows < 1:
		return nil, invalid("Must provide at least 2 elements for the splits argument")
	case splits[0] != 0:
		return nil, invalid("Splits must start with 0, not with %d", splits[0])
	case splits[x.rows] != int64(n):
		return nil, invalid("Splits must end with the number of values, got %d instead of %d", splits[x.rows], n)
	}
	row := 0
	x.row = func(i int) int64 {
		for row < x.rows-1 && int64(i) >= splits[row+1] {
			row++
		}
		return int64(row)
	}
	return x, nil
}

func readSparse(c *core.OpContext) (*counted, error) {
	at, vals, shape := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case at.Rank() != 2:
		return nil, invalid("Input indices must be a 2-dimensional tensor. Got: %s", at.Shape().String())
	case vals.Rank() != 1:
		return nil, invalid("Input values must be a vector. Got: %s", vals.Shape().String())
	case shape.Rank() != 1:
		return nil, invalid("Input shape must be a vector. Got: %s", shape.Shape().String())
	case vals.Len() != at.Dim(0):
		return nil, invalid("Number of values must match first dimension of indices.Got %d values, indices shape: %s", vals.Len(), at.Shape().String())
	case shape.Len() != at.Dim(1):
		return nil, invalid("Number of dimensions must match second dimension of indices.Got %d dimensions, indices shape: %s", shape.Len(), at.Shape().String())
	case shape.Len() == 0:
		return nil, invalid("The shape argument requires at least one element.")
	}
	index, s, rank := core.Data[int64](at), core.Data[int64](shape), shape.Len()
	for i, v := range index {
		if k := i % rank; v < 0 || v >= s[k] {
			return nil, invalid("Invalid index value at %d: dimension %d has value %d which is not in [0, %d) (as given by dense shape %s", i/rank, k, v, s[k], vectorText(s))
		}
	}
	x := &counted{values: vals, weights: c.Input(3), what: "values", rows: 1, vector: rank == 1, row: func(int) int64 { return 0 }}
	if rank > 1 {
		x.rows, x.row = int(s[0]), func(i int) int64 { return index[i*rank] }
	}
	if x.rows <= 0 || x.rows > math.MaxInt32 {
		return nil, invalid("Cannot allocate %d batches, is the dense shape too wide?", x.rows)
	}
	return x, nil
}

// one is an occurrence: where a value is counted, and by how much.
type one[W any] struct {
	row, value int64
	by         W
}

func count[W int32 | int64 | float32 | float64](read func(*core.OpContext) (*counted, error)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		least, most, binary := int64(n.Int("minlength")), int64(n.Int("maxlength")), n.Bool("binary_output")
		return core.Compute(func(c *core.OpContext) error {
			x, err := read(c)
			if err != nil {
				return err
			}
			numbers := wide(x.values)
			if err := x.check(numbers); err != nil {
				return err
			}
			all, highest := occurrences[W](x, numbers, most)
			columns := most
			if most <= 0 {
				columns = max(highest+1, least)
			}
			return putCounts(c, merged(all, binary), x, columns)
		}), nil
	}
}

func wide(t *core.Tensor) []int64 {
	if t.DType() == tf.Int64 {
		return core.Data[int64](t)
	}
	out := core.Make[int64](t.Len())
	elementwise.Cast(out, core.Data[int32](t))
	return out
}

// occurrences lists what is counted, values below most if that is positive,
// and the highest value.
func occurrences[W int32 | int64 | float32 | float64](x *counted, numbers []int64, most int64) (all []one[W], highest int64) {
	weights := core.Data[W](x.weights)
	for i, v := range numbers {
		row := x.row(i)
		if most > 0 && v >= most {
			continue
		}
		by := W(1)
		if len(weights) > 0 {
			by = weights[i]
		}
		all, highest = append(all, one[W]{row, v, by}), max(highest, v)
	}
	return all, highest
}

// merged sorts occurrences and adds up those of one value in a row, in the order
// in which they came.
func merged[W int32 | int64 | float32 | float64](all []one[W], binary bool) []one[W] {
	slices.SortStableFunc(all, func(a, b one[W]) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.value, b.value))
	})
	out := all[:0]
	for _, o := range all {
		if binary {
			o.by = 1
		}
		last := len(out) - 1
		switch {
		case last < 0 || out[last].row != o.row || out[last].value != o.value:
			out = append(out, o)
		case !binary:
			out[last].by += o.by
		}
	}
	return out
}

func putCounts[W int32 | int64 | float32 | float64](c *core.OpContext, counts []one[W], x *counted, columns int64) error {
	rank, shape := 2, []int64{int64(x.rows), columns}
	if x.vector {
		rank, shape = 1, shape[1:]
	}
	at := core.Make[int64](rank * len(counts))[:0]
	for _, o := range counts {
		at = append(at, []int64{o.row, o.value}[2-rank:]...)
	}
	if err := allocInts(c, 0, tf.Shape{len(counts), rank}, at); err != nil {
		return err
	}
	out, err := c.Alloc(1, tf.TypeOf[W](), tf.Shape{len(counts)})
	if err != nil {
		return err
	}
	for i, o := range counts {
		core.Data[W](out)[i] = o.by
	}
	return allocInts(c, 2, tf.Shape{rank}, shape)
}

// vectorText shows a vector of int64 as TensorFlow's messages do, of which they
// cut off all but the first elements.
func vectorText(v []int64) string {
	const shown = 3
	words := core.Make[string](shown)[:0]
	for _, x := range v[:min(len(v), shown)] {
		words = append(words, strconv.FormatInt(x, 10))
	}
	text := strings.Join(words, " ")
	if len(v) > shown {
		text += "..."
	}
	return fmt.Sprintf("Tensor<type: int64 shape: [%d] values: %s>", len(v), text)
}
