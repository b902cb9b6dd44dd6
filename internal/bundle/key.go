package bundle

import (
	"encoding/binary"
	"strings"
)

// key returns the key under which the slice of a named tensor lies. The code
// keeps the order of names, ranks and numbers.
func (s Slice) key(name string) string {
	b := orderedUint(nil, 0)
	b = orderedString(b, name)
	b = orderedUint(b, uint64(len(s)))
	for _, e := range s {
		b = orderedInt(orderedInt(b, e.Start), e.Length)
	}
	return string(b)
}

// orderedUint appends the bytes of v, high ones first, after their number.
func orderedUint(b []byte, v uint64) []byte {
	var w [8]byte
	binary.BigEndian.PutUint64(w[:], v)
	digits := strings.TrimLeft(string(w[:]), "\x00")
	return append(append(b, byte(len(digits))), digits...)
}

var escapeOrdered = strings.NewReplacer("\x00", "\x00\xff", "\xff", "\xff\x00")

// orderedString appends s so that its end comes before every byte.
func orderedString(b []byte, s string) []byte {
	return append(append(b, escapeOrdered.Replace(s)...), 0, 1)
}

// orderedInt appends v in as few bytes as hold it. As many leading bits as there
// are bytes are flipped in it, then comes one that is not: of n bytes, 7n-1 bits
// are left.
func orderedInt(b []byte, v int64) []byte {
	n := 1
	for magnitude := uint64(v ^ v>>63); n < 10 && magnitude>>(7*n-1) != 0; n++ {
	}
	var w [10]byte
	sign := byte(v >> 63)
	w[0], w[1] = sign, sign
	binary.BigEndian.PutUint64(w[2:], uint64(v))
	out := w[10-n:]
	for i := range n { // bit i, counted from the highest
		out[i/8] ^= 0x80 >> (i % 8)
	}
	return append(b, out...)
}
