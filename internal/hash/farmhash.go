package hash

import "math/bits"

const (
	farm0 = 0xc3a5c85c97cb3127
	farm1 = 0xb492b66fbe98f273
	farm2 = 0x9ae16a3b2f90404f
)

// Fingerprint64 is the 64-bit fingerprint of Google's FarmHash, which stays the
// same for ever (Pike, 2014).
func Fingerprint64(s string) uint64 {
	switch n := len(s); {
	case n <= 16:
		return farmTo16(s)
	case n <= 32:
		return farmTo32(s)
	case n <= 64:
		return farmTo64(s)
	}
	return farmLong(s)
}

func farmMix(v uint64) uint64 { return v ^ v>>47 }

func rotr(v uint64, n int) uint64 { return bits.RotateLeft64(v, -n) }

// farmPair mixes two numbers into one.
func farmPair(u, v, mul uint64) uint64 {
	a := farmMix((u ^ v) * mul)
	return farmMix((v^a)*mul) * mul
}

func farmTo16(s string) uint64 {
	n := uint64(len(s))
	mul := farm2 + n*2
	switch {
	case n >= 8:
		a, b := load64(s)+farm2, load64(s[n-8:])
		return farmPair(rotr(b, 37)*mul+a, (rotr(a, 25)+b)*mul, mul)
	case n >= 4:
		return farmPair(n+load32(s)<<3, load32(s[n-4:]), mul)
	case n > 0:
		y := uint32(s[0]) + uint32(s[n>>1])<<8
		z := uint32(n) + uint32(s[n-1])<<2
		return farmMix(uint64(y)*farm2^uint64(z)*farm0) * farm2
	}
	return farm2
}

func farmTo32(s string) uint64 {
	n := uint64(len(s))
	mul := farm2 + n*2
	a, b := load64(s)*farm1, load64(s[8:])
	c, d := load64(s[n-8:])*mul, load64(s[n-16:])*farm2
	return farmPair(rotr(a+b, 43)+rotr(c, 30)+d, a+rotr(b+farm2, 18)+c, mul)
}

func farmTo64(s string) uint64 {
	n := uint64(len(s))
	mul := farm2 + n*2
	a, b := load64(s)*farm2, load64(s[8:])
	c, d := load64(s[n-8:])*mul, load64(s[n-16:])*farm2
	y := rotr(a+b, 43) + rotr(c, 30) + d
	z := farmPair(y, a+rotr(b+farm2, 18)+c, mul)
	e, f := load64(s[16:])*mul, load64(s[24:])
	g, h := (y+load64(s[n-32:]))*mul, (z+load64(s[n-24:]))*mul
	return farmPair(rotr(e+f, 43)+rotr(g, 30)+h, e+rotr(f+a, 18)+g, mul)
}

// farmState is what is kept from one block of 64 bytes to the next.
type farmState struct {
	x, y, z        uint64
	v0, v1, w0, w1 uint64
}

// block takes in 64 bytes; mul and nine tell the last block from the others.
func (t *farmState) block(s string, mul, nine uint64) {
	t.x = rotr(t.x+t.y+t.v0+load64(s[8:]), 37) * mul
	t.y = rotr(t.y+t.v1+load64(s[48:]), 42) * mul
	t.x ^= t.w1 * nine
	t.y += t.v0*nine + load64(s[40:])
	t.z = rotr(t.z+t.w0, 33) * mul
	t.v0, t.v1 = farmWeak(s, t.v1*mul, t.x+t.w0)
	t.w0, t.w1 = farmWeak(s[32:], t.z+t.w1, t.y+load64(s[16:]))
	t.z, t.x = t.x, t.z
}

// farmWeak mixes 32 bytes with two seeds.
func farmWeak(s string, a, b uint64) (uint64, uint64) {
	w, x, y, z := load64(s), load64(s[8:]), load64(s[16:]), load64(s[24:])
	a += w
	b = rotr(b+a+z, 21)
	c := a
	a += x + y
	return a + z, b + rotr(a, 44) + c
}

func farmLong(s string) uint64 {
	const seed = 81
	y := uint64(seed)
	y = y*farm1 + 113
	t := farmState{y: y, z: farmMix(y*farm2+113) * farm2}
	t.x = seed
	t.x = t.x*farm2 + load64(s)
	rest := s
	for ; len(rest) > 64; rest = rest[64:] {
		t.block(rest, farm1, 1)
	}
	mul := farm1 + t.z&0xff<<1
	t.w0 += uint64((len(s) - 1) & 63)
	t.v0 += t.w0
	t.w0 += t.v0
	t.block(s[len(s)-64:], mul, 9)
	return farmPair(farmPair(t.v0, t.w0, mul)+farmMix(t.y)*farm0+t.z, farmPair(t.v1, t.w1, mul)+t.x, mul)
}
