package text

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Substr", In: "input: string; pos: T; len: T", Out: "output: string",
		Attrs: "T: {int32, int64}; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
		Shape: substrShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Int32: substr, tf.Int64: substr}),
	})
}

// The units in which positions and lengths are counted.
const (
	Bytes      Unit = "BYTE"
	Characters Unit = "UTF8_CHAR"
)

// A Unit is the optional attribute of Substr and StringLength: what they count,
// bytes unless it is given.
type Unit string

// Apply sets the attribute.
func (u Unit) Apply(s *tf.Spec) { s.Set("unit", string(u)) }

// Substr returns the parts of the strings of x that begin at pos, from the end
// if it is negative, and are n long at most. The shape of pos and n, which is
// one, and that of x are broadcast, in two dimensions at most; the result has
// the shape that comes of it. pos and n are both int32 or both int64. Shapes
// of pos and n that differ, shapes that do not broadcast, and a pos outside of
// a string are refused with INVALID_ARGUMENT, the shapes when the graph is
// built if they are known, else in the step; a broadcast to three dimensions
// or more with UNIMPLEMENTED in the step. Its options are [Unit].
func Substr(x, pos, n tf.Output, opts ...tf.Option) tf.Output {
	return apply("Substr", opts, x, pos, n)
}

func substrShape(c *core.Infer) error {
	pos, n := c.In(1), c.In(2)
	if pos == nil || n == nil {
		return nil
	}
	if len(pos) != len(n) {
		return invalid("Shape must be rank %d but is rank %d", len(n), len(pos))
	}
	if !pos.Compatible(n) {
		return invalid("pos and len shapes must match: %v vs. %v", pos, n)
	}
	return core.BroadcastShape(c)
}

// A cut returns the part of s from pos that is n long, false if pos is outside.
type cut func(s string, pos, n int) (string, bool)

func substr(node *core.Node) (core.Kernel, error) {
	chars := node.Str("unit") == string(Characters)
	return core.Compute(func(c *core.OpContext) error {
		x, pos, n := c.Input(0), c.Input(1), c.Input(2)
		if !pos.Shape().Equal(n.Shape()) {
			return invalid("pos and len should have the same shape, got: %s vs. %s", pos.Shape().String(), n.Shape().String())
		}
		s, err := substrOutput(x.Shape(), pos.Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.String, s)
		if err != nil {
			return err
		}
		return substrEach(c, core.Data[string](out), s, chars)
	}), nil
}

// substrOutput returns the shape that x and pos are broadcast to.
func substrOutput(x, pos tf.Shape) (tf.Shape, error) {
	if len(pos) == 0 || x.Equal(pos) {
		return x, nil
	}
	s, ok := tf.BroadcastShapes(x, pos)
	if !ok {
		return nil, invalid("Incompatible shapes: %s vs. %s", x.String(), pos.String())
	}
	if len(s) > 2 {
		return nil, tf.Errorf(tf.Unimplemented, "Substr broadcast not implemented for %d dimensions", len(s))
	}
	return s, nil
}

// substrEach cuts every string, in the order of the output, whose shape is s.
func substrEach(c *core.OpContext, y []string, s tf.Shape, chars bool) error {
	x, p, n := c.Input(0), c.Input(1), c.Input(2)
	pos, err := p.Ints()
	if err != nil {
		return err
	}
	size, err := n.Ints()
	if err != nil {
		return err
	}
	in := core.Data[string](x)
	if !chars && len(pos) == 1 && len(in) == len(y) && cutAlike(c, y, in, pos[0], size[0]) {
		return nil
	}
	part := cut(cutBytes)
	if chars {
		part = cutCharacters
	}
	xAt, pAt := broadcastIndex(x.Shape(), s), broadcastIndex(p.Shape(), s)
	one := func(i int) (ok bool) {
		k := pAt(i)
		y[i], ok = part(in[xAt(i)], pos[k], size[k])
		return ok
	}
	if i := firstFailing(c, len(y), one); i < len(y) {
		return outOfString(in[xAt(i)], pos[pAt(i)], i, p.Shape(), x.Shape(), s, chars)
	}
	return nil
}

// firstFailing does what f does for each number below n, and returns the first one for which
// it fails, n if none does.
func firstFailing(c *core.OpContext, n int, f func(i int) bool) int {
	var failed atomic.Bool
	c.ParallelFor(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if !f(i) {
				failed.Store(true)
				return
			}
		}
	})
	if !failed.Load() {
		return n
	}
	first := 0
	for f(first) {
		first++
	}
	return first
}

// cutAlike is cutBytes of all strings alike, where pos and n are not negative and all strings
// are long enough; it reports whether they are.
func cutAlike(c *core.OpContext, y, in []string, pos, n int) bool {
	if pos < 0 || n < 0 || pos+n < 0 {
		return false
	}
	var short atomic.Bool
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		y := y[lo:hi]
		for i, s := range in[lo:hi] {
			if len(s) < pos {
				short.Store(true)
				return
			}
			y[i] = s[pos:min(pos+n, len(s))]
		}
	})
	return !short.Load()
}

// broadcastIndex returns where element i of a tensor of shape s lies in one of
// shape x that is broadcast to it. Shapes that differ have two dimensions at
// most.
func broadcastIndex(x, s tf.Shape) func(i int) int {
	switch {
	case x.Equal(s):
		return func(i int) int { return i }
	case x.NumElements() == 1:
		return func(int) int { return 0 }
	case x[len(x)-1] == 1:
		return func(i int) int { return i / s[1] }
	}
	return func(i int) int { return i % s[len(s)-1] }
}

func outOfString(text string, pos, i int, p, x, s tf.Shape, chars bool) error {
	matrix := len(s) == 2 && len(p) > 0 && !x.Equal(p)
	switch {
	case chars && matrix:
		return invalid("pos %d out of range for string at index %d", pos, i/s[1])
	case chars:
		return invalid("pos %d out of range for string at index %d", pos, i)
	case matrix:
		return invalid("pos %d out of range for string b'%s' at index (%d, %d)", pos, text, i/s[1], i%s[1])
	}
	return invalid("pos %d out of range for string b'%s' at index %d", pos, text, i)
}

func cutBytes(s string, pos, n int) (string, bool) {
	if pos < 0 {
		pos += len(s)
	}
	if pos < 0 || pos > len(s) {
		return "", false
	}
	if s = s[pos:]; n >= 0 && n < len(s) {
		s = s[:n]
	}
	return s, true
}

func cutCharacters(s string, pos, n int) (string, bool) {
	if pos < 0 {
		return cutFromEnd(s, -pos, n)
	}
	begin, ok := forward(s, 0, pos)
	if !ok {
		return "", false
	}
	end, _ := forward(s, begin, n)
	return s[begin:end], true
}

// cutFromEnd cuts n characters that begin back characters before the end.
func cutFromEnd(s string, back, n int) (string, bool) {
	skip := max(back-max(n, -len(s)), 0) // no lesser n is of use, and back-n might overflow
	end, ok := backward(s, len(s), skip)
	if !ok {
		return "", false
	}
	begin, ok := backward(s, end, back-skip)
	return s[begin:end], ok
}

// forward returns the position n characters behind i, false if s ends before.
func forward(s string, i, n int) (int, bool) {
	k := 0
	for ; k < n && i < len(s); k++ {
		for i++; i < len(s) && isTrail(s[i]); i++ {
		}
	}
	return i, k == n
}

// backward returns the position n characters before i, false if s begins
// behind it.
func backward(s string, i, n int) (int, bool) {
	k := 0
	for ; k < n && i > 0; k++ {
		for i--; i > 0 && isTrail(s[i]); i-- {
		}
	}
	return i, k == n
}
