// Package tftest helps tests of programs that compute with tensors: it compares
// tensors with a tolerance, and gradients with finite differences.
package tftest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An Option says how exactly elements have to agree. Without any, they have to
// be equal; a NaN equals every NaN, and zeros of both signs are equal.
type Option func(*closeness)

// closeness is what counts as equal. Elements that satisfy any of the bounds do.
type closeness struct {
	rel, abs float64
	ulps     uint64
	signed   bool // tell 0 from -0
}

// Within lets elements differ by abs + rel*|want|.
func Within(rel, abs float64) Option { return func(c *closeness) { c.rel, c.abs = rel, abs } }

// ULP lets floating-point elements be n representable numbers apart.
func ULP(n int) Option { return func(c *closeness) { c.ulps = uint64(n) } }

// SignedZeros tells 0 from -0.
func SignedZeros() Option { return func(c *closeness) { c.signed = true } }

// Equal fails the test if got is not want.
func Equal(t testing.TB, got, want *tf.Tensor, opts ...Option) bool {
	t.Helper()
	diff := Diff(want, got, opts...)
	if diff != "" {
		t.Errorf("tensors differ (-want +got):\n%s", diff)
	}
	return diff == ""
}

// Elements fails the test if got does not have the elements of want, in order,
// and its type.
func Elements[T tf.Elem](t testing.TB, got *tf.Tensor, want []T, opts ...Option) bool {
	t.Helper()
	if got == nil {
		t.Error("got no tensor")
		return false
	}
	w, err := tf.FromSlice(want, got.Shape()...)
	if err != nil || got.Rank() == 0 && len(want) != 1 {
		t.Errorf("got %v, want %d elements %v", got, len(want), want)
		return false
	}
	if got.Rank() == 0 {
		w = tf.Scalar(want[0])
	}
	return Equal(t, got, w, opts...)
}

// Diff returns how got differs from want, "" if it does not.
func Diff(want, got *tf.Tensor, opts ...Option) string {
	var c closeness
	for _, o := range opts {
		o(&c)
	}
	switch {
	case want == nil || got == nil:
		if want == got {
			return ""
		}
		return fmt.Sprintf("-%v\n+%v", want, got)
	case want.DType() != got.DType() || !want.Shape().Equal(got.Shape()):
		return fmt.Sprintf("-%v%v\n+%v%v", want.DType(), want.Shape(), got.DType(), got.Shape())
	case !(*core.Tensor)(want).Addressable() || !(*core.Tensor)(got).Addressable():
		return "elements of a tensor in device memory cannot be compared"
	}
	if d := want.DType(); d == tf.Resource || d == tf.Variant {
		return diffObjects(want, got)
	}
	return c.diff(want, got)
}

// Comparer lets package cmp compare tensors, wherever they are in the values
// given to it.
func Comparer(opts ...Option) cmp.Option {
	return cmp.Comparer(func(a, b *tf.Tensor) bool { return Diff(a, b, opts...) == "" })
}

func diffObjects(want, got *tf.Tensor) string {
	if core.TensorsEqual((*core.Tensor)(want), (*core.Tensor)(got)) {
		return ""
	}
	return fmt.Sprintf("-%v\n+%v", want, got)
}

// diff lists the first elements that differ.
func (c *closeness) diff(want, got *tf.Tensor) string {
	const most = 10
	var b strings.Builder
	bad := 0
	for i := range want.Len() {
		x, y := want.At(i), got.At(i)
		if c.equal(x, y) {
			continue
		}
		if bad++; bad <= most {
			fmt.Fprintf(&b, "element %v: -%v +%v\n", index(i, want.Shape()), plain(x), plain(y))
		}
	}
	if bad > most {
		fmt.Fprintf(&b, "and %d more of %d", bad-most, want.Len())
	}
	return b.String()
}

// index turns a position in row-major order into one index for each dimension.
func index(i int, s tf.Shape) []int {
	out := make([]int, len(s))
	for d := len(s) - 1; d >= 0; d-- {
		out[d], i = i%s[d], i/s[d]
	}
	return out
}

// plain returns an element as one prints it.
func plain(x any) any {
	switch x := x.(type) {
	case tf.Half:
		return x.Float32()
	case tf.BF16:
		return x.Float32()
	case string:
		return fmt.Sprintf("%q", x)
	}
	return x
}

// equal compares two elements of one type.
func (c *closeness) equal(want, got any) bool {
	switch w := want.(type) {
	case float32:
		return c.close(float64(w), float64(got.(float32)), floatSteps(w, got.(float32)))
	case float64:
		return c.close(w, got.(float64), doubleSteps(w, got.(float64)))
	case tf.Half:
		return c.close(float64(w.Float32()), float64(got.(tf.Half).Float32()), shortSteps(uint16(w), uint16(got.(tf.Half))))
	case tf.BF16:
		return c.close(float64(w.Float32()), float64(got.(tf.BF16).Float32()), shortSteps(uint16(w), uint16(got.(tf.BF16))))
	case complex64:
		g := got.(complex64)
		return c.equal(real(w), real(g)) && c.equal(imag(w), imag(g))
	case complex128:
		g := got.(complex128)
		return c.equal(real(w), real(g)) && c.equal(imag(w), imag(g))
	}
	return want == got || c.closeInts(want, got)
}

// close compares numbers that lie so many representable ones apart.
func (c *closeness) close(want, got float64, steps uint64) bool {
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		return math.IsNaN(want) && math.IsNaN(got)
	case want == got:
		return !c.signed || math.Signbit(want) == math.Signbit(got)
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return false
	}
	return steps <= c.ulps || math.Abs(want-got) <= c.abs+c.rel*math.Abs(want)
}

// closeInts applies the tolerance to integers: rounded results may be off.
func (c *closeness) closeInts(want, got any) bool {
	w, ok := asFloat(want)
	g, ok2 := asFloat(got)
	return ok && ok2 && math.Abs(w-g) <= c.abs+c.rel*math.Abs(w)
}

func asFloat(x any) (float64, bool) {
	switch x := x.(type) {
	case int8:
		return float64(x), true
	case int16:
		return float64(x), true
	case int32:
		return float64(x), true
	case uint8:
		return float64(x), true
	case uint16:
		return float64(x), true
	case uint32:
		return float64(x), true
	}
	return 0, false // 64-bit integers and others have to be equal
}
