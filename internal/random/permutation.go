package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
)

// A Permutation of the numbers 0 to Max, different for each key. It is computed
// number by number, without a table: a block cipher of few rounds (Simon) on the
// least even number of bits, at least 16, that holds Max, applied until the
// result is in range.
type Permutation struct {
	max  uint64
	word uint // bits of half a block
	keys []uint64
}

// The constants of the key schedule, cut down to the bits of a word.
const (
	simonConstant = 0xfffffffc
	simonSequence = 0x7369f885192c0ef5
)

// NewPermutation returns the permutation of 0 to last that a key chooses. rounds
// must be even and at least 4; more of them shuffle better.
func NewPermutation(key [3]uint32, last uint64, rounds int) Permutation {
	if last == 0 {
		return Permutation{}
	}
	p := Permutation{max: last, word: blockBits(last) / 2}
	mask := p.mask()
	z := uint64(simonSequence) & mask
	p.keys = memory.Make[uint64](rounds) // an attribute says how many
	for i := range p.keys {
		if i < len(key) {
			p.keys[i] = uint64(key[i]) & mask
			continue
		}
		before := p.keys[i-1]
		p.keys[i] = (simonConstant ^ z&1 ^ p.keys[i-3] ^ p.rotate(before, p.word-3) ^ p.rotate(before, p.word-4)) & mask
		z >>= 1
	}
	return p
}

// blockBits returns how many bits TensorFlow takes for numbers up to last. It
// computes a logarithm in floating point, so that for some powers of two it is
// one bit short.
func blockBits(last uint64) uint {
	n := uint(math.Ceil(math.Log2(float64(last))))
	return min(max(n+n%2, 16), 64)
}

func (p Permutation) mask() uint64 { return 1<<p.word - 1 }

// rotate turns a word left by n bits.
func (p Permutation) rotate(x uint64, n uint) uint64 { return (x<<n | x>>(p.word-n)) & p.mask() }

// At returns the number at position i, which must not be greater than Max.
func (p Permutation) At(i uint64) uint64 {
	if p.max == 0 {
		return 0
	}
	for {
		if i = p.encrypt(i); i <= p.max {
			return i
		}
	}
}

func (p Permutation) encrypt(v uint64) uint64 {
	left, right := v>>p.word&p.mask(), v&p.mask()
	for i := 0; i < len(p.keys); i += 2 {
		left ^= p.mix(right) ^ p.keys[i]
		right ^= p.mix(left) ^ p.keys[i+1]
	}
	return left<<p.word | right
}

func (p Permutation) mix(x uint64) uint64 {
	return p.rotate(x, 1)&p.rotate(x, 8%p.word) ^ p.rotate(x, 2)
}
