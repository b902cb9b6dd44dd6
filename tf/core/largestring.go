package core

import "unsafe"

// largeString is the size from which on strings and the messages that they come from or
// go to share memory. Such attributes are whole programs with their constants, hundreds
// of megabytes, of which each function that is instantiated would have its own copy.
//
// Invariant: a message's bytes of this size are not changed in place, only replaced.
const largeString = 1 << 20

// textOf returns bytes of a message as a string.
func textOf(b []byte) string {
	if len(b) < largeString {
		return string(b)
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// contentOf returns a string as bytes for a message.
func contentOf(s string) []byte {
	if len(s) < largeString {
		return []byte(s)
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
