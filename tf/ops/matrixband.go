package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A diagonals says which diagonals of a matrix an op works on, and how those
// that are shorter than the longest one are packed.
type diagonals struct {
	lower, upper       int
	leftSuper, leftSub bool // shorter ones begin at the left, above and below the main one
}

// diagonalsOf returns the alignment that a node asks for; versions of the ops
// without a choice align all to the left.
func diagonalsOf(n *core.Node) diagonals {
	align := n.Str("align")
	if align == "" {
		align = "LEFT_LEFT"
	}
	return diagonals{
		leftSuper: align == "LEFT_LEFT" || align == "LEFT_RIGHT",
		leftSub:   align == "LEFT_LEFT" || align == "RIGHT_LEFT",
	}
}

// count returns how many diagonals there are.
func (d *diagonals) count() int { return d.upper - d.lower + 1 }

// longest returns the length of the longest one in a matrix of that size.
func (d *diagonals) longest(rows, cols int) int {
	return min(rows+min(d.upper, 0), cols-max(d.lower, 0))
}

// read takes the range from t, one number or two.
func (d *diagonals) read(t *core.Tensor) error {
	if t.Rank() > 1 {
		return tf.Errorf(tf.InvalidArgument, "diag_index must be a scalar or vector, received shape: %s", t.Shape().String())
	}
	if t.Len() < 1 || t.Len() > 2 {
		return tf.Errorf(tf.InvalidArgument, "diag_index must have only one or two elements, received %d elements.", t.Len())
	}
	v, err := t.Ints()
	if err != nil {
		return err
	}
	d.lower, d.upper = v[0], v[len(v)-1]
	return nil
}

// ordered checks that the range is one.
func (d *diagonals) ordered() error {
	if d.lower > d.upper {
		return tf.Errorf(tf.InvalidArgument, "lower_diag_index must not be larger than upper_diag_index: %d > %d", d.lower, d.upper)
	}
	return nil
}

// within checks that the diagonals are some of a matrix of that size. An empty
// matrix has a main diagonal.
func (d *diagonals) within(rows, cols int, after string) error {
	inside := func(k int) bool { return -rows < k && k < cols || k == 0 }
	if !inside(d.lower) {
		return tf.Errorf(tf.InvalidArgument, "lower_diag_index is out of bound: %d%s It must be between %d and %d", d.lower, after, -rows, cols)
	}
	if !inside(d.upper) {
		return tf.Errorf(tf.InvalidArgument, "upper_diag_index is out of bound: %d It must be between %d and %d", d.upper, -rows, cols)
	}
	return d.ordered()
}

// each calls f for every diagonal with where it begins among the packed ones,
// where in the matrix, and how long it is.
func (d *diagonals) each(rows, cols, longest int, f func(packed, at, n int)) {
	for m := range d.count() {
		k := d.upper - m
		n := min(rows+min(k, 0), cols-max(k, 0))
		if n <= 0 {
			continue
		}
		packed := m * longest
		if left := k >= 0 && d.leftSuper || k <= 0 && d.leftSub; !left {
			packed += longest - n
		}
		f(packed, max(-k, 0)*cols+max(k, 0), n)
	}
}

// matrixSize returns the two innermost sizes of s, which has at least two.
func matrixSize(s tf.Shape) (rows, cols int) { return s[len(s)-2], s[len(s)-1] }

// packedShape returns the shape of the diagonals of matrices in a tensor of
// shape s.
func (d *diagonals) packedShape(s tf.Shape) tf.Shape {
	out := s[:len(s)-2].Clone()
	if d.count() > 1 {
		out = append(out, d.count())
	}
	return append(out, d.longest(matrixSize(s)))
}

// constDiagonals returns the range that input i holds, if it is known, for a
// shape function. The range of an op without such an input is the main one.
func constDiagonals(c *core.Infer, i int) (d diagonals, known bool, err error) {
	if i >= c.NumIn() {
		return d, true, nil
	}
	if s := c.In(i); len(s) > 1 {
		return d, false, tf.Errorf(tf.InvalidArgument, "diag_index must be a scalar or vector, received shape: %v", s)
	}
	t := c.Const(i)
	if t == nil {
		return d, false, nil
	}
	if err := d.read(t); err != nil {
		return d, false, err
	}
	return d, true, d.ordered()
}

// plainCells returns kernels for the types whose elements lie in memory as
// they are.
func plainCells(k1, k2, k4, k8, k16 core.NewKernel) core.KernelSet {
	k := byCell(k1, k2, k4, k8, k16, nil, nil, nil).dataOn("T")
	delete(k.By, tf.String)
	return k
}
