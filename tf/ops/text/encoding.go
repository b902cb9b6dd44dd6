package text

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/internal/icu"
)

// badChar stands for what is no character.
const badChar = unicode.ReplacementChar

// A decoder returns the first character of s, which is not empty, and its size
// in bytes; for a text that is none, badChar and false.
type decoder func(s string) (r rune, size int, ok bool)

// An encoding finds out how a string is to be read, which begins with mark bytes
// that say so.
type encoding func(s string) (d decoder, mark int)

// encodings has the encodings of texts by names without what normal drops.
var encodings = map[string]encoding{}

func init() {
	for names, e := range map[string]encoding{
		"utf8 cp1208 ibm1208 unicode11utf8":                                            always(icu.DecodeUTF8),
		"utf16 iso10646ucs2 ucs2 unicode csunicode":                                    marked(decodeUTF16(binary.BigEndian), decodeUTF16(binary.LittleEndian), "\xfe\xff", "\xff\xfe"),
		"utf16be utf16bigendian xutf16be unicodebigunmarked":                           always(decodeUTF16(binary.BigEndian)),
		"utf16le utf16littleendian xutf16le unicodelittleunmarked":                     always(decodeUTF16(binary.LittleEndian)),
		"utf32 iso10646ucs4 ucs4 csucs4":                                               marked(decodeUTF32(binary.BigEndian), decodeUTF32(binary.LittleEndian), "\x00\x00\xfe\xff", "\xff\xfe\x00\x00"),
		"utf32be utf32bigendian":                                                       always(decodeUTF32(binary.BigEndian)),
		"utf32le utf32littleendian":                                                    always(decodeUTF32(binary.LittleEndian)),
		"iso88591 latin1 l1 ibm819 cp819 isoir100 88591 csisolatin1":                   always(decodeByte(unicode.MaxLatin1)),
		"usascii ascii us ascii7 ansix341968 iso646us cp367 ibm367 isoir6 646 csascii": always(decodeByte(unicode.MaxASCII)),
	} {
		for _, name := range strings.Fields(names) {
			encodings[name] = e
		}
	}
}

// findEncoding returns the encoding of a name, whose case, blanks, hyphens and
// underscores do not matter, nor zeros before a number.
func findEncoding(name string) (encoding, error) {
	var b strings.Builder
	digit := false
	for _, c := range []byte(strings.ToLower(name)) {
		if strings.IndexByte("-_ ", c) >= 0 || c == '0' && !digit {
			continue
		}
		digit = '0' <= c && c <= '9'
		b.WriteByte(c)
	}
	if e := encodings[b.String()]; e != nil {
		return e, nil
	}
	return nil, invalid("Could not create converter for input encoding: %s", name)
}

func always(d decoder) encoding { return func(string) (decoder, int) { return d, 0 } }

// marked chooses the order of bytes by a mark at the beginning.
func marked(big, little decoder, bigMark, littleMark string) encoding {
	return func(s string) (decoder, int) {
		switch {
		case strings.HasPrefix(s, bigMark):
			return big, len(bigMark)
		case strings.HasPrefix(s, littleMark):
			return little, len(littleMark)
		}
		return big, 0
	}
}

// The sizes of UTF-16's and UTF-32's units.
const (
	unit16 = 2
	unit32 = 4
)

func decodeUTF16(order binary.ByteOrder) decoder {
	return func(s string) (rune, int, bool) {
		if len(s) < unit16 {
			return badChar, len(s), false
		}
		r := rune(order.Uint16([]byte(s[:unit16])))
		if !utf16.IsSurrogate(r) {
			return r, unit16, true
		}
		if !isLead(r) {
			return badChar, unit16, false
		}
		if len(s) < 2*unit16 { // the other half is cut off
			return badChar, len(s), false
		}
		if both := utf16.DecodeRune(r, rune(order.Uint16([]byte(s[unit16:2*unit16])))); both != badChar {
			return both, 2 * unit16, true
		}
		return badChar, unit16, false
	}
}

// isLead reports whether a surrogate is the first of two.
func isLead(r rune) bool { return r < 0xDC00 }

func decodeUTF32(order binary.ByteOrder) decoder {
	return func(s string) (rune, int, bool) {
		if len(s) < unit32 {
			return badChar, len(s), false
		}
		v := order.Uint32([]byte(s[:unit32]))
		if v > unicode.MaxRune || utf16.IsSurrogate(rune(v)) {
			return badChar, unit32, false
		}
		return rune(v), unit32, true
	}
}

// decodeByte takes bytes up to most for characters.
func decodeByte(most rune) decoder {
	return func(s string) (rune, int, bool) {
		if r := rune(s[0]); r <= most {
			return r, 1, true
		}
		return badChar, 1, false
	}
}

// An encoder writes characters.
type encoder func(b []byte, r rune) []byte

var encoders = map[string]encoder{
	"UTF-8":     utf8.AppendRune,
	"UTF-16-BE": appendUTF16,
	"UTF-32-BE": func(b []byte, r rune) []byte { return binary.BigEndian.AppendUint32(b, uint32(r)) },
}

func appendUTF16(b []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != badChar {
		return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, uint16(high)), uint16(low))
	}
	return binary.BigEndian.AppendUint16(b, uint16(r))
}
