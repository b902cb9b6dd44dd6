package hash

import "math/bits"

// SipHash is SipHash-2-4 (Aumasson and Bernstein, 2012) under a key of 128 bits.
func SipHash(s string, k0, k1 uint64) uint64 {
	a, b, c, d := k0^0x736f6d6570736575, k1^0x646f72616e646f6d, k0^0x6c7967656e657261, k1^0x7465646279746573
	n := len(s)
	for ; len(s) >= 8; s = s[8:] {
		m := load64(s)
		a, b, c, d = sipRound(a, b, c, d^m)
		a, b, c, d = sipRound(a, b, c, d)
		a ^= m
	}
	m := uint64(n) << 56
	for i := range len(s) {
		m |= uint64(s[i]) << (8 * i)
	}
	a, b, c, d = sipRound(a, b, c, d^m)
	a, b, c, d = sipRound(a, b, c, d)
	a, c = a^m, c^0xff
	for range 4 {
		a, b, c, d = sipRound(a, b, c, d)
	}
	return a ^ b ^ c ^ d
}

// sipRound has its state in four variables, which stay in registers where it is inlined.
func sipRound(a, b, c, d uint64) (_, _, _, _ uint64) {
	a, c = a+b, c+d
	b, d = bits.RotateLeft64(b, 13)^a, bits.RotateLeft64(d, 16)^c
	a, c = bits.RotateLeft64(a, 32)+d, c+b
	return a, bits.RotateLeft64(b, 17) ^ c, bits.RotateLeft64(c, 32), bits.RotateLeft64(d, 21) ^ a
}
