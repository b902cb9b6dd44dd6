package ragged

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RaggedTensorToTensor", In: "shape: Tshape; values: T; default_value: T; row_partition_tensors: num_row_partition_tensors * Tindex", Out: "result: T",
		Attrs: "T: type; Tindex: {int64, int32}; Tshape: {int64, int32}; num_row_partition_tensors: int >= 1; row_partition_types: list(string)",
		Shape: toTensorShape, Grad: tf.GradFunc(toTensorGrad), Kernels: core.ByType("T", sameFor(toTensor)),
	})
}

// The kinds of row partitions: the number of rows, which may only come first
// and before row ids, the row that each value is in, and where rows begin.
const (
	FirstDimSize = "FIRST_DIM_SIZE"
	ValueRowIDs  = "VALUE_ROWIDS"
	RowSplits    = "ROW_SPLITS"
)

// RaggedTensorToTensor returns a ragged tensor, given as values and partitions
// from the outside inwards of the kinds given, as a dense one of a shape.
// Sizes of -1, or all of them if the shape is the scalar -1, are as large as
// they need to be; what is too much is cut off, what is missing is def, which
// is repeated to the shape of a value. Shape and partitions are int32 or
// int64; values and def have one type, any but resource and variant. Unknown
// kinds, kinds in a wrong order, a shape of another number of dimensions or
// that contradicts the values', and a def that cannot be repeated are refused
// with INVALID_ARGUMENT, when the graph is built if the shapes are known, else
// in the step. So are, in the step, partitions that are empty or name more
// values than there are.
func RaggedTensorToTensor(shape, values, def tf.Output, partitions []tf.Output, kinds []string, opts ...tf.Option) tf.Output {
	in := append([]tf.Output{shape, values, def}, partitions...)
	own := []tf.Option{tf.Attr("row_partition_types", kinds), tf.Attr("num_row_partition_tensors", len(partitions))}
	return tf.Apply(nil, "RaggedTensorToTensor", in, tf.Join(opts, own...)...).Output(0)
}

// A layout is the kinds of partitions, without the number of rows that may come
// first.
type layout struct {
	kinds []string
	first int // index of the first partition of kinds: 1 if the number of rows is given
}

func newLayout(n *core.Node) (layout, error) {
	kinds := n.Strs("row_partition_types")
	for _, k := range kinds {
		if k != FirstDimSize && k != ValueRowIDs && k != RowSplits {
			return layout{}, invalid("Unknown string for partition info type: %s", k)
		}
	}
	switch {
	case len(kinds) == 0:
		return layout{}, invalid("Partition info types should not be empty")
	case slices.Contains(kinds[1:], FirstDimSize):
		return layout{}, invalid("FIRST_DIM_SIZE must be first")
	case kinds[0] == FirstDimSize && (len(kinds) < 2 || kinds[1] != ValueRowIDs):
		return layout{}, invalid("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS")
	case kinds[0] == ValueRowIDs:
		return layout{}, invalid("VALUE_ROWIDS cannot be first")
	case n.Int("num_row_partition_tensors") != len(kinds):
		return layout{}, invalid("Number of row partition tensors (%d) does not equal the number of row partition types(%d).", n.Int("num_row_partition_tensors"), len(kinds))
	case kinds[0] == FirstDimSize:
		return layout{kinds[1:], 1}, nil
	}
	return layout{kinds, 0}, nil
}

func toTensorShape(c *core.Infer) error {
	l, err := newLayout(c.Node)
	if err != nil {
		return err
	}
	for i := 3; i < c.NumIn(); i++ {
		rank := 1
		if i == 3 && l.first == 1 {
			rank = 0
		}
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	var s tf.Shape
	if in := c.In(0); in == nil || len(in) > 0 {
		s = c.ConstShape(0)
	} else if v, ok := c.ConstInts(0); ok && v[0] != -1 {
		return invalid("Received an invalid shape scalar with a static value that is not '-1': %s", describeShape(c, v[0]))
	}
	values := c.In(1)
	if values == nil {
		c.Set(0, s)
		return nil
	}
	if def := c.In(2); def != nil {
		if err := checkDefault(def, values); err != nil {
			return err
		}
	}
	s, err = l.combine(s, values)
	c.Set(0, s)
	return err
}

// describeShape writes a scalar that is given as the shape as TensorFlow does.
func describeShape(c *core.Infer, v int) string {
	return fmt.Sprintf("Tensor<type: %s shape: [] values: %d>", c.Type("Tshape").CName(), v)
}

// combine returns the shape of the result as far as that asked for, nil for any,
// and that of the values tell.
func (l layout) combine(s, values tf.Shape) (tf.Shape, error) {
	rank := len(l.kinds) + len(values)
	if s == nil {
		s = slices.Repeat(tf.Shape{-1}, rank)
	}
	if len(s) != rank {
		return nil, invalid("rt_input.shape and shape=%s are incompatible: rt_input.rank = %d but shape.rank = %d", s.String(), rank, len(s))
	}
	out := s.Clone()
	for i := 1; i < len(values); i++ {
		k := len(l.kinds) + i
		if s[k] >= 0 && values[i] >= 0 && s[k] != values[i] {
			return nil, invalid("rt_input.shape and shape=%s are incompatible: rt_input.shape[%d] = %d but shape[%d] = %d", s.String(), k, values[i], k, s[k])
		}
		out[k] = max(s[k], values[i])
	}
	return out, nil
}

// checkDefault wants a default that can be repeated to the shape of a value.
func checkDefault(def, values tf.Shape) error {
	if len(def) >= len(values) {
		return invalid("default_value.shape=%s and rt_input.flat_values.shape=%s are incompatible: default_value.rank = %d  must be less than rt_input.flat_values.rank = %d",
			def.String(), values.String(), len(def), len(values))
	}
	for i, d := range def {
		if v := values[i+1]; d >= 0 && v >= 0 && d != 1 && d != v {
			return invalid("default_value.shape=%s and rt_input.flat_values.shape=%s are incompatible: default_value.shape[%d] = %d but rt_input.flat_values.shape[%d] = %d",
				def.String(), values.String(), i-len(def), d, i-len(def), v)
		}
	}
	return nil
}

func toTensor(n *core.Node) (core.Kernel, error) {
	l, err := newLayout(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		values, def := c.Input(1), c.Input(2)
		parts, n, err := l.partitions(c)
		if err != nil {
			return err
		}
		s, err := l.resultShape(c, parts, n)
		if err != nil {
			return err
		}
		if n < 0 {
			return invalid("the number of rows must not be negative, got %d", n)
		}
		out, err := c.Alloc(0, values.DType(), s)
		if err != nil || out.Len() == 0 {
			return err
		}
		places, err := l.places(c, parts, n, s)
		if err != nil {
			return err
		}
		if err := fillDefault(out, def, s[len(l.kinds)+1:]); err != nil {
			return err
		}
		return putRows(out, values, places)
	}), nil
}

// partitions reads the partitions and the number of rows.
func (l layout) partitions(c *core.OpContext) (parts [][]int, n int, err error) {
	first, err := c.Input(3).Ints()
	if err != nil {
		return nil, 0, err
	}
	if len(first) == 0 {
		return nil, 0, invalid("Invalid first partition input. Tensor requires at least one element.")
	}
	if n = len(first) - 1; l.first == 1 {
		n = first[0]
	}
	parts = core.Make[[]int](len(l.kinds))
	for i := range parts {
		if parts[i], err = c.Input(3 + l.first + i).Ints(); err != nil {
			return nil, 0, err
		}
	}
	return parts, n, nil
}

// resultShape returns the shape of the result of n rows.
func (l layout) resultShape(c *core.OpContext, parts [][]int, n int) (tf.Shape, error) {
	values := c.Input(1).Shape()
	if err := checkDefault(c.Input(2).Shape(), values); err != nil {
		return nil, err
	}
	s, err := askedShape(c.Input(0))
	if err != nil {
		return nil, err
	}
	if s, err = l.combine(s, values); err != nil {
		return nil, err
	}
	if s[0] < 0 {
		s[0] = n
	}
	for i, p := range parts {
		if s[i+1] < 0 && l.kinds[i] == RowSplits {
			s[i+1] = longest(p)
		} else if s[i+1] < 0 {
			s[i+1] = longestRun(p)
		}
	}
	return s, nil
}

// askedShape reads the shape that a result is to have, nil for any.
func askedShape(t *core.Tensor) (tf.Shape, error) {
	v, err := t.Ints()
	if err != nil {
		return nil, err
	}
	switch {
	case t.Rank() == 0 && v[0] == -1:
		return nil, nil
	case t.Rank() == 0:
		return nil, invalid("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
	case t.Rank() != 1:
		return nil, invalid("Shape must be at most rank 1 but is rank %d", t.Rank())
	}
	for _, d := range v {
		if d < -1 {
			return nil, invalid("Dimension %d must be >= -1", d)
		}
	}
	return append(tf.Shape{}, v...), nil
}

// longestRun returns the length of the longest run of equal numbers.
func longestRun(ids []int) int {
	most, from := 0, 0
	for i := range ids {
		if ids[i] != ids[from] {
			from = i
		}
		most = max(most, i+1-from)
	}
	return most
}

// places returns where in a result of shape s, counted in values, each value
// goes; -1: it has no place.
func (l layout) places(c *core.OpContext, parts [][]int, n int, s tf.Shape) ([]int64, error) {
	step := s[1 : len(parts)+1].NumElements()
	places, err := buffer(c, n)
	if err != nil {
		return nil, err
	}
	for i := range places {
		places[i] = int64(i * step)
		if i >= s[0] {
			places[i] = -1
		}
	}
	for i, p := range parts {
		r := rowSize{s[i+1], step / max(s[i+1], 1)}
		step = r.step
		if l.kinds[i] == RowSplits {
			places, err = r.bySplits(c, places, p)
		} else {
			places, err = r.byIDs(c, places, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return places, nil
}

// fillDefault makes all values of out, of shape s, the default repeated.
func fillDefault(out, def *core.Tensor, s tf.Shape) error {
	if def.Len() == 1 {
		rows.Fill(out, def, 0, 0, out.Len())
		return nil
	}
	steps, ok := repeatedSteps(def.Shape(), s)
	if !ok {
		return invalid("Error broadcasting default_value")
	}
	w, put := s.NumElements(), rows.Mover(out, def)
	for i := range w {
		from, rest := 0, i
		for k := len(s) - 1; k >= 0; k-- {
			from += rest % s[k] * steps[k]
			rest /= s[k]
		}
		put(i, from, 1)
	}
	within := rows.Mover(out, out)
	for n := w; n < out.Len(); n *= 2 {
		within(n, 0, min(n, out.Len()-n))
	}
	return nil
}

// repeatedSteps returns how far apart neighbours are in a tensor of shape d that
// is repeated to shape s.
func repeatedSteps(d, s tf.Shape) (steps []int, ok bool) {
	steps = make([]int, len(s))
	step := 1
	for k := len(d) - 1; k >= 0; k-- {
		at := len(s) - len(d) + k
		if d[k] != 1 && d[k] != s[at] {
			return nil, false
		}
		if d[k] > 1 {
			steps[at] = step
		}
		step *= d[k]
	}
	return steps, true
}

// putRows moves values to their places.
func putRows(out, values *core.Tensor, places []int64) error {
	w, move := width(values), rows.Mover(out, values)
	for from := 0; from < len(places); {
		to := from + 1 // the end of a run of values that stay together
		for to < len(places) && places[from] >= 0 && places[to] == places[to-1]+1 {
			to++
		}
		if places[from] >= 0 && to > values.Dim(0) {
			return invalid("the partitions have %d values, but there are %d", len(places), values.Dim(0))
		}
		if places[from] >= 0 {
			move(int(places[from])*w, from*w, (to-from)*w)
		}
		from = to
	}
	return nil
}
