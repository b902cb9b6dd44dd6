package jpeg

// A huffman is a table of codes as files have it: how many there are of each
// length, and their symbols in order.
type huffman struct {
	counts  [17]byte
	symbols []byte
	codes   *codes // made when a scan needs it
}

// codes finds symbols by their codes.
type codes struct {
	short   [256]uint16 // length and symbol by the next 8 bits, 0 for longer codes
	last    [18]int32   // the greatest code by length, -1 if there is none
	offset  [18]int32   // from codes to indices of symbols, by length
	symbols [256]byte
	whole   *[1 << wholeBits]int32 // coefficients by the next bits, for quickAC; 0 for longer ones
}

// newCodes makes the codes of a table; those of DC coefficients have no symbol
// greater than 15.
func newCodes(h *huffman, dc bool) (*codes, error) {
	c := &codes{}
	copy(c.symbols[:], h.symbols)
	code, at := int32(0), int32(0)
	for n := 1; n <= 16; n++ {
		count := int32(h.counts[n])
		c.last[n], c.offset[n] = -1, at-code
		if count > 0 {
			c.last[n] = code + count - 1
		}
		if count > 0 && code+count > 1<<n {
			return nil, errInvalid
		}
		if n <= 8 {
			c.fillShort(n, code, h.symbols[at:at+count])
		}
		code, at = (code+count)<<1, at+count
	}
	c.last[17] = 0xfffff // ends every search
	for _, s := range h.symbols {
		if dc && s > 15 {
			return nil, errInvalid
		}
	}
	return c, nil
}

// fillShort enters codes of n bits, from the given one.
func (c *codes) fillShort(n int, code int32, symbols []byte) {
	for i, s := range symbols {
		first := (int(code) + i) << (8 - n)
		for k := range 1 << (8 - n) {
			c.short[first+k] = uint16(n)<<8 | uint16(s)
		}
	}
}

// symbol reads a code. One that the table does not have is symbol 0.
func (s *source) symbol(c *codes) (byte, bool) {
	if s.have < 8 && !s.fill(0) {
		return 0, false
	}
	n := uint(1)
	if s.have >= 8 {
		if e := c.short[byte(s.acc>>(s.have-8))]; e != 0 {
			s.have -= uint(e >> 8)
			return byte(e), true
		}
		n = 9
	}
	return s.longSymbol(c, n)
}

// longSymbol reads a code of n bits or more.
func (s *source) longSymbol(c *codes, n uint) (byte, bool) {
	code, ok := s.bits(n)
	for ok && int32(code) > c.last[n] {
		var bit int
		bit, ok = s.bits(1)
		code = code<<1 | bit
		n++
	}
	if !ok || n > 16 {
		return 0, ok
	}
	return c.symbols[byte(int32(code)+c.offset[n])], true
}
