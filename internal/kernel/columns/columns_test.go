package columns

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestColumnLoops compares the loops down columns with what they are defined
// to compute, at all widths, with operands that are longer.
func TestColumnLoops(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, width := range append([]int{1, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 130}, kerneltest.Lengths[:5]...) {
			for _, rows := range []int{0, 1, 2, 13} {
				testColumnLoops(t, Down{rows, width + rows, width})
			}
		}
	})
}

func testColumnLoops(t *testing.T, d Down) {
	in := make([][]float32, 6)
	for k := range in {
		in[k] = kerneltest.Random[float32](d.Stride*(d.Rows+1)+k, uint64(k))
	}
	a, b, c, e, f, g := in[0], in[1], in[2], in[3], in[4], in[5]
	check := func(name string, got []float32, want []float64) {
		t.Helper()
		for i, v := range got {
			if math.Abs(float64(v)-want[i]) > 1e-5 {
				t.Fatalf("%s: %+v: element %d is %v, want %v", name, d, i, v, want[i])
			}
		}
	}
	elements := func(name string, run func(z []float32), want func(c, i int) float32) {
		t.Helper()
		z, inside := kerneltest.Guarded(d.Stride * d.Rows)
		wide := slices.Repeat([]float64{12345}, len(z)) // what lies between rows stays
		d.each(func(c, i int) { wide[i] = float64(want(c, i)) })
		run(z)
		check(name, z, wide)
		inside(t)
	}
	elements("normalize", func(z []float32) { Normalize(d, z, a, b, c, e) }, func(k, i int) float32 { return (a[i]-b[k])*c[k] + e[k] })
	elements("normGrad", func(z []float32) { NormGrad(d, z, a, b, c, e, f, g) }, func(k, i int) float32 { return (a[i] - f[k] - (b[i]-c[k])*e[k]) * g[k] })
	sums := func(name string, run func(first, second []float32), want func(k, i int) (first, second float64)) {
		t.Helper()
		first, inFirst := kerneltest.Guarded(d.Width)
		second, inSecond := kerneltest.Guarded(d.Width)
		copy(first, f)
		copy(second, g)
		wantFirst, wantSecond := make([]float64, d.Width), make([]float64, d.Width)
		for k := range d.Width {
			wantFirst[k], wantSecond[k] = float64(f[k]), float64(g[k])
		}
		d.each(func(k, i int) {
			x, y := want(k, i)
			wantFirst[k] += x
			wantSecond[k] += y
		})
		run(first, second)
		check(name, first, wantFirst)
		check(name, second, wantSecond)
		inFirst(t)
		inSecond(t)
	}
	sums("columnSums", func(x, _ []float32) { Sums(d, x, a) }, func(_, i int) (float64, float64) { return float64(a[i]), 0 })
	sums("columnMoments", func(x, y []float32) { Moments(d, x, y, a, b) }, func(k, i int) (float64, float64) {
		v := float64(a[i]) - float64(b[k])
		return v, v * v
	})
	sums("columnProducts", func(x, y []float32) { Products(d, x, y, a, b, c) }, func(k, i int) (float64, float64) {
		return float64(a[i]), float64(a[i]) * (float64(b[i]) - float64(c[k]))
	})
	for _, most := range []float32{0.25, float32(math.NaN())} {
		gate := Gate{g, f, most}
		passed := func(k, i int) float32 {
			if y := (b[i]-c[k])*g[k] + f[k]; y > 0 && !(y >= most) {
				return a[i]
			}
			return 0
		}
		elements("normGradGated", func(z []float32) { GatedNormGrad(d, z, a, b, c, e, f, gate) }, func(k, i int) float32 {
			return (passed(k, i) - f[k] - (b[i]-c[k])*e[k]) * g[k]
		})
		sums("columnProductsGated", func(x, y []float32) { GatedProducts(d, x, y, a, b, c, gate) }, func(k, i int) (float64, float64) {
			return float64(passed(k, i)), float64(passed(k, i)) * (float64(b[i]) - float64(c[k]))
		})
	}
}

// TestExtremes compares with a loop: NaN, both zeros, rows of all widths.
func TestExtremes(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for width := 1; width < 140; width += 3 {
			for rows := range 5 {
				d := Down{Rows: rows, Stride: width, Width: width}
				x := kerneltest.Random[float32](width*rows, uint64(width))
				for i := range x {
					switch i % 7 {
					case 2:
						x[i] = float32(math.Copysign(0, float64(i%2)-0.5))
					case 5:
						if i%4 == 0 {
							x[i] = float32(math.NaN())
						}
					}
				}
				start := kerneltest.Random[float32](width, 5)
				checkExtreme(t, d, start, x, Max, func(m, v float32) bool { return m > v })
				checkExtreme(t, d, start, x, Min, func(m, v float32) bool { return m < v })
			}
		}
	})
}

func checkExtreme(t *testing.T, d Down, start, x []float32, fold func(d Down, kept, x []float32), stays func(m, v float32) bool) {
	t.Helper()
	got := append(append([]float32(nil), start...), 7, 7, 7)
	want := append([]float32(nil), got...)
	for i, v := range x {
		if m := &want[i%d.Width]; *m == *m && !stays(*m, v) {
			*m = v
		}
	}
	fold(d, got[:d.Width], x)
	for i := range want {
		if got[i] != want[i] && want[i] == want[i] || got[i] == 0 && math.Signbit(float64(got[i])) != math.Signbit(float64(want[i])) || want[i] != want[i] && got[i] == got[i] {
			t.Fatalf("column %d of %+v is %v, want %v", i, d, got[i], want[i])
		}
	}
}
