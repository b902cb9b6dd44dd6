package jpeg

import "errors"

// What ends reading. A file that ends early is two things to libjpeg: within an
// MCU or a marker it waits for more, between them it fails.
var (
	errInvalid = errors.New("jpeg: invalid data")
	errEnded   = errors.New("jpeg: data ends early")
)

// endOfImage stands for what is missing of a file that may end early.
const endOfImage = "\xff\xd9"

// maxAgain is more often than a whole MCU can be read again, bit by bit.
const maxAgain = 1 << 16

// A source reads bytes, and bits between markers.
type source struct {
	data    string
	pos     int
	mark    int  // where the MCU or marker that is being read begins
	mend    bool // the file may end early
	again   int  // how often reading has gone back to mark
	err     error
	marker  byte // has been met in the midst of bits, 0 if none has
	acc     uint64
	have    uint // bits in acc
	starved bool // zeros have been made up, as no bits were left
	strict  bool // 0xff before another one begins a marker
}

// next returns the next byte.
func (s *source) next() (byte, bool) {
	if s.pos >= len(s.data) && !s.refill() {
		return 0, false
	}
	c := s.data[s.pos]
	s.pos++
	return c, true
}

// refill goes on after the end of the data. In files that may end early the MCU
// that is cut off takes its missing bits from its own beginning, as in
// TensorFlow, and then the file ends properly.
func (s *source) refill() bool {
	switch {
	case s.mark < len(s.data) && s.mend && s.again < maxAgain:
		s.again++
		s.pos = s.mark
	case s.mark < len(s.data) && !s.mend:
		s.err = errEnded
	case s.mend && s.mark >= len(s.data):
		s.data, s.pos, s.mark = endOfImage, 0, 0
	default:
		s.err = errInvalid
	}
	return s.err == nil
}

// word returns the next two bytes.
func (s *source) word() (int, bool) {
	a, _ := s.next()
	b, ok := s.next()
	return int(a)<<8 | int(b), ok
}

// fill reads ahead, and makes zeros up if a marker leaves less than n bits.
func (s *source) fill(n uint) bool {
	s.fillWhole()
	for s.have < 57 && s.marker == 0 {
		c, ok := s.next()
		if !ok {
			return false
		}
		if c == 0xff {
			if c, ok = s.stuffed(); !ok {
				return false
			}
			if s.marker != 0 {
				break
			}
		}
		s.acc = s.acc<<8 | uint64(c)
		s.have += 8
	}
	if n > s.have {
		s.starved = true
		s.acc <<= 57 - s.have
		s.have = 57
	}
	return true
}

// fillWhole reads ahead as much as there is room for, if no 0xff is near.
func (s *source) fillWhole() {
	if len(s.data)-s.pos < 8 || s.marker != 0 || s.have > 56 {
		return
	}
	b := s.data[s.pos : s.pos+8]
	v := uint64(b[7]) | uint64(b[6])<<8 | uint64(b[5])<<16 | uint64(b[4])<<24 | uint64(b[3])<<32 | uint64(b[2])<<40 | uint64(b[1])<<48 | uint64(b[0])<<56
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	if not := ^v; (not-ones)&v&tops != 0 { // some byte of it is 0
		return
	}
	bits := (64 - s.have) &^ 7
	s.acc = s.acc<<bits | v>>(64-bits)
	s.have += bits
	s.pos += int(bits / 8)
}

// stuffed returns the byte that 0xff stands for, if it does not begin a marker.
func (s *source) stuffed() (byte, bool) {
	c, ok := byte(0xff), true
	for c == 0xff && ok {
		if c, ok = s.next(); s.strict {
			break
		}
	}
	if c != 0 {
		s.marker = c
	}
	return 0xff, ok
}

// bits returns the next n bits.
func (s *source) bits(n uint) (int, bool) {
	if s.have < n && !s.fill(n) {
		return 0, false
	}
	s.have -= n
	return int(s.acc>>s.have) & (1<<n - 1), true
}

// signed returns the number that the next n bits mean: of those that begin with
// 0 the value is negative.
func (s *source) signed(n uint) (int, bool) {
	v, ok := s.bits(n)
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v, ok
}

// nextMarker returns the next marker, whatever stands before it.
func (s *source) nextMarker() (byte, bool) {
	for {
		c, ok := s.next()
		for ok && c != 0xff {
			s.mark = s.pos
			c, ok = s.next()
		}
		for ok && c == 0xff {
			c, ok = s.next()
		}
		if !ok {
			return 0, false
		}
		s.mark = s.pos
		if c != 0 {
			return c, true
		}
	}
}

// dropBits forgets what was read ahead.
func (s *source) dropBits() { s.acc, s.have = 0, 0 }
