package core_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestShapeText(t *testing.T) {
	for _, c := range []struct {
		s    core.Shape
		want string
	}{
		{nil, "<unknown>"}, {core.Shape{}, "[]"}, {core.Shape{-1, 784}, "[?,784]"}, {core.Shape{0}, "[0]"},
	} {
		if c.s.String() != c.want {
			t.Errorf("%#v is printed as %q, want %q", c.s, c.s, c.want)
		}
	}
}

func TestNumElements(t *testing.T) {
	for _, c := range []struct {
		s     core.Shape
		known bool
		n     int
	}{
		{nil, false, -1}, {core.Shape{}, true, 1}, {core.Shape{2, 3}, true, 6}, {core.Shape{-1, 3}, false, -1}, {core.Shape{-1, 0}, false, -1},
		{core.Shape{math.MaxInt, 0}, true, 0}, {core.Shape{0, math.MaxInt, math.MaxInt}, true, 0},
		{core.Shape{math.MaxInt}, true, math.MaxInt}, {core.Shape{math.MaxInt, 2}, true, -1}, {core.Shape{1 << 32, 1 << 31}, true, -1},
	} {
		if c.s.Known() != c.known || c.s.NumElements() != c.n {
			t.Errorf("%v: known %v, %d elements; want %v, %d", c.s, c.s.Known(), c.s.NumElements(), c.known, c.n)
		}
	}
}

func TestShapesTogetherAreTensorFlows(t *testing.T) {
	for _, row := range golden.Broadcasts {
		a, _ := goldenShape(t, row[0])
		b, _ := goldenShape(t, row[1])
		want, fits := goldenShape(t, row[2])
		if got, ok := core.BroadcastShapes(a, b); ok != fits || ok && !got.Equal(want) {
			t.Errorf("BroadcastShapes(%v, %v) = %v, %v; want %v, %v", a, b, got, ok, want, fits)
		}
		want, fits = goldenShape(t, row[3])
		if got, ok := a.Merge(b); ok != fits || ok && !got.Equal(want) {
			t.Errorf("%v.Merge(%v) = %v, %v; want %v, %v", a, b, got, ok, want, fits)
		}
		if got, want := a.Compatible(b), decode[bool](t, row[4]); got != want {
			t.Errorf("%v.Compatible(%v) = %v, want %v", a, b, got, want)
		}
	}
}

func TestShapeOperationsCopy(t *testing.T) {
	a, b := core.Shape{-1, 3}, core.Shape{2, -1}
	if m, ok := a.Merge(b); !ok || !m.Equal(core.Shape{2, 3}) || !a.Equal(core.Shape{-1, 3}) || !b.Equal(core.Shape{2, -1}) {
		t.Errorf("merged %v, operands now %v and %v", m, a, b)
	}
	c := a.Clone()
	c[0] = 7
	if a[0] != -1 || core.Shape(nil).Clone() != nil || (core.Shape{}).Clone() == nil {
		t.Error("a clone shares memory, or loses the difference between scalar and unknown")
	}
}
