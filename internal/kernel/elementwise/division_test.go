package elementwise

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// divisions returns all pairs of some numbers.
func divisions() (x, y []int8) {
	all := []int8{-128, -127, -8, -7, -3, -1, 0, 1, 2, 3, 7, 8, 127}
	for _, a := range all {
		for _, b := range all {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

func TestIntegerDivision(t *testing.T) {
	x, y := divisions()
	loops := map[string]struct {
		loop func(z, x, y []int8)
		want func(a, b *big.Int) *big.Int
	}{
		"DivInt": {DivInt[int8], func(a, b *big.Int) *big.Int { return new(big.Int).Quo(a, b) }},
		"ModInt": {ModInt[int8], func(a, b *big.Int) *big.Int { return new(big.Int).Rem(a, b) }},
		"FloorDivInt": {FloorDivInt[int8], func(a, b *big.Int) *big.Int {
			q, m := new(big.Int).DivMod(a, b, new(big.Int))
			if b.Sign() < 0 && m.Sign() != 0 { // DivMod rounds so that m >= 0
				q.Sub(q, big.NewInt(1))
			}
			return q
		}},
		"FloorModInt": {FloorModInt[int8], func(a, b *big.Int) *big.Int {
			m := new(big.Int).Mod(a, b)
			if b.Sign() < 0 && m.Sign() != 0 {
				m.Add(m, b)
			}
			return m
		}},
	}
	for name, l := range loops {
		z := make([]int8, len(x))
		l.loop(z, x, y)
		for i := range z {
			want := int8(0)
			if y[i] != 0 {
				want = int8(l.want(big.NewInt(int64(x[i])), big.NewInt(int64(y[i]))).Int64())
			}
			if z[i] != want {
				t.Errorf("%s(%d, %d) = %d, want %d", name, x[i], y[i], z[i], want)
			}
		}
	}
	u := make([]uint8, 3)
	FloorDivInt(u, []uint8{250, 7, 9}, []uint8{3, 0, 10})
	if want := []uint8{83, 0, 0}; !slices.Equal(u, want) {
		t.Errorf("unsigned %v, want %v", u, want)
	}
}

// TestFloatDivision has TensorFlow's results.
func TestFloatDivision(t *testing.T) {
	x := []float32{7, -7, 7, -7, 5.5, 1, kerneltest.NaN, kerneltest.Inf, -kerneltest.Inf, 1, 1, -1, 0, kerneltest.NegZero, 1, -1}
	y := []float32{2, 2, -2, -2, -2, 0, 1, 2, 2, kerneltest.Inf, -kerneltest.Inf, kerneltest.Inf, -5, 5, 0, 0}
	for name, c := range map[string]struct {
		loop func(z, x, y []float32)
		want []float32
	}{
		"FloorDiv": {FloorDiv[float32], []float32{3, -4, -4, 3, -3, kerneltest.Inf, kerneltest.NaN, kerneltest.Inf, -kerneltest.Inf, 0, kerneltest.NegZero, kerneltest.NegZero, kerneltest.NegZero, kerneltest.NegZero, kerneltest.Inf, -kerneltest.Inf}},
		"FloorMod": {FloorMod[float32], []float32{1, 1, -1, -1, -0.5, kerneltest.NaN, kerneltest.NaN, kerneltest.NaN, kerneltest.NaN, 1, -kerneltest.Inf, kerneltest.Inf, 0, kerneltest.NegZero, kerneltest.NaN, kerneltest.NaN}},
		"Mod":      {Mod[float32], []float32{1, -1, 1, -1, 1.5, kerneltest.NaN, kerneltest.NaN, kerneltest.NaN, kerneltest.NaN, 1, 1, -1, 0, kerneltest.NegZero, kerneltest.NaN, kerneltest.NaN}},
		"DivNoNan": {DivNoNan[float32], []float32{3.5, -3.5, -3.5, 3.5, -2.75, 0, kerneltest.NaN, kerneltest.Inf, -kerneltest.Inf, 0, kerneltest.NegZero, kerneltest.NegZero, kerneltest.NegZero, kerneltest.NegZero, 0, 0}},
	} {
		z := make([]float32, len(x))
		c.loop(z, x, y)
		for i := range z {
			if !kerneltest.Same(z[i], c.want[i]) {
				t.Errorf("%s(%v, %v) = %v, want %v", name, x[i], y[i], z[i], c.want[i])
			}
		}
	}
}

func TestPow(t *testing.T) {
	z := make([]int32, 8)
	PowInt(z, []int32{2, -2, 0, 0, 1, -1, 3, 7}, []int32{10, 3, 0, 5, 0, 5, 41, 70})
	if want := []int32{1024, -8, 1, 0, 1, -1, 2069870691, 1187094929}; !slices.Equal(z, want) {
		t.Errorf("%v, want %v", z, want)
	}
	f := make([]float64, 3)
	Pow(f, []float64{2, 0, -8}, []float64{0.5, -1, 1. / 3})
	if f[0] != math.Sqrt2 || !math.IsInf(f[1], 1) || !math.IsNaN(f[2]) {
		t.Errorf("powers %v", f)
	}
	c := make([]complex64, 1)
	Pow(c, []complex64{1i}, []complex64{2})
	if d := c[0] + 1; math.Abs(float64(real(d))) > 1e-6 || math.Abs(float64(imag(d))) > 1e-6 {
		t.Errorf("i² is %v", c[0])
	}
}

func TestHasZeroAndNegative(t *testing.T) {
	if HasZero([]int32{1, 2}) || !HasZero([]int32{1, 0}) || HasZero([]float32{kerneltest.NaN}) {
		t.Error("HasZero")
	}
	if HasNegative([]int8{0, 1}) || !HasNegative([]int8{3, -1}) || HasNegative([]uint8{255}) {
		t.Error("HasNegative")
	}
}
