package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A size is an integer that is known while the graph is built, or an int32 scalar that
// the step computes. Arithmetic of known sizes adds no nodes.
type size struct {
	n int
	x tf.Output // none if the size is known
}

func known(n int) size { return size{n: n} }

func (s size) known() bool { return s.x == tf.Output{} }

// is reports whether the size is known to be n.
func (s size) is(n int) bool { return s.known() && s.n == n }

func (s size) isZero() bool { return s.is(0) }

// in returns the size as a scalar of the graph.
func (s size) in(g *tf.Graph) tf.Output {
	if !s.known() {
		return s.x
	}
	if err := fitsInt32(s.n); err != nil {
		return tf.Failed(g, "StableHLO", err).Output(0)
	}
	return ops.Scalar(g, int32(s.n))
}

// fitsInt32 refuses numbers that int32 does not hold: cut to it they would be others.
func fitsInt32(n int) error {
	if n != int(int32(n)) {
		return tf.Errorf(tf.InvalidArgument, "a size of StableHLO must be an int32, got %d", n)
	}
	return nil
}

// combined returns f of known sizes, else what node adds.
func combined(s, t size, f func(a, b int) int, node func(x, y tf.Output, opts ...tf.Option) tf.Output) size {
	if s.known() && t.known() {
		return known(f(s.n, t.n))
	}
	g := s.x.Graph()
	if s.known() {
		g = t.x.Graph()
	}
	return size{x: node(s.in(g), t.in(g))}
}

func (s size) plus(t size) size {
	switch {
	case s.is(0):
		return t
	case t.is(0):
		return s
	}
	return combined(s, t, func(a, b int) int { return a + b }, ops.AddV2)
}

func (s size) minus(t size) size {
	if t.is(0) {
		return s
	}
	return combined(s, t, func(a, b int) int { return a - b }, ops.Sub)
}

func (s size) times(t size) size {
	switch {
	case s.is(1):
		return t
	case t.is(1):
		return s
	}
	return combined(s, t, func(a, b int) int { return a * b }, ops.Mul)
}

func (s size) max(t size) size {
	return combined(s, t, func(a, b int) int { return max(a, b) }, ops.Maximum)
}

func (s size) min(t size) size {
	return combined(s, t, func(a, b int) int { return min(a, b) }, ops.Minimum)
}

// over returns the quotient by a positive number, rounded down.
func (s size) over(n int) size {
	if n == 1 {
		return s
	}
	return combined(s, known(n), floorDiv, ops.FloorDiv)
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// product returns the product of sizes.
func product(sizes []size) size {
	p := known(1)
	for _, s := range sizes {
		p = p.times(s)
	}
	return p
}

// allKnown returns the numbers if all sizes are known.
func allKnown(sizes []size) ([]int, bool) {
	v := make([]int, len(sizes))
	for i, s := range sizes {
		if !s.known() {
			return nil, false
		}
		v[i] = s.n
	}
	return v, true
}

// vector returns sizes as a vector of int32.
func vector(g *tf.Graph, sizes []size) tf.Output {
	if v, ok := allKnown(sizes); ok {
		return int32s(g, v)
	}
	xs := make([]tf.Output, len(sizes))
	for i, s := range sizes {
		xs[i] = s.in(g)
	}
	return ops.Pack(xs)
}

// int32s returns a constant vector.
func int32s(g *tf.Graph, v []int) tf.Output {
	data := make([]int32, len(v))
	for i, n := range v {
		if err := fitsInt32(n); err != nil {
			return tf.Failed(g, "StableHLO", err).Output(0)
		}
		data[i] = int32(n)
	}
	return ops.Const(g, data, len(data))
}

// knowns returns known sizes.
func knowns(v []int) []size {
	s := make([]size, len(v))
	for i, n := range v {
		s[i] = known(n)
	}
	return s
}

// element returns an element of a vector of int32.
func element(v tf.Output, i int) tf.Output {
	return ops.StridedSlice(v, []int{i}, []int{i + 1}, []int{1}, ops.StridedSliceOpts{ShrinkAxisMask: 1})
}

// elements returns the elements of a vector of integers that value v has and x computes.
func elements(v *stablehlo.Value, x tf.Output, n int) []size {
	if c, ok := constantInts(v); ok && len(c) == n {
		return knowns(c)
	}
	if parts, ok := concatenated(v); ok && len(parts) == n {
		return eachElement(parts, x)
	}
	return eachElement(make([]*stablehlo.Value, n), x)
}

// sizeVector returns x, a vector of n integers that value v has, such that elements that
// are known are constants.
func sizeVector(g *tf.Graph, v *stablehlo.Value, x tf.Output, n int) tf.Output {
	sizes := elements(v, x, n)
	if slices.ContainsFunc(sizes, size.known) {
		return vector(g, sizes)
	}
	return x
}

// eachElement takes elements that are constants by themselves, and the others from x.
func eachElement(parts []*stablehlo.Value, x tf.Output) []size {
	out := make([]size, len(parts))
	whole := tf.Output{}
	for i, p := range parts {
		if p != nil {
			if c, ok := constantInts(p); ok && len(c) == 1 {
				out[i] = known(c[0])
				continue
			}
		}
		if whole == (tf.Output{}) {
			whole = indexOf(x)
		}
		out[i] = size{x: element(whole, i)}
	}
	return out
}

// concatenated returns the values of one element that a vector is put together from.
func concatenated(v *stablehlo.Value) ([]*stablehlo.Value, bool) {
	if v.Def == nil || v.Def.Name != "concatenate" {
		return nil, false
	}
	for _, p := range v.Def.Operands {
		if len(p.Type.Shape) != 1 || p.Type.Shape[0] != 1 {
			return nil, false
		}
	}
	return v.Def.Operands, true
}

// sizesOf returns the sizes of a tensor. Those that neither the type nor the graph
// knows are taken in the step.
func sizesOf(x tf.Output, t stablehlo.Type) []size {
	out := make([]size, len(t.Shape))
	s := x.Shape()
	shape := tf.Output{}
	for i, d := range t.Shape {
		switch {
		case d >= 0:
			out[i] = known(int(d))
		case s != nil && s[i] >= 0:
			out[i] = known(s[i])
		default:
			if shape == (tf.Output{}) {
				shape = ops.Shape(x)
			}
			out[i] = size{x: element(shape, i)}
		}
	}
	return out
}

// flatSizes returns the n elements of a tensor of integers in row-major order.
func flatSizes(v *stablehlo.Value, x tf.Output, n int) []size {
	c := flatConstants(v, derivations)
	out := make([]size, n)
	whole := tf.Output{}
	for i := range out {
		if len(c) == n && c[i] != nil {
			out[i] = known(*c[i])
			continue
		}
		if whole.IsZero() {
			whole = ops.Reshape(indexOf(x), []int{n})
		}
		out[i] = size{x: element(whole, i)}
	}
	return out
}

// flatConstants follows a tensor of integers through reshapes and concatenations back
// to its elements, of which those are nil that are not known. The result is nil if that
// leads nowhere.
func flatConstants(v *stablehlo.Value, depth int) []*int {
	n, ok := count(v.Type.Shape)
	switch c, known := constantInts(v); {
	case !ok || n > maxFlat || depth == 0:
		return nil
	case known && len(c) == n:
		out := make([]*int, n)
		for i := range c {
			out[i] = &c[i]
		}
		return out
	case v.Def != nil && v.Def.Name == "reshape" && len(v.Def.Operands) == 1:
		return flatConstants(v.Def.Operands[0], depth-1)
	case v.Def != nil && v.Def.Name == "concatenate" && (&reading{op: v.Def}).int("dimension", 0) == 0:
		return joinedConstants(v.Def.Operands, depth-1)
	}
	return make([]*int, n)
}

// maxFlat is how many elements sizes may have that are followed: twice the greatest rank.
const maxFlat = 508

func joinedConstants(parts []*stablehlo.Value, depth int) (all []*int) {
	for _, p := range parts {
		c := flatConstants(p, depth)
		if c == nil || len(all)+len(c) > maxFlat {
			return nil
		}
		all = append(all, c...)
	}
	return all
}
