package imagefile

// The sizes of codes, as the format has them.
const (
	lzwBits = 12
	lzwLast = 1<<lzwBits - 1
	lzwNone = lzwLast + 3 // no code
)

// An lzw decodes the pixels of a frame. Damaged data mean what they mean to
// giflib, which the standard library refuses.
type lzw struct {
	from   *gifReader
	block  string
	acc    uint32
	have   uint
	bits   uint // of a pixel
	clear  int  // the code that starts over; the next one ends the data
	wide   uint // of codes
	next   int  // the next code, and one more for that being read
	last   int
	prefix [lzwLast + 1]int
	suffix [lzwLast + 1]byte
	stack  [lzwLast + 1]byte
}

func newLZW(r *gifReader, bits uint) *lzw {
	d := &lzw{from: r, bits: bits, clear: 1 << bits, next: lzwLast + 1}
	d.start()
	return d
}

// start forgets all codes, which are those before next: damaged data may start over with
// each bit.
func (d *lzw) start() {
	for i := range min(d.next, len(d.prefix)) {
		d.prefix[i] = lzwNone
	}
	d.next, d.wide, d.last = d.clear+2, d.bits+1, lzwNone
}

// read returns n pixels. Memory grows with what is there, not with what the
// header promises.
func (d *lzw) read(n int) ([]byte, error) {
	var out []byte
	for len(out) < n {
		code, err := d.code()
		if err != nil {
			return nil, err
		}
		switch code {
		case d.clear:
			d.start()
			continue
		case d.clear + 1:
			return nil, errGIFEnd
		}
		if out, err = d.expand(out, code); err != nil {
			return nil, err
		}
		d.learn(code)
	}
	return out[:n], nil
}

// code reads the next code.
func (d *lzw) code() (int, error) {
	if d.wide > lzwBits {
		return 0, errGIFDefect
	}
	for d.have < d.wide {
		b, err := d.input()
		if err != nil {
			return 0, err
		}
		d.acc |= uint32(b) << d.have
		d.have += 8
	}
	code := int(d.acc & (1<<d.wide - 1))
	d.acc >>= d.wide
	d.have -= d.wide
	if d.next < lzwLast+2 {
		if d.next++; d.next > 1<<d.wide && d.wide < lzwBits {
			d.wide++
		}
	}
	return code, nil
}

func (d *lzw) input() (byte, error) {
	if d.block == "" {
		b, err := d.from.block()
		if err != nil {
			return 0, err
		}
		if b == "" {
			return 0, errGIFDefect
		}
		d.block = b
	}
	b := d.block[0]
	d.block = d.block[1:]
	return b, nil
}

// expand appends the pixels that a code means.
func (d *lzw) expand(out []byte, code int) ([]byte, error) {
	if code < d.clear {
		return append(out, byte(code)), nil
	}
	n, at := 0, code
	if d.prefix[code] == lzwNone {
		at = d.last
		d.stack[0] = byte(d.firstOf(d.ownOr(code)))
		if d.next-2 <= lzwLast {
			d.suffix[d.next-2] = d.stack[0]
		}
		n = 1
	}
	for n < lzwLast && at > d.clear && at <= lzwLast {
		d.stack[n] = d.suffix[at]
		at = d.prefix[at]
		n++
	}
	if n >= lzwLast || at > lzwLast {
		return nil, errGIFDefect
	}
	out = append(out, byte(at))
	for ; n > 0; n-- {
		out = append(out, d.stack[n-1])
	}
	return out, nil
}

// ownOr returns the code whose first pixel ends the new one: the last code for
// the new one itself, else the one that was read.
func (d *lzw) ownOr(code int) int {
	if code == d.next-2 {
		return d.last
	}
	return code
}

// firstOf returns the first pixel that a code means.
func (d *lzw) firstOf(code int) int {
	for i := 0; code > d.clear && i <= lzwLast+1; i++ {
		if code > lzwLast {
			return lzwNone
		}
		code = d.prefix[code]
	}
	return code
}

// learn makes a new code of the last one and the first pixel of this one.
func (d *lzw) learn(code int) {
	if at := d.next - 2; d.last != lzwNone && at <= lzwLast && d.prefix[at] == lzwNone {
		d.prefix[at] = d.last
		d.suffix[at] = byte(d.firstOf(d.ownOr(code)))
	}
	d.last = code
}
