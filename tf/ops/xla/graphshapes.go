package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// unknownShape leaves the shapes of all outputs open.
func unknownShape(*core.Infer) error { return nil }

// unknowns returns a shape of unknown sizes.
func unknowns(rank int) tf.Shape {
	s := make(tf.Shape, rank)
	for i := range s {
		s[i] = -1
	}
	return s
}

// sameRank gives the output the rank of input 0.
func sameRank(c *core.Infer) error {
	if s := c.In(0); s != nil {
		c.Set(0, unknowns(len(s)))
	}
	return nil
}

// ownShapes gives each output the shape of the input of its number.
func ownShapes(c *core.Infer) error {
	for i := range c.NumOut() {
		c.Set(i, c.In(i))
	}
	return nil
}

// protoInts reads a field of the attribute dimension_numbers.
func protoInts(attrs map[string]stablehlo.Attr, name string) []int {
	v, _ := integers(attrs[name])
	return v
}

func dotShape(c *core.Infer) error {
	x, y := c.In(0), c.In(1)
	if x == nil || y == nil {
		return nil
	}
	attrs, err := dotFields.read(c.Str("dimension_numbers"))
	if err != nil {
		return err
	}
	xb, yb := protoInts(attrs, "lhs_batching_dimensions"), protoInts(attrs, "rhs_batching_dimensions")
	xs, ys := protoInts(attrs, "lhs_contracting_dimensions"), protoInts(attrs, "rhs_contracting_dimensions")
	if len(xb) != len(yb) || len(xs) != len(ys) || !dimsOf(x, xb, xs) || !dimsOf(y, yb, ys) {
		return tf.Errorf(tf.InvalidArgument, "dimension_numbers must name as many dimensions of both inputs, each once, for batches and for sums, got %v and %v of rank %d, %v and %v of rank %d", xb, xs, len(x), yb, ys, len(y))
	}
	var out tf.Shape
	for i, d := range slices.Concat(xb, xs) {
		e := slices.Concat(yb, ys)[i]
		n, ok := mergeDim(x[d], y[e])
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal, but are %d and %d", x[d], y[e])
		}
		if i < len(xb) {
			out = append(out, n)
		}
	}
	out = append(out, rest(x, xb, xs)...)
	c.Set(0, append(out, rest(y, yb, ys)...))
	return nil
}

// dimsOf reports whether lists have dimensions of a shape, each at most once.
func dimsOf(s tf.Shape, lists ...[]int) bool {
	seen := map[int]bool{}
	for _, d := range slices.Concat(lists...) {
		if d < 0 || d >= len(s) || seen[d] {
			return false
		}
		seen[d] = true
	}
	return true
}

func mergeDim(a, b int) (int, bool) {
	if a < 0 {
		return b, true
	}
	return a, b < 0 || a == b
}

// rest returns the sizes of the dimensions that no list has.
func rest(s tf.Shape, lists ...[]int) (out tf.Shape) {
	for d, n := range s {
		if !slices.Contains(slices.Concat(lists...), d) {
			out = append(out, n)
		}
	}
	return out
}

func gatherShape(c *core.Infer) error {
	x, at := c.In(0), c.In(1)
	sizes, known := c.ConstInts(2)
	if x == nil || at == nil {
		return nil
	}
	if known && len(sizes) != len(x) {
		return tf.Errorf(tf.InvalidArgument, "Gather op must have one slice size for every input dimension; got: len(slice_sizes)=%d, input_shape.rank=%d", len(sizes), len(x))
	}
	attrs, err := gatherFields.read(c.Str("dimension_numbers"))
	if err != nil {
		return err
	}
	offsets, vector := protoInts(attrs, "offset_dims"), int(attrs["index_vector_dim"].(stablehlo.Int).Value)
	if vector < 0 || vector > len(at) {
		return tf.Errorf(tf.InvalidArgument, "index_vector_dim must be in [0, %d], got %d", len(at), vector)
	}
	batch := rest(at, []int{vector})
	if !known {
		sizes = unknowns(len(x))
	}
	window := rest(sizes, protoInts(attrs, "collapsed_slice_dims"), protoInts(attrs, "operand_batching_dims"))
	if len(window) != len(offsets) || !dimsOf(make(tf.Shape, len(window)+len(batch)), offsets) || slices.Min(append(sizes, 0)) < -1 {
		return tf.Errorf(tf.InvalidArgument, "offset_dims must have a dimension of the result for each dimension of a window, got %v for windows of rank %d", offsets, len(window))
	}
	out := make(tf.Shape, 0, len(window)+len(batch))
	for d := range cap(out) {
		if from := &batch; slices.Contains(offsets, d) {
			out, window = append(out, window[0]), window[1:]
		} else {
			out, *from = append(out, (*from)[0]), (*from)[1:]
		}
	}
	c.Set(0, out)
	return nil
}

func padShape(c *core.Infer) error {
	x := c.In(0)
	if v := c.In(1); len(v) != 0 {
		return tf.Errorf(tf.InvalidArgument, "padding_value input must be scalar, found rank %d", len(v))
	}
	if x == nil {
		return nil
	}
	out := unknowns(len(x))
	var pads [3][]int
	all := true
	for i, name := range []string{"padding_low", "padding_high", "padding_interior"} {
		if s := c.In(2 + i); s != nil && (len(s) != 1 || s[0] >= 0 && s[0] != len(x)) {
			return tf.Errorf(tf.InvalidArgument, "%s must be a 1D tensor of size %d", name, len(x))
		}
		v, ok := c.ConstInts(2 + i)
		pads[i], all = v, all && ok && len(v) == len(x)
	}
	for d := 0; d < len(x) && all; d++ {
		p := padding{known(pads[0][d]), known(pads[1][d]), known(pads[2][d])}
		if p.interior.n < 0 {
			return tf.Errorf(tf.InvalidArgument, "padding_interior must contain only non-negative values, found %d", p.interior.n)
		}
		if x[d] >= 0 {
			if out[d] = padded(known(x[d]), p).n; out[d] < 0 {
				return tf.Errorf(tf.InvalidArgument, "resulting padded dimension has negative size %d", out[d])
			}
		}
	}
	c.Set(0, out)
	return nil
}

// reduceShape is the shape of reductions of one tensor, of which only the rank is told.
func reduceShape(c *core.Infer) error {
	x := c.In(0)
	if x == nil {
		return nil
	}
	dims := c.Ints("dimensions_to_reduce")
	if !dimsOf(x, dims) {
		return tf.Errorf(tf.InvalidArgument, "Invalid dimensions_to_reduce argument to %s: %v of rank %d", c.OpName(), dims, len(x))
	}
	for i := range c.NumOut() {
		c.Set(i, unknowns(len(x)-len(dims)))
	}
	return nil
}

// variadicReduceShape is the shape of reductions of several tensors of one shape.
func variadicReduceShape(c *core.Infer) error {
	n := c.NumIn() / 2
	if c.NumIn()%2 == 1 || c.NumOut() != n {
		return tf.Errorf(tf.InvalidArgument, "Must have equally many inputs, initial values and outputs, got %d inputs and %d outputs", c.NumIn(), c.NumOut())
	}
	s := c.In(0)
	for i := 1; i < n; i++ {
		m, ok := s.Merge(c.In(i))
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Shapes must be equal: inputs have shapes %v and %v", s, c.In(i))
		}
		s = m
	}
	if s == nil {
		return nil
	}
	dims := c.Ints("dimensions_to_reduce")
	if !dimsOf(s, dims) {
		return tf.Errorf(tf.InvalidArgument, "Invalid dimensions_to_reduce argument to %s: %v of rank %d", c.OpName(), dims, len(s))
	}
	for i := range c.NumOut() {
		c.Set(i, rest(s, dims))
	}
	return nil
}

func bitGeneratorShape(c *core.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	state, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	c.Set(0, state)
	c.Set(1, c.ConstShape(2))
	return nil
}

func fullShape(c *core.Infer) error {
	c.Set(0, c.ShapeAttr("full_shape"))
	return nil
}
