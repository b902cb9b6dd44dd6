// Package random computes TensorFlow's random numbers: for the same seeds every
// function here gives the bits that TensorFlow's CPU kernels give.
//
// All of them come from one counter-based generator, [Philox]. A function that
// fills a whole output takes the generator at the output's base and the group
// that out begins with. Groups have [Group] elements ([Group64] for 64-bit
// element types) and are independent, so an output may be split at multiples of
// that among any number of goroutines and has the same bits as when it is
// filled at once from group 0.
//
// Values of half and bfloat16 are passed as their 16 bits.
package random

import "math/bits"

// Elements per group.
const (
	Group   = 4 // element types of up to 32 bits
	Group64 = 2 // 64-bit element types
)

// Philox is the generator Philox4x32-10: a key and a 128-bit counter that
// selects the next block of four words. It is a plain value; copies go on from
// the same place independently.
type Philox struct {
	lo, hi uint64 // the counter
	key    uint64
}

// New returns the generator of a stateful op with these seed attributes.
func New(seed, seed2 int64) Philox {
	return Philox{hi: uint64(seed2), key: uint64(seed)}
}

// FromKeyCounter returns the generator in the state that the stateless ops of
// version 2 and random-generator variables pass around.
func FromKeyCounter(key uint64, counter [2]uint64) Philox {
	return Philox{lo: counter[0], hi: counter[1], key: key}
}

// FromSeed returns the generator of a stateless op with this seed. The seed is
// scrambled first, so that neighbouring seeds have unrelated streams.
func FromSeed(seed [2]int64) Philox {
	p := Philox{lo: uint64(seed[0]), hi: uint64(seed[1]), key: 0x02461e29<<32 | 0x3ec8f720}
	w0, w1, w2, w3 := p.Next()
	return Philox{key: join(w0, w1), hi: join(w2, w3)}
}

// KeyCounter is the state in the form that [FromKeyCounter] takes.
func (p Philox) KeyCounter() (key uint64, counter [2]uint64) {
	return p.key, [2]uint64{p.lo, p.hi}
}

// Skip passes over n blocks.
func (p *Philox) Skip(n uint64) {
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, n, 0)
	p.hi += carry
}

// Next returns the words of the next block.
func (p *Philox) Next() (w0, w1, w2, w3 uint32) {
	w0, w1, w2, w3 = block(p.lo, p.hi, p.key)
	p.Skip(1)
	return w0, w1, w2, w3
}

// Multipliers of a round and what the key grows by between rounds.
const (
	mul0  = 0xD2511F53
	mul1  = 0xCD9E8D57
	weyl0 = 0x9E3779B9
	weyl1 = 0xBB67AE85
)

// block is the ten rounds over one counter. They are spelled out because a loop
// around calls would keep the words out of registers.
func block(lo, hi, key uint64) (c0, c1, c2, c3 uint32) {
	c0, c1, c2, c3 = uint32(lo), uint32(lo>>32), uint32(hi), uint32(hi>>32)
	k0, k1 := uint32(key), uint32(key>>32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0, k1)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+1*weyl0&mask32, k1+1*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+2*weyl0&mask32, k1+2*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+3*weyl0&mask32, k1+3*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+4*weyl0&mask32, k1+4*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+5*weyl0&mask32, k1+5*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+6*weyl0&mask32, k1+6*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+7*weyl0&mask32, k1+7*weyl1&mask32)
	c0, c1, c2, c3 = round(c0, c1, c2, c3, k0+8*weyl0&mask32, k1+8*weyl1&mask32)
	return round(c0, c1, c2, c3, k0+9*weyl0&mask32, k1+9*weyl1&mask32)
}

// mask32 cuts the constant multiples above down to what a uint32 holds.
const mask32 = 1<<32 - 1

func round(c0, c1, c2, c3, k0, k1 uint32) (uint32, uint32, uint32, uint32) {
	p, q := mul0*uint64(c0), mul1*uint64(c2)
	return uint32(q>>32) ^ c1 ^ k0, uint32(q), uint32(p>>32) ^ c3 ^ k1, uint32(p)
}

// join makes 64 bits of two words, the first of which is the low half.
func join(low, high uint32) uint64 { return uint64(high)<<32 | uint64(low) }
