// Package example reads tf.Example and tf.SequenceExample in their wire form,
// without making messages of them: features are looked at where they lie.
package example

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind is what a feature is a list of.
type Kind uint8

// The kinds of features. A feature may have none.
const (
	None Kind = iota
	Strings
	Floats
	Ints
)

// A Feature is a list in its wire form.
type Feature struct {
	Kind Kind
	list string
}

// bytesOf views a string as bytes, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// field cuts the first field off a message. n is 0 for one that has no length,
// which no message here has of its own.
func field(b string) (n protowire.Number, contents, rest string, ok bool) {
	if len(b) < 3 || b[0] >= 0x80 || b[0]&7 != byte(protowire.BytesType) || b[0]>>3 == 0 {
		return anyField(b)
	}
	length, at := int(b[1]), 2
	if length >= 0x80 {
		if b[2] >= 0x80 {
			return anyField(b)
		}
		length, at = length&0x7f|int(b[2])<<7, 3
	}
	if length > len(b)-at {
		return 0, "", "", false
	}
	return protowire.Number(b[0] >> 3), b[at : at+length], b[at+length:], true
}

// anyField is field for what field has no short way for.
func anyField(b string) (n protowire.Number, contents, rest string, ok bool) {
	n, typ, size := protowire.ConsumeTag(bytesOf(b))
	if size < 0 {
		return 0, "", "", false
	}
	b = b[size:]
	if typ != protowire.BytesType {
		if size = protowire.ConsumeFieldValue(n, typ, bytesOf(b)); size < 0 {
			return 0, "", "", false
		}
		return 0, "", b[size:], true
	}
	length, size := protowire.ConsumeVarint(bytesOf(b))
	if size < 0 || length > uint64(len(b)-size) {
		return 0, "", "", false
	}
	end := size + int(length)
	return n, b[size:end], b[end:], true
}

// fields calls f for the fields of a message that have a length. It reports whether
// all is well-formed and f agrees.
func fields(b string, f func(n protowire.Number, contents string) bool) bool {
	for len(b) > 0 {
		n, contents, rest, ok := field(b)
		if !ok || n != 0 && !f(n, contents) {
			return false
		}
		b = rest
	}
	return true
}

// Features calls f for the features of an Example, in the order in which they
// lie there. Of several with one name the last counts. It reports whether the
// Example is well-formed.
func Features(b string, f func(name string, v Feature)) bool {
	return fields(b, func(n protowire.Number, features string) bool { return n != 1 || Map(features, f) })
}

// Map calls f for the entries of a Features message.
func Map(b string, f func(name string, v Feature)) bool {
	return entries(b, func(name, value string) bool {
		v, ok := parse(value)
		if ok {
			f(name, v)
		}
		return ok
	})
}

// entries calls f for the entries of a map in field 1.
func entries(b string, f func(name, value string) bool) bool {
	for len(b) > 0 {
		n, entry, rest, ok := field(b)
		if !ok {
			return false
		}
		if b = rest; n != 1 {
			continue
		}
		name, value, ok := wholePair(entry)
		if !ok {
			if name, value, ok = pair(entry); !ok {
				return false
			}
		}
		if !f(name, value) {
			return false
		}
	}
	return true
}

const (
	tagOne   = 1<<3 | byte(protowire.BytesType)
	tagTwo   = 2<<3 | byte(protowire.BytesType)
	tagThree = 3<<3 | byte(protowire.BytesType)
)

// wholePair is pair for what writers write: a short key, then the value, and nothing
// else.
func wholePair(b string) (key, value string, ok bool) {
	if len(b) < 4 || b[0] != tagOne || b[1] >= 0x80 {
		return "", "", false
	}
	at := 2 + int(b[1])
	if at >= len(b) || b[at] != tagTwo {
		return "", "", false
	}
	value, ok = wholeField(b[at:])
	return b[2:at], value, ok
}

// wholeField returns the contents of the only field of a message, whose tag has one
// byte and has been looked at.
func wholeField(b string) (contents string, ok bool) {
	if len(b) < 2 {
		return "", false
	}
	length, at := int(b[1]), 2
	if length >= 0x80 {
		if len(b) < 3 || b[2] >= 0x80 {
			return "", false
		}
		length, at = length&0x7f|int(b[2])<<7, 3
	}
	return b[at:], length == len(b)-at
}

// pair returns the key and the value of an entry of a map.
func pair(b string) (key, value string, ok bool) {
	for len(b) > 0 {
		n, contents, rest, ok := field(b)
		if !ok {
			return "", "", false
		}
		switch b = rest; n {
		case 1:
			key = contents
		case 2:
			value = contents
		}
	}
	return key, value, true
}

// parse finds the list in a feature.
func parse(b string) (v Feature, ok bool) {
	if len(b) >= 2 && (b[0] == tagOne || b[0] == tagTwo || b[0] == tagThree) {
		if list, ok := wholeField(b); ok {
			return Feature{Kind(b[0] >> 3), list}, true
		}
	}
	return parseFields(b)
}

// parseFields is parse for what it has no short way for.
func parseFields(b string) (v Feature, ok bool) {
	for len(b) > 0 {
		n, list, rest, ok := field(b)
		if !ok {
			return Feature{}, false
		}
		if b = rest; n >= 1 && n <= 3 {
			v = Feature{Kind(n), list}
		}
	}
	return v, true
}

// Sequence calls context for the features of a SequenceExample that are there
// once, and list for those that are there once a step.
func Sequence(b string, context func(name string, v Feature), list func(name string, steps []Feature)) bool {
	return fields(b, func(n protowire.Number, part string) bool {
		switch n {
		case 1:
			return Map(part, context)
		case 2:
			return entries(part, func(name, value string) bool {
				steps, ok := parseSteps(value)
				if ok {
					list(name, steps)
				}
				return ok
			})
		}
		return true
	})
}

func parseSteps(b string) (steps []Feature, ok bool) {
	ok = fields(b, func(n protowire.Number, feature string) bool {
		if n != 1 {
			return true
		}
		v, ok := parse(feature)
		steps = append(steps, v)
		return ok
	})
	return steps, ok
}

// AppendStrings appends the strings of a feature, which share its memory.
func (v Feature) AppendStrings(dst []string) ([]string, bool) {
	for b := v.list; len(b) > 0; {
		n, contents, rest, ok := field(b)
		if !ok {
			return dst, false
		}
		if b = rest; n == 1 {
			dst = append(dst, contents)
		}
	}
	return dst, true
}

// AppendFloats appends the numbers of a feature.
func (v Feature) AppendFloats(dst []float32) ([]float32, bool) {
	const size = 4
	if packed, ok := packedWhole(v.list); ok && len(packed)%size == 0 && littleEndian {
		at, n := len(dst), len(packed)/size
		dst = slices.Grow(dst, n)[:at+n]
		if n > 0 {
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[at])), len(packed)), packed)
		}
		return dst, true
	}
	return appendNumbers(v.list, dst, protowire.Fixed32Type, func(b string) (float32, int) {
		if len(b) < size {
			return 0, -1
		}
		return math.Float32frombits(binary.LittleEndian.Uint32(bytesOf(b[:size]))), size
	})
}

// littleEndian reports whether numbers lie in memory as they do in messages.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// packedWhole returns the numbers of a list that has them all in one field, as
// lists are written.
func packedWhole(b string) (packed string, ok bool) {
	const tag = 1<<3 | byte(protowire.BytesType)
	if len(b) == 0 || b[0] != tag {
		return "", false
	}
	length, size := protowire.ConsumeVarint(bytesOf(b[1:]))
	if size < 0 || length != uint64(len(b)-1-size) {
		return "", false
	}
	return b[1+size:], true
}

// AppendInts appends the integers of a feature.
func (v Feature) AppendInts(dst []int64) ([]int64, bool) {
	if packed, ok := packedWhole(v.list); ok && len(packed) == 1 && packed[0] < 0x80 {
		return append(dst, int64(packed[0])), true
	}
	return appendNumbers(v.list, dst, protowire.VarintType, func(b string) (int64, int) {
		x, size := protowire.ConsumeVarint(bytesOf(b))
		return int64(x), size
	})
}

// appendNumbers reads numbers, packed or one by one.
func appendNumbers[T any](b string, dst []T, own protowire.Type, next func(string) (T, int)) ([]T, bool) {
	for len(b) > 0 {
		n, typ, size := protowire.ConsumeTag(bytesOf(b))
		if size < 0 {
			return dst, false
		}
		b = b[size:]
		switch {
		case n == 1 && typ == own:
			x, size := next(b)
			if size < 0 {
				return dst, false
			}
			dst, b = append(dst, x), b[size:]
		case n == 1 && typ == protowire.BytesType:
			length, size := protowire.ConsumeVarint(bytesOf(b))
			if size < 0 || length > uint64(len(b)-size) {
				return dst, false
			}
			packed := b[size : size+int(length)]
			b = b[size+int(length):]
			for len(packed) > 0 {
				x, size := next(packed)
				if size < 0 {
					return dst, false
				}
				dst, packed = append(dst, x), packed[size:]
			}
		default:
			if size = protowire.ConsumeFieldValue(n, typ, bytesOf(b)); size < 0 {
				return dst, false
			}
			b = b[size:]
		}
	}
	return dst, true
}
