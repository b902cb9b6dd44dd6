package sparse

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, op := range []struct {
		rowForm
		in, indices string
		shape       func(*core.Infer) error
	}{
		{sparseRowsForm, "indices: int64; values: T; dense_shape: int64; default_value: T", "output_indices", fillShape},
		{raggedRowsForm, "value_rowids: int64; values: T; nrows: int64; default_value: T", "output_value_rowids", raggedFillShape},
	} {
		core.Register(core.OpDef{
			Name: op.name, In: op.in, Out: op.indices + ": int64; output_values: T; empty_row_indicator: bool; reverse_index_map: int64", Attrs: "T: type",
			Shape: op.shape, Grad: tf.GradFunc(fillGrad), Kernels: core.ByType("T", sameFor(computed(op.fill), anything...)),
		})
		core.Register(core.OpDef{
			Name: op.name + "Grad", In: "reverse_index_map: int64; grad_values: T", Out: "d_values: T; d_default_value: T", Attrs: "T: type",
			Shape: fillGradShape, NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("T", byType{
				tf.Float32: computed(fillBack[float32]), tf.Float64: computed(fillBack[float64]),
				tf.Float16: computed(fillBack[float32]), tf.BFloat16: computed(fillBack[float32]),
				tf.Int8: computed(fillBack[int8]), tf.Int16: computed(fillBack[int16]), tf.Int32: computed(fillBack[int32]), tf.Int64: computed(fillBack[int64]),
				tf.Uint8: computed(fillBack[uint8]), tf.Uint16: computed(fillBack[uint16]), tf.Uint32: computed(fillBack[uint32]), tf.Uint64: computed(fillBack[uint64]),
				tf.Complex64: computed(fillBack[complex64]), tf.Complex128: computed(fillBack[complex128]),
			}),
		})
	}
}

// SparseFillEmptyRows returns t with def, a scalar, as the first element of
// every row, the part with one first index, that has none. Empty tells which
// rows that were, and reverse where each value of t has come to. t has rank 1
// or more and any type, which def has too; empty is a bool vector, reverse an
// int64 vector. The result is in the order of the rows. Parts that do not fit
// together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. A def that is no scalar, first
// indices out of bounds, and elements in a shape without rows are refused
// with the same code.
func SparseFillEmptyRows(t Tensor, def tf.Output, opts ...tf.Option) (filled Tensor, empty, reverse tf.Output) {
	op := tf.Apply(nil, "SparseFillEmptyRows", append(flat(t), def), opts...)
	return Tensor{op.Output(0), op.Output(1), t.DenseShape}, op.Output(2), op.Output(3)
}

// SparseFillEmptyRowsGrad returns the gradients of SparseFillEmptyRows for
// the values and for the scalar, given that for the values of its result.
// reverse is an int64 vector, dy a vector of any integer, floating-point or
// complex type, which dvalues, of the shape of reverse, and ddef, a scalar,
// keep. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Elements of reverse that are no
// index into dy fail with INVALID_ARGUMENT in the step.
func SparseFillEmptyRowsGrad(reverse, dy tf.Output, opts ...tf.Option) (dvalues, ddef tf.Output) {
	op := tf.Apply(nil, "SparseFillEmptyRowsGrad", []tf.Output{reverse, dy}, opts...)
	return op.Output(0), op.Output(1)
}

// RaggedFillEmptyRows is SparseFillEmptyRows for a ragged tensor of n rows
// (an int64 scalar), given as values and the row of each. rowIDs is an int64
// vector, values a vector of any type, which def, a scalar, has too. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step. Row ids outside [0, n) and a negative n fail
// with INVALID_ARGUMENT in the step.
func RaggedFillEmptyRows(rowIDs, values, n, def tf.Output, opts ...tf.Option) (filledIDs, filled, empty, reverse tf.Output) {
	op := tf.Apply(nil, "RaggedFillEmptyRows", []tf.Output{rowIDs, values, n, def}, opts...)
	return op.Output(0), op.Output(1), op.Output(2), op.Output(3)
}

// RaggedFillEmptyRowsGrad is SparseFillEmptyRowsGrad for RaggedFillEmptyRows.
// Types, shapes and errors are the same.
func RaggedFillEmptyRowsGrad(reverse, dy tf.Output, opts ...tf.Option) (dvalues, ddef tf.Output) {
	op := tf.Apply(nil, "RaggedFillEmptyRowsGrad", []tf.Output{reverse, dy}, opts...)
	return op.Output(0), op.Output(1)
}

func fillShape(c *core.Infer) error {
	rank, err := knownRank(c, 0)
	if err != nil {
		return err
	}
	if _, err := c.Rank(3, 0); err != nil {
		return err
	}
	c.Set(0, tf.Shape{-1, rank})
	c.Set(1, tf.Shape{-1})
	n := -1
	if s := c.ConstShape(2); len(s) > 0 {
		n = max(s[0], -1)
	}
	return fillTail(c, n)
}

// fillTail gives shapes to what tells which of n rows have been filled.
func fillTail(c *core.Infer, n int) error {
	c.Set(2, tf.Shape{n})
	count, err := mergeDim(firstSize(c.In(0)), firstSize(c.In(1)))
	c.Set(3, tf.Shape{count})
	return err
}

// firstSize returns the first size of s, -1 if it is not known.
func firstSize(s tf.Shape) int {
	if len(s) == 0 {
		return -1
	}
	return s[0]
}

func raggedFillShape(c *core.Infer) error {
	for i, rank := range []int{1, 1, 0, 0} {
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{-1})
	c.Set(1, tf.Shape{-1})
	n := -1
	if v, ok := c.ConstInts(2); ok {
		n = max(v[0], -1)
	}
	return fillTail(c, n)
}

func fillGradShape(c *core.Infer) error {
	s, err := c.Rank(0, 1)
	if err != nil {
		return err
	}
	c.Set(0, s)
	c.Set(1, tf.Shape{})
	_, err = c.Rank(1, 1)
	return err
}

func fillGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	if dy[1].IsZero() {
		return make([]tf.Gradient, 4)
	}
	grads := tf.Apply(nil, op.OpName()+"Grad", []tf.Output{op.Output(3), dy[1]})
	return tf.Grads(tf.Output{}, grads.Output(0), tf.Output{}, grads.Output(1))
}

// A rowForm is how the rows of values are given: by the first column of a
// matrix of indices, or by a vector.
type rowForm struct {
	name          string
	indices, what string // names in messages
	indexRank     int
}

var (
	sparseRowsForm = rowForm{"SparseFillEmptyRows", "indices", "matrix", 2}
	raggedRowsForm = rowForm{"RaggedFillEmptyRows", "value_rowids", "vector", 1}
)

// check checks the inputs' ranks and returns the number of rows.
func (f rowForm) check(c *core.OpContext) (int, error) {
	at, vals, n, def := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	switch {
	case n.Rank() != f.indexRank-1 && f.indexRank == 2:
		return 0, invalid("dense_shape must be a vector, saw: %s", n.Shape().String())
	case n.Rank() != f.indexRank-1:
		return 0, invalid("nrows must be a scalar, saw: %s", n.Shape().String())
	case at.Rank() != f.indexRank:
		return 0, invalid("%s must be a %s, saw: %s", f.indices, f.what, at.Shape().String())
	case vals.Rank() != 1:
		return 0, invalid("values must be a vector, saw: %s", vals.Shape().String())
	case at.Dim(0) != vals.Len():
		return 0, invalid("The length of `values` (%d) must match the first dimension of `%s` (%d).", vals.Len(), f.indices, at.Dim(0))
	case def.Rank() != 0:
		return 0, invalid("default_value must be a scalar, saw: %s", def.Shape().String())
	case n.Len() == 0:
		return 0, invalid("Dense shape cannot be empty.")
	case f.indexRank == 2 && at.Dim(1) != n.Len():
		return 0, invalid("The length of `dense_shape` (%d) must match the second dimension of `indices` (%d).", n.Len(), at.Dim(1))
	}
	rows := int(core.Data[int64](n)[0])
	if rows == 0 && vals.Len() > 0 {
		return 0, invalid("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = %d", vals.Len())
	}
	return rows, checkSizes(tf.Shape{rows})
}

// rowStarts counts the values of rows and notes where each row begins when empty
// ones have one value, and at the end their number in all.
func rowStarts(starts, at []int64, width int, empty []bool) (ordered bool, err error) {
	clear(starts)
	ordered = true
	last := int64(0)
	for i := range len(at) / max(width, 1) {
		row := at[i*width]
		if row < 0 || row >= int64(len(empty)) {
			return false, invalid("indices(%d, 0) is invalid: %d >= %d", i, row, len(empty))
		}
		ordered, last = ordered && row >= last, row
		starts[row+1]++
	}
	for r := range empty {
		empty[r] = starts[r+1] == 0
		starts[r+1] = starts[r] + max(starts[r+1], 1)
	}
	return ordered, nil
}

func (f rowForm) fill(c *core.OpContext) error {
	n, err := f.check(c)
	if err != nil {
		return err
	}
	emptyOut, err := c.Alloc(2, tf.Bool, tf.Shape{n})
	if err != nil {
		return err
	}
	reverseOut, err := c.Alloc(3, tf.Int64, tf.Shape{c.Input(1).Len()})
	if err != nil {
		return err
	}
	at, width := core.Data[int64](c.Input(0)), 1
	if f.indexRank == 2 {
		width = c.Input(0).Dim(1)
	}
	if width == 0 && c.Input(1).Len() > 0 {
		return invalid("indices must have a column for the rows, saw: %s", c.Input(0).Shape().String())
	}
	empty, reverse := core.Data[bool](emptyOut), core.Data[int64](reverseOut)
	room, err := c.Temp(tf.Int64, tf.Shape{n + 1})
	if err != nil {
		return err
	}
	defer room.Release()
	starts := core.Data[int64](room)
	ordered, err := rowStarts(starts, at, width, empty)
	if err != nil {
		return err
	}
	if ordered && starts[n] == int64(len(reverse)) {
		for i := range reverse {
			reverse[i] = int64(i)
		}
		c.Forward(0, 0)
		c.Forward(1, 1)
		return nil
	}
	return f.write(c, starts, empty, reverse, width)
}

// write puts the values at their places, and the default into empty rows.
func (f rowForm) write(c *core.OpContext, starts []int64, empty []bool, reverse []int64, width int) error {
	n := int(starts[len(empty)])
	outAt, err := c.Alloc(0, tf.Int64, tf.Shape{n, width}[:f.indexRank])
	if err != nil {
		return err
	}
	outVals, err := c.Alloc(1, c.Input(1).DType(), tf.Shape{n})
	if err != nil {
		return err
	}
	at, vals := core.Data[int64](c.Input(0)), c.Input(1)
	dst, put := core.Data[int64](outAt), rows.Mover(outVals, vals)
	def := rows.Mover(outVals, c.Input(3))
	for r, is := range empty {
		if is {
			k := int(starts[r])
			clear(dst[k*width : (k+1)*width])
			if width > 0 {
				dst[k*width] = int64(r)
			}
			def(k, 0, 1)
		}
	}
	for i := range reverse {
		row := at[i*width]
		k := int(starts[row])
		starts[row]++
		copy(dst[k*width:(k+1)*width], at[i*width:(i+1)*width])
		put(k, i, 1)
		reverse[i] = int64(k)
	}
	return nil
}

// fillBack gathers the gradients of values; what is not gathered is the
// default's.
func fillBack[T numeric.Number](c *core.OpContext) error {
	reverse, dy := c.Input(0), c.Input(1)
	if reverse.Rank() != 1 {
		return invalid("reverse_index_map must be a vector, saw: %s", reverse.Shape().String())
	}
	if dy.Rank() != 1 {
		return invalid("grad_values must be a vector, saw: %s", dy.Shape().String())
	}
	dvalues, err := c.Alloc(0, dy.DType(), reverse.Shape())
	if err != nil {
		return err
	}
	ddef, store, err := result[T](c, 1, dy.DType(), tf.Shape{})
	if err != nil {
		return err
	}
	take, taken := rows.Mover(dvalues, dy), core.Make[bool](dy.Len())
	for i, k := range core.Data[int64](reverse) {
		if k < 0 || k >= int64(dy.Len()) {
			return invalid("Elements in reverse index must be in [0, %d) but got %d", dy.Len(), k)
		}
		take(i, int(k), 1)
		taken[k] = true
	}
	ddef[0] = 0
	for k, v := range values[T](dy) {
		if !taken[k] {
			ddef[0] += v
		}
	}
	store()
	return nil
}
