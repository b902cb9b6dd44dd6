// Package weight tells what a message of protocol buffers will take in memory before it
// is decoded.
//
// A message may be a hundred times larger in memory than on the wire: two bytes are an
// empty node of a graph, which has a Go struct of its own. A server that learns the size
// by decoding has no memory left to refuse it with.
package weight

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Negligible is the size up to which messages need not be weighed: they take less than
// a megabyte, whatever is in them.
const Negligible = 4 << 10

// Room fails with [*memory.Exhausted] if there is no memory for the decoding of b into a
// message like m.
func Room(b []byte, m protoreflect.ProtoMessage) error { return memory.TryRoom(Of(b, m)) }

// deepest is how far messages are followed into one another. What is deeper counts by
// its length, as if it were all messages without fields.
const deepest = 64

// Of returns about how many bytes the decoding of b into a message like m will allocate,
// those of m included. Of a message that cannot be decoded it is what the part before
// the fault takes.
func Of(b []byte, m protoreflect.ProtoMessage) int {
	l := layoutOf(m.ProtoReflect().Type())
	return l.size + l.weigh(b, 0)
}

// weigh returns what the fields in b allocate beside the struct they are in.
func (l *layout) weigh(b []byte, depth int) (sum int) {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return sum
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, kind, b); n < 0 {
			return sum
		}
		sum = add(sum, l.field(num).weigh(kind, b[:n], depth))
		b = b[n:]
	}
	return sum
}

// weigh returns what one value of a field takes.
func (f *field) weigh(kind protowire.Type, value []byte, depth int) int {
	switch {
	case f.message != nil && kind == protowire.BytesType:
		content, _ := protowire.ConsumeBytes(value)
		return add(f.each, f.message().inner(content, depth))
	case f.message != nil && kind == protowire.StartGroupType:
		return add(f.each, f.message().inner(value, depth))
	case f.width > 0 && kind == protowire.BytesType: // a packed list, whose memory is made at once
		content, _ := protowire.ConsumeBytes(value)
		return elements(content, f.fixed) * f.width
	}
	return f.each + len(value)
}

// elements returns how many numbers a packed list has. Those of a fixed size have that,
// each of the others has one byte in which the highest bit is clear.
func elements(b []byte, fixed int) (n int) {
	if fixed > 0 {
		return len(b) / fixed
	}
	for _, c := range b {
		n += int(^c >> 7)
	}
	return n
}

// inner returns what a message within another one takes.
func (l *layout) inner(b []byte, depth int) int {
	if depth == deepest {
		return add(l.size, len(b)/2*l.size)
	}
	return add(l.size, l.weigh(b, depth+1))
}

// add is a sum that does not overflow.
func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}
