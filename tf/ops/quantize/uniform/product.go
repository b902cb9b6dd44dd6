package uniform

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// A factored product is that of rows of numbers and columns of others, all of 8
// bits.
type factored struct {
	a, b         []int8 // b is stored by columns
	rows, n, k   int
	zeroA, zeroB func(i int) int32 // zero points by row and by column
}

// sums returns the sums of the products of what the numbers stand for in steps,
// by rows. Sums that do not fit wrap around.
func (f factored) sums(par kernel.Par) []int32 {
	out := core.Make[int32](f.rows * f.n)
	gemm.MatMul8(par, gemm.NewGemm(f.rows, f.n, f.k, false, true), out, gemm.Bytes[int8]{Data: f.a}, gemm.Bytes[int8]{Data: f.b})
	sumA, sumB := lineSums(f.a, f.rows, f.k), lineSums(f.b, f.n, f.k)
	for i := range f.rows {
		zero := f.zeroA(i)
		for j, row := 0, out[i*f.n:(i+1)*f.n]; j < f.n; j++ {
			row[j] += int32(f.k)*zero*f.zeroB(j) - zero*sumB[j] - f.zeroB(j)*sumA[i]
		}
	}
	return out
}

// lineSums returns the sum of each of some lines of k numbers.
func lineSums(x []int8, lines, k int) []int32 {
	out := core.Make[int32](lines)
	for i := range out {
		for _, v := range x[i*k : (i+1)*k] {
			out[i] += int32(v)
		}
	}
	return out
}

// same returns a function that is zero whatever it is asked for.
func same(zero int32) func(int) int32 { return func(int) int32 { return zero } }

// zero returns the zero point of a slice.
func (s scaling) zero(i int) int32 {
	_, z := s.at(i)
	return z
}

// scale returns the scale of a slice.
func (s scaling) scale(i int) float32 {
	v, _ := s.at(i)
	return v
}

// rescalings returns, by column, what sums of products become in the result's
// scaling.
func rescalings(columns int, left float32, right, out scaling, least, most int32) ([]rescaling, error) {
	by := core.Make[rescaling](columns)
	for i := range by {
		m, err := multiplierOf(float64(left) * float64(right.scale(i)) / float64(out.scale(i)))
		if err != nil {
			return nil, err
		}
		by[i] = rescaling{m, 0, out.zero(i), least, most}
	}
	return by, nil
}

// quantizeLine quantizes numbers to 8 bits so that the least and the greatest of
// them, and 0, have numbers.
func quantizeLine(y []int8, x []float32) (scale float32, zero int32) {
	lo, hi := float32(0), float32(0)
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	const least, most = -128., 127.
	width := float64(hi) - float64(lo)
	scale = float32(width / (most - least))
	perUnit := float32(0)
	if width != 0 {
		perUnit = float32((most - least) / width)
	}
	if scale == 0 || !finite(perUnit) {
		clear(y)
		return 1, 0
	}
	zero = zeroPoint(float64(lo)/float64(scale), float64(hi)/float64(scale))
	quantize(y, x, perUnit, zero, least, most)
	return scale, zero
}
