package core

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// A Shape lists the sizes of a tensor's dimensions; -1 is a size that is not
// known. A nil Shape has unknown rank; Shape{} is a scalar's.
type Shape []int

// String formats s as TensorFlow does: "[?,784]", "[]" for a scalar and
// "<unknown>" for unknown rank.
func (s Shape) String() string {
	if s == nil {
		return "<unknown>"
	}
	b := []byte{'['}
	for i, d := range s {
		if i > 0 {
			b = append(b, ',')
		}
		if d < 0 {
			b = append(b, '?')
		} else {
			b = strconv.AppendInt(b, int64(d), 10)
		}
	}
	return string(append(b, ']'))
}

// Known reports whether rank and all sizes are known.
func (s Shape) Known() bool {
	return s != nil && !slices.ContainsFunc(s, func(d int) bool { return d < 0 })
}

// NumElements returns the product of the sizes, or -1 when it is not known or
// overflows an int.
func (s Shape) NumElements() int {
	if s == nil {
		return -1
	}
	n, empty, over := uint64(1), false, false
	for _, d := range s {
		if d < 0 {
			return -1
		}
		if d == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(n, uint64(d))
		over = over || hi != 0 || lo > math.MaxInt
		n = lo
	}
	switch {
	case empty:
		return 0
	case over:
		return -1
	}
	return int(n)
}

// Equal reports whether s and t are the same, unknown parts included.
func (s Shape) Equal(t Shape) bool { return (s == nil) == (t == nil) && slices.Equal(s, t) }

// Compatible reports whether a tensor could have both shapes.
func (s Shape) Compatible(t Shape) bool {
	if s == nil || t == nil {
		return true
	}
	return slices.EqualFunc(s, t, func(a, b int) bool { return a < 0 || b < 0 || a == b })
}

// Merge returns what is known from s and t together, and whether they agree.
func (s Shape) Merge(t Shape) (Shape, bool) {
	switch {
	case s == nil:
		return t, true
	case t == nil:
		return s, true
	case !s.Compatible(t):
		return nil, false
	}
	out := slices.Clone(s)
	for i, d := range t {
		if d >= 0 {
			out[i] = d
		}
	}
	return out, true
}

// Clone returns a copy of s.
func (s Shape) Clone() Shape {
	if s == nil {
		return nil
	}
	return append(Shape{}, s...)
}

// BroadcastShapes returns the shape of an element-wise operation on operands
// of shapes s and t by NumPy's rules, and whether they fit together.
func BroadcastShapes(s, t Shape) (Shape, bool) {
	if s == nil || t == nil {
		return nil, true
	}
	if len(s) < len(t) {
		s, t = t, s
	}
	out := s.Clone()
	off := len(s) - len(t)
	for i, b := range t {
		d, ok := broadcastDim(s[off+i], b)
		if !ok {
			return nil, false
		}
		out[off+i] = d
	}
	return out, true
}

func broadcastDim(a, b int) (int, bool) {
	switch {
	case a == b || b == 1:
		return a, true
	case a == 1:
		return b, true
	case a < 0 && b > 1:
		return b, true
	case b < 0 && a > 1:
		return a, true
	case a < 0 || b < 0:
		return -1, true
	}
	return 0, false
}
