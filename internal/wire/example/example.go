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

// bytesOf views a string as bytes, which nobody changes.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// fields calls f for the fields of a message: with the contents of those that
// have a length, and with an empty string for others. It reports whether all is
// well-formed and f agrees.
func fields(b string, f func(n protowire.Number, contents string) bool) bool {
	for len(b) > 0 {
		n, typ, size := protowire.ConsumeTag(bytesOf(b))
		if size < 0 {
			return false
		}
		b = b[size:]
		if typ != protowire.BytesType {
			if size = protowire.ConsumeFieldValue(n, typ, bytesOf(b)); size < 0 {
				return false
			}
			b = b[size:]
			continue
		}
		length, size := protowire.ConsumeVarint(bytesOf(b))
		if size < 0 || length > uint64(len(b)-size) {
			return false
		}
		end := size + int(length)
		if !f(n, b[size:end]) {
			return false
		}
		b = b[end:]
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
	return fields(b, func(n protowire.Number, entry string) bool {
		if n != 1 {
			return true
		}
		var part [3]string
		ok := fields(entry, func(n protowire.Number, s string) bool {
			if n < 3 {
				part[n] = s
			}
			return true
		})
		return ok && f(part[1], part[2])
	})
}

// parse finds the list in a feature.
func parse(b string) (v Feature, ok bool) {
	ok = fields(b, func(n protowire.Number, list string) bool {
		if n >= 1 && n <= 3 {
			v = Feature{Kind(n), list}
		}
		return true
	})
	return v, ok
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
	ok := fields(v.list, func(n protowire.Number, s string) bool {
		if n == 1 {
			dst = append(dst, s)
		}
		return true
	})
	return dst, ok
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
