package descent

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// closeTo compares slices to within some units in the last place of float32.
func closeTo(t *testing.T, what string, got []float32, want func(i int) float64) {
	t.Helper()
	for i := range got {
		w := want(i)
		if d := math.Abs(float64(got[i]) - w); !(d <= 3e-7*(1+math.Abs(w))) {
			t.Fatalf("%s: element %d of %d is %v, want %v", what, i, len(got), got[i], w)
		}
	}
}

func at64(x []float32) func(i int) float64 { return func(i int) float64 { return float64(x[i]) } }

func TestAxpy(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			y, x := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2)
			was := at64(append([]float32(nil), y...))
			Axpy(y, -0.3, x)
			closeTo(t, "axpy", y, func(i int) float64 { return was(i) - float64(float32(0.3))*float64(x[i]) })
		}
	})
	k := []int32{1, 2}
	Axpy(k, 3, []int32{10, 20})
	if k[0] != 31 || k[1] != 62 {
		t.Errorf("integers %v", k)
	}
}

// TestAddScaled: the bits are those of operations that are rounded one by one.
func TestAddScaled(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			y, x := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2)
			was := append([]float32(nil), y...)
			AddScaled(y, 0.7, -0.3, x)
			for i := range y {
				p := float32(float64(float32(0.7)) * float64(x[i]))
				p = float32(float64(float32(-0.3)) * float64(p))
				if want := float32(float64(was[i]) + float64(p)); y[i] != want {
					t.Fatalf("element %d of %d is %v, want %v", i, n, y[i], want)
				}
			}
		}
	})
}

func TestMomentum(t *testing.T) {
	const lr, mu = 0.125, 0.75
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			v, m, g := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2), kerneltest.Random[float32](n, 3)
			v0, m0 := at64(append([]float32(nil), v...)), at64(append([]float32(nil), m...))
			m1 := func(i int) float64 { return m0(i)*mu + float64(g[i]) }
			Momentum(v, m, g, lr, mu)
			closeTo(t, "momentum", m, m1)
			closeTo(t, "variable", v, func(i int) float64 { return v0(i) - lr*m1(i) })
		}
	})
	v, m := []float64{1}, []float64{2}
	MomentumNesterov(v, m, []float64{3}, 0.5, 0.25)
	if m[0] != 3.5 || v[0] != 1-0.5*3-0.5*0.25*3.5 {
		t.Errorf("Nesterov: variable %v, momentum %v", v, m)
	}
}

func TestAdam(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			for _, nesterov := range []bool{false, true} {
				checkAdam(t, n, nesterov)
			}
		}
	})
}

func checkAdam(t *testing.T, n int, nesterov bool) {
	t.Helper()
	const lr, b1, b2, eps = 0.01, 0.875, 0.9375, 1e-3
	p := NewAdamStep[float32](lr, b1, b2, eps, b1*b1, b2*b2)
	p.Nesterov = nesterov
	v, m, s, g := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2), kerneltest.Random[float32](n, 3), kerneltest.Random[float32](n, 4)
	elementwise.Square(s, s)
	v0, m0, s0 := at64(append([]float32(nil), v...)), at64(append([]float32(nil), m...)), at64(append([]float32(nil), s...))
	m1 := func(i int) float64 { return m0(i)*b1 + (1-b1)*float64(g[i]) }
	s1 := func(i int) float64 { return s0(i)*b2 + (1-b2)*float64(g[i])*float64(g[i]) }
	Adam(v, m, s, g, p)
	closeTo(t, "first moment", m, m1)
	closeTo(t, "second moment", s, s1)
	alpha := lr * math.Sqrt(1-b2*b2) / (1 - b1*b1)
	closeTo(t, "variable", v, func(i int) float64 {
		d := m1(i)
		if nesterov {
			d = (1-b1)*float64(g[i]) + b1*d
		}
		return v0(i) - alpha*d/(math.Sqrt(s1(i))+eps)
	})
}

func TestGradients(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			x, dy := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2)
			z := make([]float32, n)
			elementwise.TanhGrad(z, x, dy)
			closeTo(t, "tanh", z, func(i int) float64 { return float64(dy[i]) * (1 - float64(x[i])*float64(x[i])) })
			elementwise.SigmoidGrad(z, x, dy)
			closeTo(t, "sigmoid", z, func(i int) float64 { return float64(dy[i]) * float64(x[i]) * (1 - float64(x[i])) })
		}
	})
}
