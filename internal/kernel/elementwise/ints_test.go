package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// randomInts returns n numbers of all sizes, some of them the least and the greatest.
func randomInts[T numeric.Signed](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 5))
	x := make([]T, n)
	for i := range x {
		v := int64(r.Uint64()) >> r.IntN(64)
		x[i] = T(v)
		if k := r.IntN(16); k < 4 {
			x[i] = T([]int64{math.MinInt32, math.MaxInt32, math.MinInt64, math.MaxInt64}[k])
		}
	}
	return x
}

// TestIntLoops compares the loops that are machine code with the operations of single numbers.
func TestIntLoops(t *testing.T) {
	ops := map[string]struct {
		loops Loops[int32, int32]
		want  func(x, y int32) int32
	}{
		"Add": {AddLoops[int32](), func(x, y int32) int32 { return x + y }},
		"Sub": {SubLoops[int32](), func(x, y int32) int32 { return x - y }},
		"Mul": {MulLoops[int32](), func(x, y int32) int32 { return x * y }},
		"Max": {MaxLoops[int32](), func(x, y int32) int32 { return max(x, y) }},
		"Min": {MinLoops[int32](), func(x, y int32) int32 { return min(x, y) }},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, op := range ops {
			for _, n := range kerneltest.Lengths {
				x, y := randomInts[int32](n, 1), randomInts[int32](n, 2)
				z, s := make([]int32, n+1), int32(-77)
				check := func(form string, want func(i int) int32) {
					for i := range x {
						if z[i] != want(i) {
							t.Fatalf("%s%s, element %d of %d is %d, want %d", name, form, i, n, z[i], want(i))
						}
					}
				}
				op.loops.Zip(z[:n], x, y)
				check("", func(i int) int32 { return op.want(x[i], y[i]) })
				op.loops.ScalarX(z[:n], s, y)
				check(" of a scalar", func(i int) int32 { return op.want(s, y[i]) })
				op.loops.ScalarY(z[:n], x, s)
				check(" by a scalar", func(i int) int32 { return op.want(x[i], s) })
				copy(z, x)
				op.loops.Zip(z[:n], z[:n], y)
				check(" in place", func(i int) int32 { return op.want(x[i], y[i]) })
				if z[n] != 0 {
					t.Errorf("%s wrote past %d elements", name, n)
				}
			}
		}
	})
}

// testBits compares bitwise loops over a type with the operations of single numbers, in place, too.
func testBits[T numeric.Signed](t *testing.T) {
	for _, n := range kerneltest.Lengths {
		x, y, z := randomInts[T](n, 3), randomInts[T](n, 4), make([]T, n+1)
		and, or, xor := make([]T, n), make([]T, n), append([]T(nil), x...)
		BitAnd(and, x, y)
		BitOr(or, x, y)
		BitXor(xor, xor, y)
		BitXor(z[:n], x, y)
		for i, v := range x {
			if and[i] != v&y[i] || or[i] != v|y[i] || xor[i] != v^y[i] || z[i] != xor[i] {
				t.Fatalf("%T, element %d of %d: %x and %x give %x, %x, %x", v, i, n, v, y[i], and[i], or[i], xor[i])
			}
		}
		if z[n] != 0 {
			t.Errorf("%T: wrote past %d elements", z[n], n)
		}
	}
}

func TestBits(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		testBits[int8](t)
		testBits[int16](t)
		testBits[int32](t)
		testBits[int64](t)
	})
}
