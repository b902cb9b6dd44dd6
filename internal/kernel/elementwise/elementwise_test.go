package elementwise

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// operands returns n numbers of which many are corner cases.
func operands(n int, seed uint64) []float32 {
	x := kerneltest.Random[float32](n, seed)
	for i := range x {
		switch {
		case i%3 == 0:
			x[i] = kerneltest.Corner[(i*7+int(seed)*13)%len(kerneltest.Corner)]
		case i%3 == 1:
			x[i] *= 10
		}
	}
	return x
}

func TestBinaryExact(t *testing.T) {
	ops := map[string]struct {
		loop func(z, x, y []float32)
		want func(a, b float32) float32
	}{
		"Add": {Add[float32], func(a, b float32) float32 { return a + b }},
		"Sub": {Sub[float32], func(a, b float32) float32 { return a - b }},
		"Mul": {Mul[float32], func(a, b float32) float32 { return a * b }},
		"Div": {Div[float32], func(a, b float32) float32 { return a / b }},
		"Max": {Max[float32], maxTwin},
		"Min": {Min[float32], func(a, b float32) float32 { return -maxTwin(-a, -b) }},
		"ReluGrad": {ReluGrad[float32], func(d, v float32) float32 {
			if v > 0 {
				return d
			}
			return 0
		}},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, op := range ops {
			for _, n := range kerneltest.Lengths {
				x, y := operands(n, 1), operands(n+1, 2)[1:]
				z, check := kerneltest.Guarded(n)
				op.loop(z, x, y)
				check(t)
				for i := range z {
					if want := op.want(x[i], y[i]); !kerneltest.Same(z[i], want) {
						t.Fatalf("%s: length %d: (%v, %v) gives %v, want %v", name, n, x[i], y[i], z[i], want)
					}
				}
			}
		}
	})
}

// maxTwin is the maximum with NaN from either side, y if both are zero.
func maxTwin(x, y float32) float32 {
	switch {
	case x != x || y != y:
		return kerneltest.NaN
	case x > y:
		return x
	}
	return y
}

func TestScalarFormsAreBinaryLoops(t *testing.T) {
	forms := map[string]Loops[float32, float32]{
		"Add": AddLoops[float32](), "Sub": SubLoops[float32](), "Mul": MulLoops[float32](),
		"Div": DivLoops[float32](), "Max": MaxLoops[float32](), "Min": MinLoops[float32](),
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, l := range forms {
			for _, n := range kerneltest.Lengths {
				for _, s := range []float32{0, -2.5, kerneltest.NaN, kerneltest.Inf} {
					checkScalarForms(t, fmt.Sprint(name, " ", n, " ", s), l, operands(n, 3), s)
				}
			}
		}
	})
}

func checkScalarForms(t *testing.T, name string, l Loops[float32, float32], x []float32, s float32) {
	t.Helper()
	n := len(x)
	repeated := make([]float32, n)
	kernel.Fill(repeated, s)
	want, got := make([]float32, n), make([]float32, n)
	l.Zip(want, x, repeated)
	l.ScalarY(got, x, s)
	// The sign of the maximum of two zeros depends on which comes second,
	// and commutative forms are one loop.
	equal := func(a, b float32) bool { return kerneltest.Same(a, b) || a == 0 && b == 0 }
	if !slices.EqualFunc(got, want, equal) {
		t.Errorf("%s: ScalarY differs", name)
	}
	l.Zip(want, repeated, x)
	l.ScalarX(got, s, x)
	if !slices.EqualFunc(got, want, equal) {
		t.Errorf("%s: ScalarX differs", name)
	}
}

func TestUnaryExact(t *testing.T) {
	ops := map[string]struct {
		loop func(y, x []float32)
		want func(v float32) float32
	}{
		"Neg":    {Neg[float32], func(v float32) float32 { return -v }},
		"Square": {Square[float32], func(v float32) float32 { return v * v }},
		"Sqrt":   {Sqrt[float32], func(v float32) float32 { return float32(math.Sqrt(float64(v))) }},
		"Relu": {Relu[float32], func(v float32) float32 {
			if v > 0 || v != v {
				return v
			}
			return 0
		}},
		"Sign": {Sign[float32], func(v float32) float32 {
			switch {
			case v > 0:
				return 1
			case v < 0:
				return -1
			case v != v:
				return v
			}
			return 0
		}},
		"Abs":   {Abs[float32], func(v float32) float32 { return float32(math.Abs(float64(v))) }},
		"Floor": {Floor[float32], func(v float32) float32 { return float32(math.Floor(float64(v))) }},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, op := range ops {
			for _, n := range kerneltest.Lengths {
				x := operands(n, 4)
				y, check := kerneltest.Guarded(n)
				op.loop(y, x)
				check(t)
				for i := range y {
					if want := op.want(x[i]); !kerneltest.Same(y[i], want) {
						t.Fatalf("%s: length %d: %v gives %v, want %v", name, n, x[i], y[i], want)
					}
				}
			}
		}
	})
}

// transcendental lists the approximated functions with their definition.
var transcendental = map[string]struct {
	loop func(y, x []float32)
	want func(v float64) float64
}{
	"Exp":      {Exp[float32], math.Exp},
	"Log":      {Log[float32], math.Log},
	"Tanh":     {Tanh[float32], math.Tanh},
	"Sigmoid":  {Sigmoid[float32], sigmoid},
	"Erf":      {Erf[float32], math.Erf},
	"Erfc":     {Erfc[float32], math.Erfc},
	"Log1p":    {Log1p[float32], math.Log1p},
	"Softplus": {Softplus[float32], softplus},
	"Rsqrt":    {Rsqrt[float32], func(v float64) float64 { return 1 / math.Sqrt(v) }},
}

// relativeError compares a float32 with the exact result; where that is
// subnormal, an absolute error of its unit counts as half.
func relativeError(got float32, want float64) float64 {
	w := float32(want)
	if kerneltest.Same(got, w) {
		return 0
	}
	if got != got || w != w || math.IsInf(float64(got), 0) || math.IsInf(float64(w), 0) {
		return math.Inf(1)
	}
	return math.Abs(float64(got)-want) / math.Max(math.Abs(want), 1.1754944e-38)
}

func TestTranscendentalAccuracy(t *testing.T) {
	x := accuracySamples()
	y := make([]float32, len(x))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, f := range transcendental {
			f.loop(y, x)
			worst, at := 0.0, 0
			for i := range x {
				if e := relativeError(y[i], f.want(float64(x[i]))); e > worst {
					worst, at = e, i
				}
			}
			t.Logf("%s: relative error up to %.3g, at %v", name, worst, x[at])
			limit := 2e-7
			if name == "Tanh" {
				limit = 3.5e-7 // a quotient of two rounded polynomials; TensorFlow 2.21 is off by up to 3.7e-7
			}
			if name == "Erfc" {
				limit = 4e-7 // a product of five rounded factors
			}
			if worst > limit {
				t.Errorf("%s(%v) = %v, want %v: relative error %.3g", name, x[at], y[at], f.want(float64(x[at])), worst)
			}
		}
	})
}

// accuracySamples returns numbers from all over the format: every exponent
// with several fractions, the corner cases, and the ranges in which
// the functions are interesting.
func accuracySamples() []float32 {
	x := slices.Clone(kerneltest.Corner)
	for bits := uint32(0); bits < 0x7f800000; bits += 40009 {
		x = append(x, math.Float32frombits(bits), math.Float32frombits(bits|1<<31))
	}
	for v := -110.0; v < 110; v += 0.0037 {
		x = append(x, float32(v), float32(v/50), 1+float32(v/4000))
	}
	return x
}

func TestTranscendentalTails(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x := operands(300, 9)
		for name, f := range transcendental {
			want := make([]float32, len(x))
			f.loop(want, x)
			for _, n := range kerneltest.Lengths {
				if 2*n > len(x) {
					continue
				}
				y, check := kerneltest.Guarded(n)
				f.loop(y, x[n:2*n])
				check(t)
				if !slices.EqualFunc(y, want[n:2*n], kerneltest.Same) {
					t.Errorf("%s: a result depends on its place in the slice (length %d)", name, n)
				}
			}
		}
	})
}
