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
		es := core.Make[*encoded](t.Len())
		for i, v := range t.Variants() {
			e, err := decoded(v, i, rank, d, ds)
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
		if inner = outer - dims; inner < 0 {
			return 0, invalid("Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found output_ragged_rank: %d, encoded_variant.dims(): %d, inferred input_ragged_rank: %d",
				outer, dims, inner)
		}
	}
	if outer != dims+inner {
		return 0, invalid("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: %d, input_ragged_rank: %d, encoded_variant.dims(): %d.", outer, inner, dims)
	}
	return inner, nil
}

// decoded returns the ragged tensor in element i of a variant.
func decoded(v core.VariantValue, i, rank int, d, ds tf.DType) (*encoded, error) {
	e, ok := v.Value.(*encoded)
	switch {
	case !ok:
		return nil, invalid("Input Variant element at index %d doesn't hold a RaggedTensorVariant: %T", i, v.Value)
	case len(e.splits) != rank:
		return nil, invalid("Encoded input RaggedTensorVariant has ragged_rank=%d.  Expected ragged_rank=%d.", len(e.splits), rank)
	case e.values.DType() != d:
		return nil, invalid("Expected values Tensor dtype: %s, found: %s", d.CName(), e.values.DType().CName())
	}
	for _, s := range e.splits {
		if s.DType() != ds {
			return nil, invalid("Expected row_splits Tensor dtype: %s, found: %s", ds.CName(), s.DType().CName())
		}
	}
	return e, nil
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
		n := 0
		switch {
		case s.rank > 0:
			n = max(e.splits[0].Len()-1, 0)
		case e.values.Rank() == 0:
			return invalid("Ragged values must have rank >= 1; encoded scalar element at index %d has values Tensor: %s", i, e.values)
		default:
			n = e.values.Dim(0)
		}
		between = append(between, between[i]+n)
	}
	s.splits = append(s.splits, between)
	for k := range s.rank {
		within := []int{0}
		for _, e := range s.parts {
			v, err := e.splits[k].Ints()
			if err != nil {
				return err
			}
			last := within[len(within)-1]
			for _, x := range v[min(1, len(v)):] {
				within = append(within, last+x)
			}
		}
		s.splits = append(s.splits, within)
	}
	return nil
}

// writeValues makes the values of all parts output i.
func (s *stack) writeValues(c *core.OpContext, i int, d tf.DType) error {
	shape := tf.Shape{0}
	for k, e := range s.parts {
		v := e.values.Shape()
		if len(v) == 0 {
			return invalid("Ragged values must have rank >= 1; encoded scalar element at index %d has values Tensor: %s", k, e.values)
		}
		if k == 0 {
			shape = v.Clone()
			continue
		}
		if len(v) != len(shape) || !v[1:].Equal(shape[1:]) {
			return invalid("All flat_values must have compatible shapes.  Shape at index 0: %s.  Shape at index %d: %s.  If you are using tf.map_fn, then you may need to specify an explicit fn_output_signature with appropriate ragged_rank, and/or convert output tensors to RaggedTensors.",
				shape[1:].String(), k, v[1:].String())
		}
		shape[0] += v[0]
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
