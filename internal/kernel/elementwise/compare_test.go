package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestCompare covers lengths that need the vector loop, what is left of it and
// more than one call of it.
func TestCompare(t *testing.T) {
	ops := map[string]struct {
		loop func(z []bool, x, y []float32)
		want func(a, b float32) bool
	}{
		"Equal":        {Equal[float32], func(a, b float32) bool { return a == b }},
		"NotEqual":     {NotEqual[float32], func(a, b float32) bool { return a != b }},
		"Less":         {Less[float32], func(a, b float32) bool { return a < b }},
		"LessEqual":    {LessEqual[float32], func(a, b float32) bool { return a <= b }},
		"Greater":      {Greater[float32], func(a, b float32) bool { return a > b }},
		"GreaterEqual": {GreaterEqual[float32], func(a, b float32) bool { return a >= b }},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, op := range ops {
			for _, n := range kerneltest.Lengths {
				x, y := operands(n, 5), operands(n+1, 6)[1:]
				for i := range x {
					if i%5 == 0 {
						y[i] = x[i]
					}
				}
				checkCompare(t, name, op.loop, op.want, x, y)
			}
		}
	})
}

func checkCompare(t *testing.T, name string, loop func(z []bool, x, y []float32), want func(a, b float32) bool, x, y []float32) {
	t.Helper()
	n := len(x)
	buf := make([]bool, n+2)
	buf[0], buf[n+1] = true, true
	loop(buf[1:n+1], x, y)
	if !buf[0] || !buf[n+1] {
		t.Fatalf("%s: length %d: wrote outside the slice", name, n)
	}
	for i, got := range buf[1 : n+1] {
		if got != want(x[i], y[i]) {
			t.Fatalf("%s: length %d: (%v, %v) gives %v", name, n, x[i], y[i], got)
		}
		if b := kernel.Words[uint8](buf)[i+1]; b > 1 {
			t.Fatalf("%s: a bool is %d", name, b)
		}
	}
}

// TestWidenAndNarrow covers the same lengths, and numbers that float32 cannot
// hold.
func TestWidenAndNarrow(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			x := operands(n, 7)
			wide := make([]float64, n+1)
			wide[n] = 12345
			Cast(wide[:n], x)
			for i, v := range x {
				if w := float64(v); wide[i] != w && v == v || math.Signbit(wide[i]) != math.Signbit(w) {
					t.Fatalf("length %d: %v is widened to %v", n, v, wide[i])
				}
			}
			if wide[n] != 12345 {
				t.Fatalf("length %d: wrote outside the slice", n)
			}
			for i := range wide[:n] {
				wide[i] *= 1 + 1e-9*float64(i%7) + float64(i%2)*1e3
			}
			back, check := kerneltest.Guarded(n)
			Cast(back, wide[:n])
			check(t)
			for i, v := range wide[:n] {
				if !kerneltest.Same(back[i], float32(v)) {
					t.Fatalf("length %d: %v is narrowed to %v", n, v, back[i])
				}
			}
		}
	})
}

func TestFill(t *testing.T) {
	for _, n := range append(kerneltest.Lengths, 1024, 1040, 3000) {
		x, check := kerneltest.Guarded(n)
		kernel.Fill(x, 7)
		check(t)
		for i, v := range x {
			if v != 7 {
				t.Fatalf("length %d: element %d is %v", n, i, v)
			}
		}
	}
}
