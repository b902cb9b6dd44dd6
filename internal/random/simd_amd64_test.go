//go:build !noasm

package random

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// withLoops runs f with the loops of each instruction set that the machine has.
func withLoops(t *testing.T, f func(t *testing.T)) {
	best := simd
	t.Cleanup(func() { simd = best })
	ran := 0
	for _, s := range instructionSets() {
		if !s.available {
			continue
		}
		ran++
		t.Run(s.name, func(t *testing.T) {
			simd = s.loops
			f(t)
		})
	}
	if ran == 0 {
		t.Skip("the machine has none of the instruction sets that loops are written for")
	}
}

// portable runs f without loops.
func portable(f func()) {
	loops := simd
	simd = vectorLoops{}
	f()
	simd = loops
}

// sameBits compares what fill makes with loops and without.
func sameBits[T comparable](t *testing.T, what string, n int, fill func(out []T)) {
	t.Helper()
	got, want := make([]T, n+1), make([]T, n+1) // the last element must stay 0
	fill(got[:n])
	portable(func() { fill(want[:n]) })
	if !slices.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Fatalf("%s, %d elements: element %d is %v with loops, %v without", what, n, i, got[i], want[i])
	}
}

// somewhere is a generator at any place, often where a half of its counter ends.
func somewhere(r *rand.Rand) Philox {
	p := Philox{lo: r.Uint64(), hi: r.Uint64(), key: r.Uint64()}
	if r.IntN(2) == 0 {
		p.lo = math.MaxUint64 - r.Uint64N(5000)
	}
	if r.IntN(4) == 0 {
		p.hi = math.MaxUint64
	}
	return p
}

// TestLoops: loops give the bits of the code in Go, wherever the generator is and
// however much is asked for.
func TestLoops(t *testing.T) {
	withLoops(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			p, group, n := somewhere(r), r.Uint64N(1000), r.IntN(300)
			if r.IntN(8) == 0 {
				n = r.IntN(9000)
			}
			sameBits(t, "words", n, func(out []uint32) { Bits(p, group, out) })
			sameBits(t, "long words", n, func(out []uint64) { Bits64(p, group, out) })
			sameBits(t, "uniform", n, func(out []float32) { UniformFloat32(p, group, out) })
			sameBits(t, "uniform half", n, func(out []uint16) { UniformHalf(p, group, out) })
			sameBits(t, "normal", n, func(out []float32) { NormalFloat32(p, group, out) })
			sameBits(t, "normal bfloat16", n, func(out []uint16) { NormalBFloat16(p, group, out) })
			sameBits(t, "truncated", n, func(out []float32) { TruncatedNormalFloat32(p, group, out) })
			stride := 1 + r.Uint64N(1<<uint(r.IntN(40)))
			sameBits(t, "words apart", n/Group*Group, func(out []uint32) { q := p; q.fillWords(out, stride) })
		}
	})
}

// TestNormalsOfAllWords: a normal number depends on 23 bits for its radius and 23 bits
// for its angle. All of them are tried, and a word's other bits do not count.
func TestNormalsOfAllWords(t *testing.T) {
	withLoops(t, func(t *testing.T) {
		const all = 1 << 23
		words := make([]uint32, 2*all)
		for i := range all {
			words[2*i], words[2*i+1] = uint32(i)|uint32(i)<<23, uint32(all-1-i)|uint32(i)<<25
		}
		sameBits(t, "normals", len(words), func(out []float32) { normalsOf(out, words) })
	})
}

// TestSmallAngles: the case that sincosf has for small angles gives what its polynomials
// give, which is why loops leave it out.
func TestSmallAngles(t *testing.T) {
	for m := uint32(0); ; m++ {
		y := float32(2 * math.Pi * float64(float32From(m)))
		if y >= 0x1p-12 {
			return
		}
		x, n := reduce(float64(y))
		sin, cos := quadrant(float32(sinPoly(x, x*x)), float32(cosPoly(x*x)), n)
		if sin != y || cos != 1 {
			t.Fatalf("the polynomials give %v and %v for the angle %v", sin, cos, y)
		}
	}
}

// TestCallsAreShort: however many numbers are wanted, the scheduler gets a chance between some of them.
func TestCallsAreShort(t *testing.T) {
	withLoops(t, func(t *testing.T) {
		loop, lanes := simd.uniforms, len(simd.order)
		simd.uniforms = func(y *float32, n int, s *uint64) {
			if n*lanes*Group > oneCall {
				t.Errorf("a call for %d vectors", n)
			}
			loop(y, n, s)
		}
		for _, n := range []int{oneCall + 3, 5*oneCall + 9, 1} {
			sameBits(t, "uniforms", n, func(out []float32) { UniformFloat32(New(1, 2), 7, out) })
		}
	})
}
