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

// fftSizes are powers of two, products with 3 and 5, and a long one.
var fftSizes = []int{4, 5, 6, 8, 9, 15, 16, 20, 24, 25, 27, 30, 32, 45, 64, 75, 100, 120, 125, 128, 200, 240, 243, 256, 500, 512, 600, 768, 1024}

func fftLines(n, lines, width int, seed uint64) []complex64 {
	r := kerneltest.Random[float32](2*lines*width, seed+uint64(n))
	x := make([]complex64, lines*width)
	for i := range x {
		x[i] = complex(r[2*i], r[2*i+1])
	}
	return x
}

// nearLine compares a line with what it should be: errors are those of rounding, of
// the size of the whole.
func nearLine(t *testing.T, what string, got []complex64, want []complex128) {
	t.Helper()
	var off, all float64
	for k, v := range want {
		d := cmplx.Abs(complex128(got[k]) - v)
		off, all = off+d*d, all+real(v)*real(v)+imag(v)*imag(v)
	}
	if bound := 0x1p-24 * (1 + math.Log2(float64(len(want)))); math.Sqrt(off) > bound*math.Sqrt(all) || math.IsNaN(off) {
		t.Errorf("%s: error %.3g of %.3g, at most %.3g", what, math.Sqrt(off), math.Sqrt(all), bound*math.Sqrt(all))
	}
}

func wide(x []complex64) []complex128 {
	y := make([]complex128, len(x))
	for i, v := range x {
		y[i] = complex128(v)
	}
	return y
}

func TestComplexFFT(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range fftSizes {
			for _, lines := range []int{1, 5, 16, 33} {
				width := n + lines%3
				x, y, z := fftLines(n, lines, width, 3), make([]complex64, lines*n), make([]complex64, lines*n)
				f := NewComplexFFT(n)
				f.Complex(kerneltest.Backwards, y, x, width, false)
				f.Complex(kerneltest.Backwards, z, x, width, true)
				for i := 0; i < lines; i += max(1, n/16) {
					line := wide(x[i*width:][:n])
					nearLine(t, fmt.Sprintf("%d, line %d of %d", n, i, lines), y[i*n:][:n], dft(line, -1))
					back := dft(line, 1)
					for k := range back {
						back[k] /= complex(float64(n), 0)
					}
					nearLine(t, fmt.Sprintf("inverse %d, line %d of %d", n, i, lines), z[i*n:][:n], back)
				}
			}
		}
	})
}

// turn transposes matrices.
func turn(to, from []complex64, rows, cols int) {
	for i := range from {
		m, r, c := i/(rows*cols), i/cols%rows, i%cols
		to[m*rows*cols+c*rows+r] = from[i]
	}
}

// TestColumns: columns are transformed as lines are, to the last bit.
func TestColumns(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range fftSizes {
			for _, inner := range []int{1, 4, 16, 37} {
				f, x := NewComplexFFT(n), fftLines(n*inner, 2, n*inner, 5)
				columns, lines, want := make([]complex64, len(x)), make([]complex64, len(x)), make([]complex64, len(x))
				for _, inverse := range []bool{false, true} {
					turn(lines, x, n, inner)
					f.Complex(kerneltest.Backwards, want, lines, n, inverse)
					turn(lines, want, inner, n)
					copy(columns, x)
					f.Columns(kerneltest.Backwards, columns, columns, inner, inverse)
					for i, v := range lines {
						if columns[i] != v {
							t.Fatalf("%d rows of %d, inverse %v: element %d is %v, want %v", n, inner, inverse, i, columns[i], v)
						}
					}
				}
			}
		}
	})
}

func TestRealFFT(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, half := range fftSizes {
			for _, lines := range []int{1, 7, 16, 18} {
				n := 2 * half
				width := n + lines%3
				x, y, z := kerneltest.Random[float32](lines*width, 9), make([]complex64, lines*(half+1)), make([]float32, lines*n)
				f := NewRealFFT(n)
				f.Real(kerneltest.Backwards, y, x, width)
				f.InverseReal(kerneltest.Backwards, z, y, half+1)
				for i := 0; i < lines; i += max(1, half/16) {
					line, back := make([]complex128, n), make([]complex64, n)
					for j := range line {
						line[j], back[j] = complex(float64(x[i*width+j]), 0), complex(z[i*n+j], 0)
					}
					what := fmt.Sprintf("%d, line %d of %d", n, i, lines)
					nearLine(t, what, y[i*(half+1):][:half+1], dft(line, -1)[:half+1])
					nearLine(t, what+", and back", back, line)
				}
			}
		}
	})
}

// TestOddPasses: the vector loops do what those that define them do, but for rounding:
// products are added without rounding in between.
func TestOddPasses(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{3, 5, 9, 15, 27, 60, 75} {
			for _, p := range planned(n) {
				x := kerneltest.Random[float32](n*fftBlock, uint64(n))
				got, want := make([]float32, n*fftBlock), make([]float32, n*fftBlock)
				p.run(got, x)
				p.odd(want, x)
				for i := range want {
					if d := math.Abs(float64(got[i] - want[i])); !(d <= 0x1p-20) {
						t.Fatalf("radix %d of %d, element %d: %v, want %v", p.radix, n, i, got[i], want[i])
					}
				}
			}
		}
	})
}

// planned returns the passes of odd radix of a transform of n numbers, however short.
func planned(n int) (out []fftPass) {
	for _, p := range fftPasses(n, fftRadices(n)) {
		if p.radix%2 == 1 {
			out = append(out, p)
		}
	}
	return out
}

// TestInverseRealIgnores: the imaginary parts of the first and the last element belong
// to no real numbers.
func TestInverseRealIgnores(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x := fftLines(17, 16, 17, 1)
		y, z := make([]float32, 16*32), make([]float32, 16*32)
		f := NewRealFFT(32)
		f.InverseReal(kerneltest.Backwards, y, x, 17)
		for i := range 16 {
			for _, k := range []int{0, 16} {
				x[i*17+k] = complex(real(x[i*17+k]), 0)
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
		y := make([]complex64, 20*33)
		NewRealFFT(64).Real(kerneltest.Backwards, y, x, 64)
		for i, v := range y {
			if isNaN := cmplx.IsNaN(complex128(v)); isNaN != (i/33 == 3) {
				t.Fatalf("element %d of line %d is %v", i%33, i/33, v)
			}
		}
	})
}

func TestFFTRefuses(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 14, 4 * 11, 2 * mostFFT} {
		if NewComplexFFT(n) != nil {
			t.Errorf("a transform of %d", n)
		}
	}
	for _, n := range []int{0, 2, 6, 9, 15, 14, 4 * mostFFT} {
		if NewRealFFT(n) != nil {
			t.Errorf("a transform of %d real numbers", n)
		}
	}
}
