package jpeg

import "math/bits"

// Most MCUs are far from the end of the data and from markers. They are read by the
// functions of this file, which keep the bits in registers and look up a code together
// with the bits that belong to it. These functions give up at a marker. Then the MCU is
// read again, from its beginning, by the functions that know what to do about ends.

// quickBytes is more than any block takes. It is what libjpeg-turbo asks for, which also
// has two ways of reading: what is made of a file that is cut off depends on how far the
// careful way had read ahead.
const quickBytes = 512

// wholeBits is the length of codes, with their bits, that are looked up in one step.
const wholeBits = 10

// A coefficient that was looked up: its value in the upper half, how many zeros come before
// it, and the number of bits. Of blocks that end, zeros go past the end.
const (
	zerosShift   = 8
	lengthMask   = 1<<zerosShift - 1
	zerosMask    = 1<<8 - 1
	valueShift   = 16
	endsHere     = 64 << zerosShift
	sixteenZeros = 15 << zerosShift // and the zero that counts as the value
)

// A window is the bits that come next: the first `have` of acc, which ends in zeros.
type window struct {
	acc  uint64
	have uint
	pos  int
}

// hurry reads an MCU if the ends are far. If it fails nothing has been read, but blocks may
// hold coefficients already: libjpeg-turbo goes on with zeros at a marker, and takes 0xff
// for one even if more of them follow. Those that are not read again stay.
func (e *entropy) hurry(x, y int) bool {
	if !e.mayHurry() {
		return false
	}
	begin := e.reading()
	e.quick = true
	ok := e.readBlocks(x, y)
	e.quick = false
	if !ok {
		e.goBack(begin)
		e.strict = true
		e.readBlocks(x, y)
		e.strict = false
		e.goBack(begin)
	}
	return ok
}

// mayHurry reports whether the next MCU may be read in the quick way. That must be where
// libjpeg-turbo does it as well, with one exception: libjpeg-turbo never does in files with
// restarts, but the pixels are the same unless the file may end early.
func (e *entropy) mayHurry() bool {
	return !e.progressive && e.marker == 0 && !e.starved && (e.restart == 0 || !e.mend) && len(e.data)-e.pos >= quickBytes*len(e.places)
}

// A reading is where an MCU begins, far from markers.
type reading struct {
	window
	preds [4]int
}

func (e *entropy) reading() reading {
	r := reading{window: window{e.acc, e.have, e.pos}}
	for i, c := range e.scan.components {
		r.preds[i] = c.pred
	}
	return r
}

func (e *entropy) goBack(r reading) {
	e.acc, e.have, e.pos = r.acc, r.have, r.pos
	e.marker, e.starved = 0, false
	for i, c := range e.scan.components {
		c.pred = r.preds[i]
	}
}

// quickBlock is sequential without an end of data. It fails at a marker.
func (e *entropy) quickBlock(b *[64]int16, c *component, dc, ac *codes) bool {
	w, ok := filled(e.data, window{e.acc << (64 - e.have), e.have, e.pos})
	if !ok {
		return false
	}
	if ac.whole == nil {
		ac.makeWhole()
	}
	s, n := dc.symbolOf(uint32(w.acc >> 48))
	w = w.past(n)
	if w, ok = filledFor(e.data, w, uint(s)); !ok {
		return false
	}
	c.pred += int(signedOf(w.acc>>(64-s), uint(s)))
	b[0] = int16(c.pred)
	if w, ok = quickAC(e.data, w.past(uint(s)), b, ac); ok {
		e.acc, e.have, e.pos = w.acc>>(64-w.have), w.have, w.pos
	}
	return ok
}

// quickAC reads the coefficients of a block behind the first.
func quickAC(data string, w window, b *[64]int16, ac *codes) (window, bool) {
	whole, ok := ac.whole, true
	var x int32
	for k := 1; k < 64; k++ {
		if w.have <= low {
			if w, ok = filled(data, w); !ok {
				return w, false
			}
		}
		if x = whole[w.acc>>(64-wholeBits)]; x == 0 {
			if x, w, ok = ac.longCoefficient(data, w); !ok {
				return w, false
			}
		}
		w = w.past(uint(x & lengthMask))
		k += int(x >> zerosShift & zerosMask)
		b[zigzag[k&127]&63] = int16(x >> valueShift)
	}
	// Before the bits of the last value libjpeg-turbo has looked whether there are few.
	size := uint(bits.Len32(uint32(max(x>>valueShift, -(x >> valueShift)))))
	if size > 0 && w.have+size <= low {
		return filled(data, w)
	}
	return w, true
}

// past returns what follows n bits.
func (w window) past(n uint) window { return window{w.acc << (n & 63), w.have - n, w.pos} }

// low is the number of bits from which on libjpeg-turbo reads six bytes, before a code
// and before the bits behind it. More are there after that: enough for either.
const low = 16

// filled reads six bytes if few bits are there. It fails at a marker.
func filled(data string, w window) (window, bool) {
	if w.have > low {
		return w, true
	}
	b := data[w.pos : w.pos+8]
	v := uint64(b[7]) | uint64(b[6])<<8 | uint64(b[5])<<16 | uint64(b[4])<<24 | uint64(b[3])<<32 | uint64(b[2])<<40 | uint64(b[1])<<48 | uint64(b[0])<<56
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	if (^v-ones)&v&tops == 0 { // none is 0xff
		return window{w.acc | v>>16<<(low-w.have), w.have + 48, w.pos + 6}, true
	}
	return stuffedBytes(data, w)
}

// filledFor is filled if n bits, which are not 0, are to be read.
func filledFor(data string, w window, n uint) (window, bool) {
	if n == 0 {
		return w, true
	}
	return filled(data, w)
}

// stuffedBytes is filled where a byte of 0xff is near.
func stuffedBytes(data string, w window) (window, bool) {
	for range 6 {
		c := data[w.pos]
		w.pos++
		if c == 0xff {
			if data[w.pos] != 0 {
				return w, false
			}
			w.pos++
		}
		w.acc, w.have = w.acc|uint64(c)<<(56-w.have), w.have+8
	}
	return w, true
}

// signedOf returns the number that the last n bits of v mean: of those that begin with 0
// the value is negative.
func signedOf(v uint64, n uint) int32 {
	x := int32(v & (1<<(n&31) - 1))
	if n > 0 && x>>((n-1)&31) == 0 {
		x += -1<<(n&31) + 1
	}
	return x
}

// symbolOf returns the symbol whose code begins 16 bits, and its length. A code that the
// table does not have is symbol 0, of 17 bits.
func (c *codes) symbolOf(bits uint32) (symbol byte, length uint) {
	bits &= 1<<16 - 1
	if s := c.short[bits>>8]; s != 0 {
		return byte(s), uint(s >> 8)
	}
	for n := uint(9); n <= 16; n++ {
		if code := int32(bits >> (16 - n)); code <= c.last[n] {
			return c.symbols[byte(code+c.offset[n])], n
		}
	}
	return 0, 17
}

// longCoefficient reads a coefficient that whole does not have. Its code has been read
// afterwards, so that the entry has no more than the bits behind it.
func (c *codes) longCoefficient(data string, w window) (int32, window, bool) {
	s, n := c.symbolOf(uint32(w.acc >> 48))
	w, ok := filledFor(data, w.past(n), uint(s&15))
	return entry(w.acc>>(64-s&15), s, 0), w, ok
}

// entry returns what is looked up for a symbol with a code of n bits, whose own bits are
// the last of v.
func entry(v uint64, symbol byte, n uint) int32 {
	size := uint(symbol & 15)
	switch {
	case size > 0:
		return signedOf(v, size)<<valueShift | int32(symbol>>4)<<zerosShift | int32(n+size)
	case symbol>>4 == 15:
		return sixteenZeros | int32(n)
	}
	return endsHere | int32(n)
}

// makeWhole makes the table of codes that are short together with their bits.
func (c *codes) makeWhole() {
	c.whole = &[1 << wholeBits]int32{}
	for i := range c.whole {
		s := c.short[i>>(wholeBits-8)]
		n, size := uint(s>>8), uint(s&15)
		if s != 0 && n+size <= wholeBits {
			c.whole[i] = entry(uint64(i)>>(wholeBits-n-size), byte(s), n)
		}
	}
}
