package hash

// Fingerprint128 is the 128-bit fingerprint of Google's FarmHash, which stays the
// same for ever: its low and its high half.
func Fingerprint128(s string) (low, high uint64) {
	if len(s) >= 16 {
		return farmSeeded(s[16:], load64(s), load64(s[8:])+farm0)
	}
	return farmSeeded(s, farm0, farm1)
}

// farmJoin mixes two numbers into one.
func farmJoin(u, v uint64) uint64 {
	const mul = 0x9ddfea08eb382d69
	a := (u ^ v) * mul
	a ^= a >> 47
	b := (v ^ a) * mul
	b ^= b >> 47
	return b * mul
}

// farmShort is farmSeeded for fewer than 128 bytes.
func farmShort(s string, a, b uint64) (low, high uint64) {
	n, c, d := uint64(len(s)), uint64(0), uint64(0)
	if n <= 16 {
		a = farmMix(a*farm1) * farm1
		c = b*farm1 + farmTo16(s)
		d = c
		if n >= 8 {
			d = load64(s)
		}
		d = farmMix(a + d)
	} else {
		c = farmJoin(load64(s[n-8:])+farm1, a)
		d = farmJoin(b+n, c+load64(s[n-16:]))
		a += d
		for ; ; s = s[16:] {
			a = (a ^ farmMix(load64(s)*farm1)*farm1) * farm1
			b ^= a
			c = (c ^ farmMix(load64(s[8:])*farm1)*farm1) * farm1
			d ^= c
			if len(s) <= 32 {
				break
			}
		}
	}
	a, b = farmJoin(a, c), farmJoin(d, b)
	return a ^ b, farmJoin(b, a)
}

// A farmState128 is what farmSeeded keeps between blocks.
type farmState128 struct{ x, y, z, v0, v1, w0, w1 uint64 }

// block mixes 64 bytes.
func (t *farmState128) block(s string) {
	t.x = rotr(t.x+t.y+t.v0+load64(s[8:]), 37) * farm1
	t.y = rotr(t.y+t.v1+load64(s[48:]), 42) * farm1
	t.x ^= t.w1
	t.y += t.v0 + load64(s[40:])
	t.z = rotr(t.z+t.w0, 33) * farm1
	t.v0, t.v1 = farmWeak(s, t.v1*farm1, t.x+t.w0)
	t.w0, t.w1 = farmWeak(s[32:], t.z+t.w1, t.y+load64(s[16:]))
	t.z, t.x = t.x, t.z
}

// tail mixes 32 bytes near the end.
func (t *farmState128) tail(s string) {
	t.y = rotr(t.x+t.y, 42)*farm0 + t.v1
	t.w0 += load64(s[16:])
	t.x = t.x*farm0 + t.w0
	t.z += t.w1 + load64(s)
	t.w1 += t.v0
	t.v0, t.v1 = farmWeak(s, t.v0+t.z, t.v1)
	t.v0 *= farm0
}

// farmSeeded is the fingerprint of s with a seed of two halves.
func farmSeeded(s string, low, high uint64) (uint64, uint64) {
	if len(s) < 128 {
		return farmShort(s, low, high)
	}
	t := &farmState128{x: low, y: high, z: uint64(len(s)) * farm1}
	t.v0 = rotr(t.y^farm1, 49)*farm1 + load64(s)
	t.v1 = rotr(t.v0, 42)*farm1 + load64(s[8:])
	t.w0 = rotr(t.y+t.z, 35)*farm1 + t.x
	t.w1 = rotr(t.x+load64(s[88:]), 53) * farm1
	at := 0
	for ; len(s)-at >= 128; at += 128 {
		t.block(s[at:])
		t.block(s[at+64:])
	}
	t.x += rotr(t.v0+t.z, 49) * farm0
	t.y = t.y*farm0 + rotr(t.w1, 37)
	t.z = t.z*farm0 + rotr(t.w0, 27)
	t.w0 *= 9
	t.v0 *= farm0
	for done := 32; done < len(s)-at+32; done += 32 {
		t.tail(s[len(s)-done:])
	}
	t.x, t.y = farmJoin(t.x, t.v0), farmJoin(t.y+t.z, t.w0)
	return farmJoin(t.x+t.v1, t.w1) + t.y, farmJoin(t.x+t.w1, t.y+t.v1)
}
