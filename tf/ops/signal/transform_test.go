package signal

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// naive is a transform as it is defined.
func naive(x []complex128) []complex128 {
	n := len(x)
	y := make([]complex128, n)
	for k := range y {
		for j, v := range x {
			s, c := math.Sincos(-2 * math.Pi * float64(j*k%n) / float64(n))
			y[k] += v * complex(c, s)
		}
	}
	return y
}

func TestTransform(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 6, 8, 12, 16, 30, 31, 37, 49, 64, 74, 97, 121, 128, 210, 256, 1009} {
		rnd := rand.New(rand.NewPCG(1, uint64(n)))
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
		}
		want := naive(x)
		tr := newTransform(n)
		tr.apply(x, make([]complex128, tr.room()))
		for k := range x {
			if d := cmplx.Abs(x[k] - want[k]); d > 1e-12*float64(n) {
				t.Errorf("length %d: element %d is %v, want %v", n, k, x[k], want[k])
				break
			}
		}
	}
}

func TestRoots(t *testing.T) {
	for n := 1; n <= 48; n++ {
		for k := range n {
			s, c := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
			if got := root(k, n); cmplx.Abs(got-complex(c, s)) > 3e-15 { // what Sincos loses far from 0
				t.Errorf("root %d of %d is %v, want %v", k, n, got, complex(c, s))
			}
		}
	}
	if root(1, 4) != -1i || root(1, 2) != -1 || root(3, 4) != 1i {
		t.Error("quarter turns are not exact")
	}
}

func TestTransformsForgets(t *testing.T) {
	var ts transforms
	for n := range 3 * mostKept {
		ts.any.get(n+1, newTransform)
	}
	if len(ts.any.kept) > mostKept {
		t.Errorf("%d transforms are kept", len(ts.any.kept))
	}
}
