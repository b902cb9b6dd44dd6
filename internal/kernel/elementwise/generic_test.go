package elementwise

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

func TestComparisons(t *testing.T) {
	x := []float64{1, 2, 3, math.NaN(), math.Inf(1), 0}
	y := []float64{2, 2, 2, math.NaN(), math.Inf(1), math.Copysign(0, -1)}
	for name, c := range map[string]struct {
		loop func(z []bool, x, y []float64)
		want []bool
	}{
		"Equal":        {Equal[float64], []bool{false, true, false, false, true, true}},
		"NotEqual":     {NotEqual[float64], []bool{true, false, true, true, false, false}},
		"Less":         {Less[float64], []bool{true, false, false, false, false, false}},
		"LessEqual":    {LessEqual[float64], []bool{true, true, false, false, true, true}},
		"Greater":      {Greater[float64], []bool{false, false, true, false, false, false}},
		"GreaterEqual": {GreaterEqual[float64], []bool{false, true, true, false, true, true}},
	} {
		z := make([]bool, len(x))
		c.loop(z, x, y)
		if !slices.Equal(z, c.want) {
			t.Errorf("%s: %v, want %v", name, z, c.want)
		}
	}
}

func TestLogic(t *testing.T) {
	x, y, z := []bool{false, false, true, true}, []bool{false, true, false, true}, make([]bool, 4)
	And(z, x, y)
	if want := []bool{false, false, false, true}; !slices.Equal(z, want) {
		t.Errorf("and %v", z)
	}
	Or(z, x, y)
	if want := []bool{false, true, true, true}; !slices.Equal(z, want) {
		t.Errorf("or %v", z)
	}
	Not(z, x)
	if want := []bool{true, true, false, false}; !slices.Equal(z, want) {
		t.Errorf("not %v", z)
	}
	s := make([]string, 4)
	Select(s, x, []string{"a", "b", "c", "d"}, []string{"e", "f", "g", "h"})
	if want := []string{"e", "f", "c", "d"}; !slices.Equal(s, want) {
		t.Errorf("select %v", s)
	}
}

func TestBitwise(t *testing.T) {
	x, y := []int16{0b1100, -1}, []int16{0b1010, 0x0f0f}
	for name, c := range map[string]struct {
		loop func(z, x, y []int16)
		want []int16
	}{
		"BitAnd": {BitAnd[int16], []int16{0b1000, 0x0f0f}},
		"BitOr":  {BitOr[int16], []int16{0b1110, -1}},
		"BitXor": {BitXor[int16], []int16{0b0110, -0x0f10}},
		"BitNot": {func(z, x, _ []int16) { BitNot(z, x) }, []int16{-13, 0}},
	} {
		z := make([]int16, 2)
		c.loop(z, x, y)
		if !slices.Equal(z, c.want) {
			t.Errorf("%s: %v, want %v", name, z, c.want)
		}
	}
}

func TestIntegerArithmetic(t *testing.T) {
	x, y, z := []int8{100, -128, 5}, []int8{100, 1, -7}, make([]int8, 3)
	for name, c := range map[string]struct {
		loop func()
		want []int8
	}{
		"Add wraps":         {func() { Add(z, x, y) }, []int8{-56, -127, -2}},
		"Sub wraps":         {func() { Sub(z, x, y) }, []int8{0, 127, 12}},
		"Mul wraps":         {func() { Mul(z, x, y) }, []int8{16, -128, -35}},
		"Neg":               {func() { Neg(z, x) }, []int8{-100, -128, -5}},
		"Abs":               {func() { Abs(z, x) }, []int8{100, -128, 5}},
		"Sign":              {func() { Sign(z, x) }, []int8{1, -1, 1}},
		"Square":            {func() { Square(z, x) }, []int8{16, 0, 25}},
		"Max":               {func() { Max(z, x, y) }, []int8{100, 1, 5}},
		"Min":               {func() { Min(z, x, y) }, []int8{100, -128, -7}},
		"Relu":              {func() { Relu(z, x) }, []int8{100, 0, 5}},
		"SquaredDifference": {func() { SquaredDifference(z, x, y) }, []int8{0, 1, -112}},
	} {
		c.loop()
		if !slices.Equal(z, c.want) {
			t.Errorf("%s: %v, want %v", name, z, c.want)
		}
	}
}

func TestFloatFunctions(t *testing.T) {
	in := math.Inf(1)
	x := []float64{math.NaN(), -1, math.Copysign(0, -1), 2.5, in, -in}
	for name, c := range map[string]struct {
		loop func(y, x []float64)
		want []float64
	}{
		"Sign":       {Sign[float64], []float64{math.NaN(), -1, 0, 1, 1, -1}},
		"Reciprocal": {Reciprocal[float64], []float64{math.NaN(), -1, -in, 0.4, 0, 0}},
		"Ceil":       {Ceil[float64], []float64{math.NaN(), -1, 0, 3, in, -in}},
		"Round":      {Round[float64], []float64{math.NaN(), -1, 0, 2, in, -in}},
		"Elu":        {Elu[float64], []float64{math.NaN(), math.Exp(-1) - 1, 0, 2.5, in, -1}},
		"Softplus":   {Softplus[float64], []float64{math.NaN(), math.Log(1 + math.Exp(-1)), math.Ln2, math.Log(1 + math.Exp(2.5)), in, 0}},
		"Relu":       {Relu[float64], []float64{math.NaN(), 0, 0, 2.5, in, 0}},
		"Rsqrt":      {Rsqrt[float64], []float64{math.NaN(), math.NaN(), -in, 1 / math.Sqrt(2.5), 0, math.NaN()}},
	} {
		y := make([]float64, len(x))
		c.loop(y, x)
		for i := range y {
			if !(y[i] == c.want[i] || math.Abs(y[i]-c.want[i]) < 1e-15 || y[i] != y[i] && c.want[i] != c.want[i]) {
				t.Errorf("%s(%v) = %v, want %v", name, x[i], y[i], c.want[i])
			}
		}
	}
}

func TestNoNan(t *testing.T) {
	z := make([]float32, 4)
	MulNoNan(z, []float32{kerneltest.NaN, kerneltest.Inf, 3, kerneltest.NaN}, []float32{0, 0, 2, 1})
	for i, want := range []float32{0, 0, 6, kerneltest.NaN} {
		if !kerneltest.Same(z[i], want) {
			t.Errorf("product %d is %v, want %v", i, z[i], want)
		}
	}
}

func TestComplexFunctions(t *testing.T) {
	x := []complex128{1 + 2i, -3, 0.5i}
	y := make([]complex64, 3)
	MapComplex128(y, []complex64{1 + 2i, -3, 0.5i}, cmplx.Exp)
	for i := range y {
		if d := cmplx.Abs(complex128(y[i]) - cmplx.Exp(x[i])); d > 1e-6 {
			t.Errorf("exp(%v) = %v", x[i], y[i])
		}
	}
	z := make([]complex128, 3)
	Div(z, x, []complex128{1i, 1i, 1i})
	if want := []complex128{2 - 1i, 3i, 0.5}; !slices.Equal(z, want) {
		t.Errorf("quotients %v, want %v", z, want)
	}
}
