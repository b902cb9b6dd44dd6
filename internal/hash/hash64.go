package hash

import "encoding/binary"

// Hash64 is TensorFlow's Hash64: MurmurHash64A with a seed of its own.
func Hash64(s string) uint64 { return Hash64Seed(s, 0xDECAFCAFFE) }

// Hash64Seed is MurmurHash64A.
func Hash64Seed(s string, seed uint64) uint64 {
	const (
		mul   = 0xc6a4a7935bd1e995
		shift = 47
	)
	h := seed ^ uint64(len(s))*mul
	for ; len(s) >= 8; s = s[8:] {
		k := load64(s) * mul
		h = (h ^ (k^k>>shift)*mul) * mul
	}
	if len(s) > 0 {
		var tail [8]byte
		copy(tail[:], s)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * mul
	}
	h = (h ^ h>>shift) * mul
	return h ^ h>>shift
}

// Hash64Combine is TensorFlow's way to make one hash of two.
func Hash64Combine(a, b uint64) uint64 {
	return a ^ (b + 0x9e3779b97f4a7800 + a<<10 + a>>4)
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load32(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
