package random

import (
	"math"
	"sync"
)

// vectorLoops are loops over vectors of counters. Their results are those of the loops in
// Go, to the bit.
type vectorLoops struct {
	// order has, for each lane of a vector of counters, the block that it stands for;
	// its length is the number of lanes. Empty: there are no loops.
	order    []uint64
	words    func(y *uint32, n int, s *uint64)
	uniforms func(y *float32, n int, s *uint64)
	normals  func(y *float32, w *uint32, n int)
}

// simd are the loops that this machine can run.
var simd vectorLoops

const (
	maxLanes = 8
	rounds   = 10
)

// lanes is what loops read: the keys of all rounds, the low halves of the first
// counters, by how much they grow from vector to vector, and the high halves; each
// repeated for all lanes.
type lanes [(2*rounds + 3) * maxLanes]uint64

func (l *lanes) set(row, lane int, v uint64) { l[row*maxLanes+lane] = v }

// lanesOf are not in use.
var lanesOf = sync.Pool{New: func() any { return new(lanes) }}

// newLanes returns the lanes for blocks that are stride apart, which go back to lanesOf.
func newLanes(p Philox, stride uint64) *lanes {
	l := lanesOf.Get().(*lanes)
	k0, k1 := uint32(p.key), uint32(p.key>>32)
	for r := range rounds {
		for i := range maxLanes {
			l.set(2*r, i, uint64(k0))
			l.set(2*r+1, i, uint64(k1))
		}
		k0, k1 = k0+weyl0, k1+weyl1
	}
	for i, block := range simd.order {
		l.set(2*rounds, i, p.lo+block*stride)
		l.set(2*rounds+1, i, uint64(len(simd.order))*stride)
		l.set(2*rounds+2, i, p.hi)
	}
	return l
}

// fewest is the number of vectors from which on loops are worth the keys.
const fewest = 2

// vectors returns how many vectors of counters may be computed by loops for the next n
// blocks that are stride apart: only the low half of a counter grows there.
func (p *Philox) vectors(n int, stride uint64) int {
	if len(simd.order) == 0 || n < fewest*len(simd.order) || p.lo > math.MaxUint64-uint64(n)*stride {
		return 0
	}
	return n / len(simd.order)
}

// fillWords fills out, whose length is a multiple of [Group], with words of blocks that
// are stride apart, and passes over them.
func (p *Philox) fillWords(out []uint32, stride uint64) {
	if n := p.vectors(len(out)/Group, stride); n > 0 {
		l := newLanes(*p, stride)
		simd.words(&out[0], n, &l[0])
		lanesOf.Put(l)
		done := n * len(simd.order)
		p.Skip(uint64(done) * stride)
		out = out[done*Group:]
	}
	for ; len(out) > 0; out = out[Group:] {
		out[0], out[1], out[2], out[3] = block(p.lo, p.hi, p.key)
		p.Skip(stride)
	}
}

// fillUniforms is fillWords for numbers in [0, 1).
func (p *Philox) fillUniforms(out []float32) {
	if n := p.vectors(len(out)/Group, 1); n > 0 {
		l := newLanes(*p, 1)
		simd.uniforms(&out[0], n, &l[0])
		lanesOf.Put(l)
		done := n * len(simd.order)
		p.Skip(uint64(done))
		out = out[done*Group:]
	}
	for ; len(out) > 0; out = out[Group:] {
		w0, w1, w2, w3 := p.Next()
		out[0], out[1], out[2], out[3] = float32From(w0), float32From(w1), float32From(w2), float32From(w3)
	}
}

// normalsOf makes standard normal numbers of words, two of each two.
func normalsOf(out []float32, words []uint32) {
	if lanes := len(simd.order); lanes > 0 && len(words) >= 2*lanes {
		n := len(words) / (2 * lanes)
		simd.normals(&out[0], &words[0], n)
		out, words = out[n*2*lanes:], words[n*2*lanes:]
	}
	for ; len(words) > 0; out, words = out[2:], words[2:] {
		out[0], out[1] = boxMuller(words[0], words[1])
	}
}
