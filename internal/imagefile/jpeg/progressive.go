package jpeg

// progressiveDC reads the first coefficient of a block, or a bit more of it.
func (e *entropy) progressiveDC(b *[64]int16, c *component, dc *codes) bool {
	if e.scan.high != 0 {
		bit, ok := e.bits(1)
		b[0] |= int16(bit << e.scan.low)
		return ok
	}
	if e.dry {
		return true
	}
	s, ok := e.symbol(dc)
	if !ok {
		return false
	}
	diff, ok := e.signed(uint(s))
	c.pred += diff
	b[0] = int16(c.pred << e.scan.low)
	return ok
}

// firstAC reads the scan's coefficients of a block for the first time.
func (e *entropy) firstAC(b *[64]int16, ac *codes) bool {
	if e.dry {
		return true
	}
	if e.run > 0 {
		e.run--
		return true
	}
	for k := e.scan.first; k <= e.scan.end; k++ {
		s, ok := e.symbol(ac)
		if !ok {
			return false
		}
		run, n := int(s>>4), uint(s&15)
		if n == 0 {
			if run != 15 {
				return e.endOfBand(uint(run), -1)
			}
			k += 15
			continue
		}
		k += run
		v, ok := e.signed(n)
		if !ok {
			return false
		}
		b[zigzag[k]] = int16(v << e.scan.low)
	}
	return true
}

// endOfBand reads how many blocks end here, and adds more to it.
func (e *entropy) endOfBand(n uint, more int) bool {
	v, ok := e.bits(n)
	e.run = 1<<n + v + more
	return ok
}

// refinedAC reads a bit more of the scan's coefficients of a block. Those that
// were 0 may become 1 or −1.
func (e *entropy) refinedAC(b *[64]int16, ac *codes) bool {
	if e.dry {
		return true
	}
	k := e.scan.first
	for e.run == 0 && k <= e.scan.end {
		s, ok := e.symbol(ac)
		if !ok {
			return false
		}
		run, n := int(s>>4), s&15
		value := int16(0)
		switch {
		case n != 0:
			if value, ok = e.newOne(); !ok {
				return false
			}
		case run != 15:
			if !e.endOfBand(uint(run), 0) {
				return false
			}
			continue
		}
		if k, ok = e.refine(b, k, run); !ok {
			return false
		}
		if value != 0 {
			b[zigzag[k]] = value
		}
		k++
	}
	if e.run > 0 {
		e.run--
		_, ok := e.refine(b, k, 64)
		return ok
	}
	return true
}

// newOne reads the sign of a coefficient that has been 0.
func (e *entropy) newOne() (int16, bool) {
	bit, ok := e.bits(1)
	if bit == 1 {
		return 1 << e.scan.low, ok
	}
	return -1 << e.scan.low, ok
}

// refine reads a bit more of coefficients from k, up to the one after the given
// number of zeros, and returns where that is.
func (e *entropy) refine(b *[64]int16, k, zeros int) (int, bool) {
	step, end := int16(1)<<(e.scan.low&15), e.scan.end
	for ; k <= end; k++ {
		p := &b[zigzag[k&127]&63]
		v := *p
		if v == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if e.have == 0 && !e.fill(1) {
			return k, false
		}
		e.have--
		bit := int16(e.acc >> (e.have & 63) & 1)
		more, negative := step&-bit&^v, v>>15 // no branches: bits are as good as random
		*p = v + (more ^ negative) - negative
	}
	return k, true
}
