package snappy

import (
	"encoding/binary"
	"errors"

	"github.com/gorge-tf/gorge/internal/memory"
)

// ErrCorrupt says that a block is none of Snappy's format.
var ErrCorrupt = errors.New("corrupted compressed block contents")

// maxExpansion bounds what Snappy can make of a byte: a copy of 64 bytes takes
// three.
const maxExpansion = 22

// Decode decompresses a block. An error is ErrCorrupt, or a lack of memory.
func Decode(b []byte) ([]byte, error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b))*maxExpansion {
		return nil, ErrCorrupt
	}
	out, err := memory.TryMake[byte](int(size))
	if err != nil {
		return nil, err
	}
	out = out[:0]
	for b = b[n:]; len(b) > 0; {
		e, ok := parseElement(b)
		if !ok || e.length > cap(out)-len(out) {
			return nil, ErrCorrupt
		}
		if b = b[e.head:]; e.back == 0 {
			out, b = append(out, b[:e.length]...), b[e.length:]
			continue
		}
		if e.back > len(out) {
			return nil, ErrCorrupt
		}
		for range e.length { // what is copied may overlap what it makes
			out = append(out, out[len(out)-e.back])
		}
	}
	if len(out) != int(size) {
		return nil, ErrCorrupt
	}
	return out, nil
}

// An element is a literal, whose bytes follow its head, or a copy of bytes that
// came back bytes before.
type element struct{ head, length, back int }

func parseElement(b []byte) (e element, ok bool) {
	tag := int(b[0])
	length, wide := tag>>2+1, 0 // a literal of more than 60 bytes has its length in 1 to 4 more
	if kind := tag & 3; kind != 0 {
		return parseCopy(b, kind)
	}
	if length > 60 {
		wide = length - 60
		if len(b) < 1+wide {
			return e, false
		}
		length = int(littleEndian(b[1:1+wide])) + 1
	}
	return element{1 + wide, length, 0}, length <= len(b)-1-wide
}

func parseCopy(b []byte, kind int) (e element, ok bool) {
	tag := int(b[0])
	wide := []int{1: 1, 2: 2, 3: 4}[kind]
	if len(b) < 1+wide {
		return e, false
	}
	e = element{1 + wide, tag>>2 + 1, int(littleEndian(b[1 : 1+wide]))}
	if kind == 1 {
		e.length, e.back = tag>>2&7+4, tag>>5<<8|e.back
	}
	return e, e.back > 0
}

func littleEndian(b []byte) (v uint64) {
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}
