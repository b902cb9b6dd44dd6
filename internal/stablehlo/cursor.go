package stablehlo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// A cursor reads a part of an artifact: a section, or an entry of a table. Errors
// stick to the reader of the artifact: once there is one, all cursors give zeros.
type cursor struct {
	r    *reader
	what string // the part's name, for errors
	data []byte
	at   int // of the next byte in data
	base int // of data in the artifact
}

// sub returns a cursor for the next n bytes and steps over them.
func (c *cursor) sub(what string, n uint64) *cursor {
	base := c.base + c.at
	return &cursor{r: c.r, what: what, data: c.bytes(n), base: base}
}

// failed says whether anything went wrong in the artifact so far.
func (c *cursor) failed() bool { return c.r.err != nil }

func (c *cursor) left() int   { return len(c.data) - c.at }
func (c *cursor) empty() bool { return c.failed() || c.left() == 0 }

// end demands that the part has been read to its end.
func (c *cursor) end() {
	if c.left() > 0 {
		c.corrupt("the %s must end where its contents do, got %d bytes more", c.what, c.left())
	}
}

func (c *cursor) byte() byte {
	if c.failed() {
		return 0
	}
	if c.left() == 0 {
		c.corrupt("the %s must hold all that it says, got only %d bytes", c.what, len(c.data))
		return 0
	}
	c.at++
	return c.data[c.at-1]
}

// bytes returns the next n bytes, which belong to the artifact.
func (c *cursor) bytes(n uint64) []byte {
	if c.failed() {
		return nil
	}
	if n > uint64(c.left()) {
		c.corrupt("the %s must hold all that it says, got %d of %d bytes", c.what, c.left(), n)
		return nil
	}
	c.at += int(n)
	return c.data[c.at-int(n) : c.at]
}

// uint reads an integer of variable length: the number of zeros at the low end of the
// first byte is the number of bytes that follow.
func (c *cursor) uint() uint64 {
	first := c.byte()
	extra := bits.TrailingZeros8(first)
	var word [16]byte
	word[0] = first
	copy(word[1:], c.bytes(uint64(extra)))
	if extra == 8 {
		return binary.LittleEndian.Uint64(word[1:])
	}
	return binary.LittleEndian.Uint64(word[:]) >> (extra + 1)
}

// int reads a signed integer, whose sign is its lowest bit.
func (c *cursor) int() int64 {
	u := c.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// flagged reads an integer whose lowest bit is a flag.
func (c *cursor) flagged() (uint64, bool) {
	u := c.uint()
	return u >> 1, u&1 != 0
}

// count reads the number of items that follow, each of which takes a byte or more.
func (c *cursor) count(items string) int {
	return c.fits(items, c.uint())
}

// fits checks a number of items that follow.
func (c *cursor) fits(items string, n uint64) int {
	if c.failed() {
		return 0
	}
	if n > uint64(c.left()) {
		c.corrupt("the %s must hold its %s, got %d of them in %d bytes", c.what, items, n, c.left())
		return 0
	}
	return int(n)
}

func (c *cursor) ints() []int64 {
	out := make([]int64, c.count("integers"))
	for i := range out {
		out[i] = c.int()
	}
	return out
}

// blob reads bytes behind their number.
func (c *cursor) blob() []byte { return c.bytes(c.uint()) }

// string reads the number of a string.
func (c *cursor) string() string { return c.stringAt(c.uint()) }

func (c *cursor) stringAt(i uint64) string {
	return *at(c, "string", c.r.strings, i)
}

// align steps over the padding before a multiple of n bytes, counted from the start of
// the artifact.
func (c *cursor) align(n uint64) {
	if n == 0 || n&(n-1) != 0 {
		c.corrupt("an alignment must be a power of two, got %d", n)
	}
	for !c.failed() && uint64(c.base+c.at)%n != 0 {
		if b := c.byte(); b != 0xCB && !c.failed() {
			c.corrupt("padding must be of bytes 0xCB, got 0x%02X", b)
		}
	}
}

// at returns an item of a table, or an empty one with an error.
func at[T any](c *cursor, what string, table []T, i uint64) *T {
	if !c.failed() && i >= uint64(len(table)) {
		c.corrupt("the number of a %s must be below %d, got %d", what, len(table), i)
	}
	if c.failed() {
		return new(T)
	}
	return &table[i]
}

var (
	// ErrCorrupt is the cause of errors about artifacts that break the rules of their format.
	ErrCorrupt = errors.New("the artifact is damaged")
	// ErrUnsupported is the cause of errors about artifacts of versions, dialects or
	// encodings that this package does not know.
	ErrUnsupported = errors.New("it is not supported")
)

// corrupt notes that the artifact is damaged at the place of the cursor.
func (c *cursor) corrupt(format string, args ...any) { c.note(ErrCorrupt, format, args...) }

// unsupported notes that the artifact needs more than this package knows.
func (c *cursor) unsupported(format string, args ...any) { c.note(ErrUnsupported, format, args...) }

// note keeps the first error.
func (c *cursor) note(cause error, format string, args ...any) {
	if c.r.err != nil {
		return
	}
	msg := fmt.Sprintf(format, args...)
	c.r.err = fmt.Errorf("stablehlo: %s (in the %s, at byte %d of the artifact): %w", msg, c.what, c.base+c.at, cause)
}
