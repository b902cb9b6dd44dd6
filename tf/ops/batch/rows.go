package batch

import (
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// rowsOf returns rows lo to hi of t.
func rowsOf(t *core.Tensor, lo, hi int) *core.Tensor {
	width := t.Shape()[1:].NumElements()
	out := core.NewTensor(t.DType(), append(tf.Shape{hi - lo}, t.Shape()[1:]...))
	if out.Len() > 0 {
		rows.Mover(out, t)(0, lo*width, out.Len())
	}
	return out
}

// joined returns the rows of all parts, at least one, and padding more rows that
// are like the first.
func joined(parts []*core.Tensor, padding int) (*core.Tensor, error) {
	first := parts[0]
	if len(parts) == 1 && padding == 0 {
		return first, nil
	}
	s, n := first.Shape(), padding
	for _, p := range parts {
		if p.DType() != first.DType() || p.Rank() != len(s) || !p.Shape()[1:].Equal(s[1:]) {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimensions of inputs should match: shape[0] = %s vs. shape[i] = %s", s.String(), p.Shape().String())
		}
		n += p.Dim(0)
	}
	if padding > 0 && first.Dim(0) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot use an empty tensor with zero rows as padding when batching. (Input got shape %s.)", s.String())
	}
	shape := append(tf.Shape{n}, s[1:]...)
	out, err := core.AllocTensor(first.DType(), shape)
	if err != nil {
		return nil, err
	}
	at, width := 0, s[1:].NumElements()
	for _, p := range parts {
		rows.Mover(out, p)(at, 0, p.Len())
		at += p.Len()
	}
	if width == 0 {
		return out, nil // however much padding there is
	}
	for range padding {
		rows.Mover(out, first)(at, 0, width)
		at += width
	}
	return out, nil
}
