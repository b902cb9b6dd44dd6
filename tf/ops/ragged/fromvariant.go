package ragged

import (
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func fromVariant(n *core.Node) (core.Kernel, error) {
	inner, outer := n.Int("input_ragged_rank"), n.Int("output_ragged_rank")
	d, ds := n.Type("Tvalues"), n.Type("Tsplits")
	return core.Compute(func(c *core.OpContext) error {
		t := c.Input(0)
		rank, err := innerRank(inner, outer, t.Rank())
		if err != nil {
			return err
		}
		want := wanted{rank: rank, outer: outer, values: d, splits: ds}
		es := core.Make[*encoded](t.Len())
		for i, v := range t.Variants() {
			e, err := want.decoded(v, i)
			if err != nil {
				return err
			}
			es[i] = e
		}
		if t.Rank() == 0 {
			for i, s := range es[0].splits {
				c.Set(i, s.Share())
			}
			c.Set(outer, es[0].values.Share())
			return nil
		}
		if outer == 0 {
			return stackDense(c, es, d)
		}
		s := &stack{parts: es, rank: rank, splits: outerSplitsOf(t.Shape())}
		if err := s.addSplits(); err != nil {
			return err
		}
		for i, v := range s.splits {
			if err := allocInts(c, i, ds, v); err != nil {
				return err
			}
		}
		return s.writeValues(c, outer, d)
	}), nil
}

// innerRank returns how many row splits the elements of a variant have.
func innerRank(inner, outer, dims int) (int, error) {
	if inner == -1 {
		inner = outer - dims
		if outer == 0 {
			inner = 0
		}
		if inner < 0 {
			return 0, invalid("Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found output_ragged_rank: %d, encoded_variant.dims(): %d, inferred input_ragged_rank: %d",
				outer, dims, inner)
		}
	}
	if outer != dims+inner && (outer != 0 || inner != 0) {
		return 0, invalid("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: %d, input_ragged_rank: %d, encoded_variant.dims(): %d.", outer, inner, dims)
	}
	return inner, nil
}

// wanted says what the elements of a variant have to be.
type wanted struct {
	rank, outer    int // row splits of the elements, and of the result
	values, splits tf.DType
}

// decoded returns the ragged tensor in element i of a variant.
func (w *wanted) decoded(v core.VariantValue, i int) (*encoded, error) {
	e, ok := v.Value.(*encoded)
	switch {
	case !ok:
		return nil, invalid("Input Variant element at index %d doesn't hold a RaggedTensorVariant: %s", i, describe(v.Value))
	case len(e.splits) != w.rank:
		return nil, invalid("Encoded input RaggedTensorVariant has ragged_rank=%d.  Expected ragged_rank=%d.", len(e.splits), w.rank)
	case e.values.DType() != w.values:
		return nil, invalid("Expected values Tensor dtype: %s, found: %s", w.values.CName(), e.values.DType().CName())
	case e.values.Rank() == 0 && w.outer != 0:
		return nil, invalid("Ragged values must have rank >= 1; encoded scalar element at index %d has values Tensor: %s", i, describeScalar(e.values))
	}
	for _, s := range e.splits {
		if s.DType() != w.splits {
			return nil, invalid("Expected row_splits Tensor dtype: %s, found: %s", w.splits.CName(), s.DType().CName())
		}
	}
	return e, nil
}

// stackDense makes the values of all parts, of one shape, the rows of output 0.
func stackDense(c *core.OpContext, parts []*encoded, d tf.DType) error {
	if len(parts) == 0 {
		_, err := c.Alloc(0, d, tf.Shape{0})
		return err
	}
	s := parts[0].values.Shape()
	for i, e := range parts {
		if v := e.values.Shape(); !v.Equal(s) {
			return invalid("All flat_values must have compatible shapes.  Shape at index 0: %s.  Shape at index %d: %s", s.String(), i, v.String())
		}
	}
	out, err := c.Alloc(0, d, append(tf.Shape{len(parts)}, s...))
	if err != nil {
		return err
	}
	for i, e := range parts {
		rows.Mover(out, e.values)(i*e.values.Len(), 0, e.values.Len())
	}
	return nil
}

// outerSplitsOf returns the row splits that the dimensions of a variant make,
// but for the last.
func outerSplitsOf(s tf.Shape) (splits [][]int) {
	rows := 1
	for k := range len(s) - 1 {
		rows *= s[k]
		v := core.Make[int](rows + 1)
		for i := range v {
			v[i] = i * s[k+1]
		}
		splits = append(splits, v)
	}
	return splits
}

// A stack puts ragged tensors together, as the rows of one.
type stack struct {
	parts  []*encoded
	rank   int // row splits of each
	splits [][]int
}

// addSplits adds the splits between the parts and those within them.
func (s *stack) addSplits() error {
	between := []int{0}
	for i, e := range s.parts {
		n := e.values.Dim(0)
		if s.rank > 0 {
			n = e.splits[0].Len() - 1
		}
		between = append(between, between[i]+n)
	}
	s.splits = append(s.splits, between)
	for k := range s.rank {
		n := 1 // a variant may hold one part many times
		for _, e := range s.parts {
			n += e.splits[k].Len() - 1
		}
		within := core.Make[int](n)[:1]
		for _, e := range s.parts {
			v, err := e.splits[k].Ints()
			if err != nil {
				return err
			}
			last := within[len(within)-1]
			for _, x := range v[1:] {
				within = append(within, last+x)
			}
		}
		s.splits = append(s.splits, within)
	}
	return nil
}

// writeValues makes the values of all parts output i.
func (s *stack) writeValues(c *core.OpContext, i int, d tf.DType) error {
	shape, err := s.valuesShape()
	if err != nil {
		return err
	}
	out, err := c.Alloc(i, d, shape)
	if err != nil {
		return err
	}
	at := 0
	for _, e := range s.parts {
		rows.Mover(out, e.values)(at, 0, e.values.Len())
		at += e.values.Len()
	}
	return nil
}

// valuesShape returns the shape of the values of all parts.
func (s *stack) valuesShape() (tf.Shape, error) {
	if len(s.parts) == 0 {
		return tf.Shape{0}, nil
	}
	shape := s.parts[0].values.Shape().Clone()
	for i, e := range s.parts[1:] {
		v := e.values.Shape()
		if len(v) != len(shape) {
			return nil, invalid("Rank of values must match for all components; values shape at index 0: %s, values shape at index %d: %s",
				s.parts[0].values.Shape().String(), i+1, v.String())
		}
		shape[0] += v[0]
	}
	for i, e := range s.parts {
		if v := e.values.Shape(); !v[1:].Equal(shape[1:]) {
			return nil, invalid("All flat_values must have compatible shapes.  Shape at index 0: %s.  Shape at index %d: %s.  If you are using tf.map_fn, then you may need to specify an explicit fn_output_signature with appropriate ragged_rank, and/or convert output tensors to RaggedTensors.",
				shape[1:].String(), i, v[1:].String())
		}
	}
	return shape, nil
}
