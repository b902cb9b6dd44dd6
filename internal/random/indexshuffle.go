package random

import "math/bits"

// IndexShuffle is a permutation of the numbers up to a limit that is known by a
// key: each number can be asked for alone. It is TensorFlow's, a cipher (Simon,
// of as many bits as the limit needs) that is walked until it comes back below
// the limit.
type IndexShuffle struct {
	most  uint64
	word  int // bits of half a block
	round []uint64
}

// leastBlock is the least number of bits that the cipher mixes well.
const leastBlock = 16

// NewIndexShuffle returns the permutation of the numbers from 0 to most. rounds
// is even and at least 4.
func NewIndexShuffle(key [3]uint32, most uint64, rounds int) *IndexShuffle {
	// TensorFlow has one bit less for powers of two, whose permutations then
	// lack a number: we do not follow it there.
	size := bits.Len64(most)
	s := &IndexShuffle{most: most, word: min(64, max(leastBlock, size+size%2)) / 2}
	for _, k := range key {
		s.round = append(s.round, uint64(k)&s.mask())
	}
	constants := uint64(0x7369f885192c0ef5) & s.mask()
	for i := 3; i < rounds; i++ {
		last := s.round[i-1]
		k := 0xfffffffc&s.mask() ^ constants&1 ^ s.round[i-3] ^ s.rotate(last, s.word-3) ^ s.rotate(last, s.word-4)
		s.round = append(s.round, k)
		constants >>= 1
	}
	return s
}

func (s *IndexShuffle) mask() uint64 { return 1<<s.word - 1 }

// rotate rotates a word left.
func (s *IndexShuffle) rotate(x uint64, n int) uint64 {
	return (x<<n | x>>(s.word-n)) & s.mask()
}

// At returns what comes in place i.
func (s *IndexShuffle) At(i uint64) uint64 {
	if s.most == 0 {
		return 0
	}
	for {
		if i = s.encrypt(i); i <= s.most {
			return i
		}
	}
}

func (s *IndexShuffle) encrypt(v uint64) uint64 {
	left, right := v>>s.word&s.mask(), v&s.mask()
	for k := 0; k+1 < len(s.round); k += 2 {
		left ^= s.mix(right) ^ s.round[k]
		right ^= s.mix(left) ^ s.round[k+1]
	}
	return left<<s.word | right
}

func (s *IndexShuffle) mix(x uint64) uint64 {
	return s.rotate(x, 1)&s.rotate(x, 8%s.word) ^ s.rotate(x, 2)
}
