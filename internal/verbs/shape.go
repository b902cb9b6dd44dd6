package verbs

import (
	"encoding/binary"

	"github.com/gorge-tf/gorge/tf/core"
)

// Messages carry a shape as the 24 bytes that TensorFlow has in memory: six
// sizes of 16 bits or three of 32, the element type at 13, the rank at 14,
// which of the forms it is at 15, and the number of elements at 16. Of other
// shapes TensorFlow sends a pointer, which says nothing to anyone else. Between
// Gorge's tasks such a shape follows the fixed part of the message, as 64 bits
// for each size.
const (
	shapeSize = 24

	rep16    = 0
	rep32    = 1
	repAfter = 3 // Gorge's own; 2 is TensorFlow's pointer

	max16   = 1<<16 - 2
	max32   = 1<<32 - 2
	maxRank = 254
)

// shapeForm returns the form that a shape takes.
func shapeForm(s core.Shape) byte {
	largest := 0
	for _, d := range s {
		largest = max(largest, d)
	}
	switch {
	case len(s) <= 6 && largest <= max16:
		return rep16
	case len(s) <= 3 && largest <= max32:
		return rep32
	}
	return repAfter
}

// plainShape reports whether TensorFlow's own messages can carry s.
func plainShape(s core.Shape) bool { return shapeForm(s) != repAfter }

// putShape writes s to b, and after it what has no room there.
func putShape(b []byte, d core.DType, s core.Shape, after []byte) []byte {
	form := shapeForm(s)
	for i, dim := range s {
		switch form {
		case rep16:
			binary.LittleEndian.PutUint16(b[2*i:], uint16(dim))
		case rep32:
			binary.LittleEndian.PutUint32(b[4*i:], uint32(dim))
		default:
			after = binary.LittleEndian.AppendUint64(after, uint64(dim))
		}
	}
	b[13], b[14], b[15] = byte(d), byte(len(s)), form
	binary.LittleEndian.PutUint64(b[16:], uint64(s.NumElements()))
	return after
}

// parseShape reads what putShape has written.
func parseShape(b, after []byte) (core.Shape, error) {
	form, rank := b[15], int(b[14])
	width := map[byte]int{rep16: 2, rep32: 4, repAfter: 8}[form]
	from := b[:12]
	if form == repAfter {
		from = after
	}
	if width == 0 || rank > maxRank || rank*width > len(from) {
		return nil, core.Errorf(core.InvalidArgument, "a shape in an RDMA message must be of a known form and fit there, got form %d of rank %d", form, rank)
	}
	s := make(core.Shape, rank)
	for i := range s {
		s[i] = int(littleEndian(from[i*width:][:width]))
	}
	if n := s.NumElements(); n < 0 || uint64(n) != binary.LittleEndian.Uint64(b[16:]) {
		return nil, core.Errorf(core.InvalidArgument, "a shape in an RDMA message must have as many elements as it says, %v does not have %d", s, int64(binary.LittleEndian.Uint64(b[16:])))
	}
	return s, nil
}

func littleEndian(b []byte) (v uint64) {
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}
