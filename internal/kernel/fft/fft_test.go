package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// dft is a transform as it is defined, in double precision.
func dft(x []complex128, sign float64) []complex128 {
	n := len(x)
	y, roots := make([]complex128, n), make([]complex128, n)
	for k := range roots {
		s, c := math.Sincos(sign * 2 * math.Pi * float64(k) / float64(n))
		roots[k] = complex(c, s)
	}
	for k := range y {
		for j, v := range x {
			y[k] += v * roots[j*k%n]
		}
	}
	return y
}

// fftSizes are powers of two, products with 3 and 5, and lengths with large factors.
var fftSizes = []int{4, 5, 6, 8, 9, 15, 16, 20, 24, 25, 27, 30, 32, 45, 64, 75, 100, 120, 125, 128, 200, 240, 243, 256, 500, 512, 600, 768, 1024, 67, 134, 251}

func fftLines[T Real](n, lines, width int, seed uint64) []T {
	return kerneltest.Random[T](2*lines*width, seed+uint64(n))
}

// eachPrecision runs a test in single and in double precision, at all levels.
func eachPrecision(t *testing.T, single, double func(t *testing.T)) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		t.Run("single", single)
		t.Run("double", double)
	})
}

// rounding is half a unit of the last place of 1; in double precision four times as
// much, as what results are compared with is rounded, too.
func rounding[T Real]() float64 { return map[int]float64{16: 0x1p-24, 8: 0x1p-51}[lanes[T]()] }

// nearLine compares a line with what it should be: errors are those of rounding, of
// the size of the whole.
func nearLine[T Real](t *testing.T, what string, got []T, want []complex128) {
	t.Helper()
	var off, all float64
	for k, v := range want {
		d := cmplx.Abs(complex(float64(got[2*k]), float64(got[2*k+1])) - v)
		off, all = off+d*d, all+real(v)*real(v)+imag(v)*imag(v)
	}
	if bound := rounding[T]() * (1 + math.Log2(float64(len(want)))); math.Sqrt(off) > bound*math.Sqrt(all) || math.IsNaN(off) {
		t.Errorf("%s: error %.3g of %.3g, at most %.3g", what, math.Sqrt(off), math.Sqrt(all), bound*math.Sqrt(all))
	}
}

func wide[T Real](x []T) []complex128 {
	y := make([]complex128, len(x)/2)
	for i := range y {
		y[i] = complex(float64(x[2*i]), float64(x[2*i+1]))
	}
	return y
}

func TestComplexFFT(t *testing.T) { eachPrecision(t, testComplex[float32], testComplex[float64]) }

func testComplex[T Real](t *testing.T) {
	for _, n := range fftSizes {
		for _, lines := range []int{1, 5, 16, 33} {
			width := n + lines%3
			x, y, z := fftLines[T](n, lines, width, 3), make([]T, 2*lines*n), make([]T, 2*lines*n)
			f := planFFT[T](n)
			f.Complex(kerneltest.Backwards, y, x, width, false)
			f.Complex(kerneltest.Backwards, z, x, width, true)
			for i := 0; i < lines; i += max(1, n/16) {
				line := wide(x[2*i*width:][:2*n])
				nearLine(t, fmt.Sprintf("%d, line %d of %d", n, i, lines), y[2*i*n:][:2*n], dft(line, -1))
				back := dft(line, 1)
				for k := range back {
					back[k] /= complex(float64(n), 0)
				}
				nearLine(t, fmt.Sprintf("inverse %d, line %d of %d", n, i, lines), z[2*i*n:][:2*n], back)
			}
		}
	}
}

// turn transposes matrices.
func turn[T Real](to, from []T, rows, cols int) {
	for i := range len(from) / 2 {
		m, r, c := i/(rows*cols), i/cols%rows, i%cols
		copy(to[2*(m*rows*cols+c*rows+r):][:2], from[2*i:])
	}
}

// TestColumns: columns are transformed as lines are, to the last bit, whatever matrices
// they are of.
func TestColumns(t *testing.T) { eachPrecision(t, testColumns[float32], testColumns[float64]) }

func testColumns[T Real](t *testing.T) {
	for _, n := range fftSizes {
		for _, inner := range []int{1, 4, 7, 16, 37} {
			f, x := planFFT[T](n), fftLines[T](n*inner, 3, n*inner, 5)
			columns, lines, want := make([]T, len(x)), make([]T, len(x)), make([]T, len(x))
			for _, inverse := range []bool{false, true} {
				turn(lines, x, n, inner)
				f.Complex(kerneltest.Backwards, want, lines, n, inverse)
				turn(lines, want, inner, n)
				copy(columns, x)
				f.Columns(kerneltest.Backwards, columns, columns, inner, inverse)
				for i, v := range lines {
					if columns[i] != v {
						t.Fatalf("%d rows of %d, inverse %v: number %d is %v, want %v", n, inner, inverse, i, columns[i], v)
					}
				}
			}
		}
	}
}

func TestRealFFT(t *testing.T) { eachPrecision(t, testReal[float32], testReal[float64]) }

func testReal[T Real](t *testing.T) {
	for _, half := range fftSizes {
		for _, lines := range []int{1, 7, 16, 18} {
			n := 2 * half
			width := n + lines%3
			x, y, z := kerneltest.Random[T](lines*width, 9), make([]T, 2*lines*(half+1)), make([]T, lines*n)
			f := NewRealFFT[T](n)
			if f == nil {
				continue // without vector loops
			}
			f.Real(kerneltest.Backwards, y, x, width)
			f.InverseReal(kerneltest.Backwards, z, y, half+1)
			for i := 0; i < lines; i += max(1, half/16) {
				line, back := make([]complex128, n), make([]T, 2*n)
				for j := range line {
					line[j], back[2*j] = complex(float64(x[i*width+j]), 0), z[i*n+j]
				}
				what := fmt.Sprintf("%d, line %d of %d", n, i, lines)
				nearLine(t, what, y[2*i*(half+1):][:2*(half+1)], dft(line, -1)[:half+1])
				nearLine(t, what+", and back", back, line)
			}
		}
	}
}

// TestPasses: the vector loops do what those that define them do, but for rounding:
// products are added without rounding in between.
func TestPasses(t *testing.T) { eachPrecision(t, testPasses[float32], testPasses[float64]) }

func testPasses[T Real](t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 6, 8, 9, 15, 27, 60, 75, 90} {
		for _, p := range fftPasses[T](n, fftRadices(n)) {
			x := kerneltest.Random[T](len(room[T](n)), uint64(n))
			got, want := room[T](n), room[T](n)
			p.run(loopsOf[T](), got, x)
			p.plain(want, x)
			for i := range want {
				if d := math.Abs(float64(got[i] - want[i])); !(d <= 16*rounding[T]()) {
					t.Fatalf("radix %d of %d, number %d: %v, want %v", p.radix, n, i, got[i], want[i])
				}
			}
		}
	}
}

// TestPortable: splitting, joining, exchanging parts and lines of vector loops do what
// those that define them do.
func TestPortable(t *testing.T) { eachPrecision(t, testPortable[float32], testPortable[float64]) }

func testPortable[T Real](t *testing.T) {
	const lines = 37
	f, plain := NewRealFFT[T](48), NewRealFFT[T](48)
	plain.loops = &vectorLoops[T]{}
	n := f.n + 1
	x := fftLines[T](n, lines, n, 7)
	for name, do := range map[string]func(f *FFT[T]) []T{
		"split": func(f *FFT[T]) []T { z := append(room[T](0), x...); f.splitReal(z); return z },
		"join":  func(f *FFT[T]) []T { z := append(room[T](0), x...); f.joinReal(z); return z },
		"swap":  func(f *FFT[T]) []T { z := append(room[T](0), x...); f.swapParts(z, 9, 0.25); return z },
		"times": func(f *FFT[T]) []T { z := append(room[T](0), x...); f.times(z, 9, x[1000:]); return z },
		"lanes": func(f *FFT[T]) []T {
			z, y := room[T](n), make([]T, 2*n*lanes[T]())
			f.readLanes(z, x, lanes[T](), 2*n, 2*n, true)
			f.writeLanes(y, z, lanes[T](), 2*n, false)
			return append(y, z...)
		},
	} {
		got, want := do(f), do(plain)
		for i, v := range want {
			if d := math.Abs(float64(got[i] - v)); !(d <= 8*rounding[T]()) {
				t.Fatalf("%s: number %d is %v, want %v", name, i, got[i], v)
			}
		}
	}
}

// TestInverseRealIgnores: the imaginary parts of the first and the last element belong
// to no real numbers.
func TestInverseRealIgnores(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x := fftLines[float32](17, 16, 17, 1)
		y, z := make([]float32, 16*32), make([]float32, 16*32)
		f := NewRealFFT[float32](32)
		f.InverseReal(kerneltest.Backwards, y, x, 17)
		for i := range 16 {
			for _, k := range []int{0, 16} {
				x[2*(i*17+k)+1] = 0
			}
		}
		f.InverseReal(kerneltest.Backwards, z, x, 17)
		for i := range y {
			if y[i] != z[i] {
				t.Fatalf("element %d is %v, without imaginary parts %v", i, y[i], z[i])
			}
		}
	})
}

// TestFFTLinesApart: what is not a number in one line is not in others.
func TestFFTLinesApart(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x := kerneltest.Random[float32](20*64, 4)
		x[3*64+5] = float32(math.NaN())
		y := make([]float32, 2*20*33)
		NewRealFFT[float32](64).Real(kerneltest.Backwards, y, x, 64)
		for i, v := range y {
			if isNaN := v != v; isNaN && i/66 != 3 || !isNaN && i/66 == 3 && i%66 != 1 && i%66 != 65 {
				t.Fatalf("number %d of line %d is %v", i%66, i/66, v)
			}
		}
	})
}

func TestFFTRefuses(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 14, 4 * 11, 2 * mostFFT} {
		if NewComplexFFT[float32](n) != nil {
			t.Errorf("a transform of %d", n)
		}
	}
	for _, n := range []int{0, 2, 6, 9, 15, 14, 4 * mostFFT} {
		if NewRealFFT[float64](n) != nil {
			t.Errorf("a transform of %d real numbers", n)
		}
	}
}
