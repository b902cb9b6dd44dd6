package snappy

import "encoding/binary"

const (
	window    = 1 << 16 // copies go no further back
	tableBits = 14
	minMatch  = 4
)

// Encode appends b as one compressed block.
func Encode(dst, b []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	for len(b) > 0 {
		n := min(len(b), window)
		dst = encodeWindow(dst, b[:n])
		b = b[n:]
	}
	return dst
}

// encodeWindow appends literals and copies that make b. A table has, by the hash
// of four bytes, where they were last.
func encodeWindow(dst, b []byte) []byte {
	var table [1 << tableBits]uint16
	from, i := 0, 0 // what lies between is not written yet
	for i+minMatch <= len(b) {
		word := binary.LittleEndian.Uint32(b[i:])
		slot := &table[word*0x1e35a7bd>>(32-tableBits)]
		before := int(*slot)
		*slot = uint16(i)
		if before >= i || binary.LittleEndian.Uint32(b[before:]) != word {
			i += 1 + (i-from)>>5 // faster where nothing repeats
			continue
		}
		n := minMatch
		for i+n < len(b) && b[before+n] == b[i+n] {
			n++
		}
		dst = appendCopy(appendLiteral(dst, b[from:i]), i-before, n)
		i += n
		from = i
	}
	return appendLiteral(dst, b[from:])
}

func appendLiteral(dst, b []byte) []byte {
	switch n := len(b) - 1; {
	case n < 0:
		return dst
	case n < 60:
		dst = append(dst, byte(n)<<2)
	case n < 1<<8:
		dst = append(dst, 60<<2, byte(n))
	default:
		dst = append(dst, 61<<2, byte(n), byte(n>>8))
	}
	return append(dst, b...)
}

// appendCopy appends copies of n bytes, at least four, from back bytes before.
// One copy has at most 64; none must have fewer than four.
func appendCopy(dst []byte, back, n int) []byte {
	for n >= 68 {
		dst = append(dst, 63<<2|2, byte(back), byte(back>>8))
		n -= 64
	}
	if n > 64 {
		dst = append(dst, 59<<2|2, byte(back), byte(back>>8))
		n -= 60
	}
	if n >= 12 || back >= 1<<11 {
		return append(dst, byte(n-1)<<2|2, byte(back), byte(back>>8))
	}
	return append(dst, byte(back>>8)<<5|byte(n-4)<<2|1, byte(back))
}
