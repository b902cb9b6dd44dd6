package hash

import (
	"encoding/binary"
	"math/bits"
)

// SipHash is SipHash-2-4 (Aumasson and Bernstein, 2012) under a key of 128 bits.
func SipHash(s string, k0, k1 uint64) uint64 {
	t := sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	n := len(s)
	for ; len(s) >= 8; s = s[8:] {
		t.word(load64(s))
	}
	var tail [8]byte
	copy(tail[:], s)
	tail[7] = byte(n)
	t.word(binary.LittleEndian.Uint64(tail[:]))
	t[2] ^= 0xff
	for range 4 {
		t.round()
	}
	return t[0] ^ t[1] ^ t[2] ^ t[3]
}

type sip [4]uint64

func (t *sip) word(m uint64) {
	t[3] ^= m
	t.round()
	t.round()
	t[0] ^= m
}

func (t *sip) round() {
	t[0] += t[1]
	t[1] = bits.RotateLeft64(t[1], 13) ^ t[0]
	t[0] = bits.RotateLeft64(t[0], 32)
	t[2] += t[3]
	t[3] = bits.RotateLeft64(t[3], 16) ^ t[2]
	t[0] += t[3]
	t[3] = bits.RotateLeft64(t[3], 21) ^ t[0]
	t[2] += t[1]
	t[1] = bits.RotateLeft64(t[1], 17) ^ t[2]
	t[2] = bits.RotateLeft64(t[2], 32)
}
