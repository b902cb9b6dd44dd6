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

// testDivisions compares the divisions of vectors with the loops that define them, in place, too.
func testDivisions[T int32 | int64](t *testing.T) {
	ops := map[string][2]func(z, x, y []T){
		"DivInt": {DivInt[T], divInt[T]}, "ModInt": {ModInt[T], modInt[T]},
		"FloorDivInt": {FloorDivInt[T], floorDivInt[T]}, "FloorModInt": {FloorModInt[T], floorModInt[T]},
	}
	for name, op := range ops {
		for _, n := range kerneltest.Lengths {
			for seed := range uint64(3) {
				x, y, want := randomInts[T](n, 7+seed), randomInts[T](n, 17+seed), make([]T, n)
				for i := range x {
					if seed > 0 { // near multiples, of few bits
						y[i] = y[i]>>1&(1<<(i%26)-1) - 3
						x[i] = y[i]*T(i%100-50) + T(i%3-1)
					}
				}
				op[1](want, x, y)
				z, inX, inY := make([]T, n+1), append([]T(nil), x...), append([]T(nil), y...)
				op[0](z[:n], x, y)
				op[0](inX, inX, y)
				op[0](inY, x, inY)
				for i := range want {
					if z[i] != want[i] || inX[i] != want[i] || inY[i] != want[i] {
						t.Fatalf("%s of %d and %d is %d, in place %d and %d, want %d", name, x[i], y[i], z[i], inX[i], inY[i], want[i])
					}
				}
				if z[n] != 0 {
					t.Errorf("%s wrote past %d elements", name, n)
				}
			}
		}
	}
}

func TestDivisionsOfVectors(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		testDivisions[int32](t)
		testDivisions[int64](t)
	})
}

// TestTruncatingCasts compares casts of vectors with those of single numbers.
func TestTruncatingCasts(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			longs, words, fromFloat, doubles, floats := randomInts[int64](n, 9), make([]int32, n), make([]int64, n), make([]float64, n), make([]float32, n)
			for i, v := range longs {
				floats[i], doubles[i] = float32(v)/8, float64(v)/8
				if c := kerneltest.Corner; i%5 == 0 {
					floats[i], doubles[i] = c[i/5%len(c)], float64(c[i/5%len(c)])
				} else if i%7 == 0 {
					doubles[i] = math.MaxInt32 + float64(i%40)/16 - 1
				}
			}
			Cast(words, longs)
			Cast(fromFloat, floats)
			for i, v := range longs {
				if words[i] != int32(v) || fromFloat[i] != truncate64(floats[i]) {
					t.Fatalf("%d becomes %d, %v becomes %d", v, words[i], floats[i], fromFloat[i])
				}
			}
			Cast(words, doubles)
			for i, v := range doubles {
				if words[i] != truncate32(v) {
					t.Fatalf("%v becomes %d", v, words[i])
				}
			}
		}
	})
}
