package sparse

import (
	"math"
	"strconv"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Tensor names the outputs that are a sparse tensor together: the elements
// at Indices, an int64 matrix with a row for each, are Values; those elsewhere
// are zero, or missing. DenseShape is an int64 vector.
type Tensor struct{ Indices, Values, DenseShape tf.Output }

// tensorOf returns the sparse tensor that op's first outputs are.
func tensorOf(op *tf.Operation) Tensor {
	return Tensor{op.Output(0), op.Output(1), op.Output(2)}
}

// flat lists the parts of sparse tensors in the order that most ops have them.
func flat(ts ...Tensor) (in []tf.Output) {
	for _, t := range ts {
		in = append(in, t.Indices, t.Values, t.DenseShape)
	}
	return in
}

// A coo is a sparse tensor as kernels see it: row i of its indices says where
// value i lies.
type coo struct {
	at     []int64
	rank   int
	n      int
	shape  tf.Shape
	values *core.Tensor
}

// index returns where value i lies.
func (t *coo) index(i int) []int64 { return t.at[i*t.rank : (i+1)*t.rank] }

// inputCOO reads the sparse tensor in inputs i to i+2. It checks that they fit
// together but not the indices; see valid.
func inputCOO(c *core.OpContext, i int) (*coo, error) {
	at, vals, shape := c.Input(i), c.Input(i+1), c.Input(i+2)
	if shape.Rank() != 1 {
		return nil, invalid("Shape must be a 1D tensor.")
	}
	s, err := sizes(shape)
	if err != nil {
		return nil, err
	}
	return newCOO(at, vals, s)
}

// newCOO checks that the parts of a sparse tensor fit together.
func newCOO(at, vals *core.Tensor, s tf.Shape) (*coo, error) {
	switch {
	case vals.Rank() != 1:
		return nil, invalid("vals must be a vec, but got: %s", vals.Shape().String())
	case at.Rank() > 0 && at.Dim(0) != vals.Len():
		return nil, invalid("indices and values rows (indexing dimension) must match. (indices = %d, values = %d)", at.Dim(0), vals.Len())
	case at.Rank() != 2:
		return nil, invalid("indices must be a matrix, but got: %s", at.Shape().String())
	case at.Dim(1) != len(s):
		return nil, invalid("Order length must be SparseTensor rank.")
	}
	return &coo{at: core.Data[int64](at), rank: len(s), n: vals.Len(), shape: s, values: vals}, nil
}

// sizes reads a vector of sizes. Their product has to fit into an int64.
func sizes(t *core.Tensor) (tf.Shape, error) {
	v, err := t.Ints()
	if err != nil {
		return nil, err
	}
	return v, checkSizes(v)
}

// checkSizes wants sizes that are not negative and whose product fits into an
// int64.
func checkSizes(s tf.Shape) error {
	n := 1
	for _, d := range s {
		if d < 0 {
			return invalid("Expected shape dimensions to be non-negative, got %d", d)
		}
		if n > 0 && d > math.MaxInt64/n {
			return invalid("Encountered overflow when multiplying %d with %d, result: -1", n, d)
		}
		n *= d
	}
	return nil
}

// valid returns an error unless the indices lie within the shape and ascend.
func (t *coo) valid() error {
	for i := range t.n {
		row := t.index(i)
		if !within(row, t.shape) {
			return invalid("indices[%d] = %s is out of bounds: need 0 <= index < %s", i, text(row), t.shape.String())
		}
		if i == 0 {
			continue
		}
		if order := compareIndices(t.index(i-1), row); order > 0 {
			return invalid("indices[%d] = %s is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n", i, text(row))
		} else if order == 0 {
			return invalid("indices[%d] = %s is repeated", i, text(row))
		}
	}
	return nil
}

// within reports whether an index lies in shape s.
func within(row []int64, s tf.Shape) bool {
	for k, at := range row {
		if uint64(at) >= uint64(s[k]) {
			return false
		}
	}
	return true
}

// text formats an index as messages show it: "[1,2]".
func text(v []int64) string {
	s := make(tf.Shape, len(v))
	for i, x := range v {
		s[i] = int(x)
	}
	return listText(s)
}

// listText is tf.Shape.Text for numbers that may be negative.
func listText(s []int) string {
	b := []byte{'['}
	for i, d := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	return string(append(b, ']'))
}

// knownRank returns the rank of the sparse tensor in inputs i to i+2 as far as
// shapes tell, else -1.
func knownRank(c *core.Infer, i int) (int, error) {
	at, err := c.Rank(i, 2)
	if err != nil {
		return 0, err
	}
	vals, err := c.Rank(i+1, 1)
	if err != nil {
		return 0, err
	}
	shape, err := c.Rank(i+2, 1)
	if err != nil {
		return 0, err
	}
	if _, err := mergeDim(at[0], vals[0]); err != nil {
		return 0, err
	}
	return mergeDim(at[1], shape[0])
}

// mergeDim returns what two sizes that have to be equal are.
func mergeDim(a, b int) (int, error) {
	switch {
	case a < 0:
		return b, nil
	case b >= 0 && a != b:
		return 0, invalid("Dimensions must be equal, but are %d and %d", a, b)
	}
	return a, nil
}

// setSparse makes outputs i to i+2 a sparse tensor of a rank and unknown size.
func setSparse(c *core.Infer, i, rank int) {
	c.Set(i, tf.Shape{-1, rank})
	c.Set(i+1, tf.Shape{-1})
	c.Set(i+2, tf.Shape{rank})
}
