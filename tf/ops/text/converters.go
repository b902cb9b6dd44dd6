package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	xencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Encodings of regions, under names that ICU, TensorFlow's converter, has for
// them. Those that shift between sets of characters within a text are missing.

func init() {
	for names, m := range map[string]*charmap.Charmap{
		"iso88592 latin2 l2": charmap.ISO8859_2, "iso88593 latin3 l3": charmap.ISO8859_3, "iso88594 latin4 l4": charmap.ISO8859_4,
		"iso88595 cyrillic": charmap.ISO8859_5, "iso88596 arabic": charmap.ISO8859_6, "iso88597 greek": charmap.ISO8859_7,
		"iso88598 hebrew": charmap.ISO8859_8, "iso88599 latin5 l5": charmap.ISO8859_9, "iso885910 latin6 l6": charmap.ISO8859_10,
		"iso885913": charmap.ISO8859_13, "iso885914 latin8 l8": charmap.ISO8859_14, "iso885915 latin9 l9": charmap.ISO8859_15,
		"windows1250 cp1250": charmap.Windows1250, "windows1251 cp1251": charmap.Windows1251, "windows1252 cp1252": charmap.Windows1252,
		"windows1253 cp1253": charmap.Windows1253, "windows1254 cp1254": charmap.Windows1254, "windows1255 cp1255": charmap.Windows1255,
		"windows1256 cp1256": charmap.Windows1256, "windows1257 cp1257": charmap.Windows1257, "windows1258 cp1258": charmap.Windows1258,
		"koi8r koi8 cskoi8r": charmap.KOI8R, "koi8u": charmap.KOI8U, "macintosh mac macroman": charmap.Macintosh,
		"xmaccyrillic maccyrillic": charmap.MacintoshCyrillic, "ibm437 cp437": charmap.CodePage437, "ibm850 cp850": charmap.CodePage850,
		"ibm852 cp852": charmap.CodePage852, "ibm855 cp855": charmap.CodePage855, "ibm866 cp866": charmap.CodePage866,
	} {
		for _, name := range strings.Fields(names) {
			encodings[name] = always(decodeMapped(m))
		}
	}
	for names, d := range map[string]decoder{
		"shiftjis sjis mskanji windows31j cp932 csshiftjis": decodeMany(japanese.ShiftJIS, shiftJISBytes, pairs("\x81\x9F\xE0\xFC", "\x40\x7E\x80\xFC"), japaneseAreas...),
		"eucjp xeucjp":           withThree(decodeMany(japanese.EUCJP, controls, japaneseEUC, japaneseMarks...), jisGaps),
		"euckr cseuckr":          decodeMany(korean.EUCKR, controls, euc, eucKRAreas...),
		"windows949 ksc56011987": decodeMany(korean.EUCKR, map[byte]rune{0x80: 0x80, 0xFF: 0xF8F7}, pairs("\x81\xFE", "\x40\x7E\x80\xFE"), koreanAreas...),
		"gb18030":                swapped(decodeMany(simplifiedchinese.GB18030, map[byte]rune{0x80: utf8.RuneError}, quadruples, slices.Concat(chineseAreas, gbGaps, gb18030Gaps)...)),
		"gbk cp936 windows936":   decodeMany(simplifiedchinese.GBK, map[byte]rune{0xFF: 0xF8F5}, pairs("\x81\xFE", "\x40\x7E\x80\xFE"), slices.Concat(chineseAreas, gbGaps, gbkGaps)...),
		"gb2312 euccn":           decodeMany(simplifiedchinese.GBK, controls, euc, slices.Concat(chineseMarks, gb2312Gaps)...),
		"big5 csbig5":            decodeMany(traditionalchinese.Big5, map[byte]rune{0x80: 0x80, 0xFF: 0xF8F8}, pairs("\x81\xFE", "\x40\x7E\x80\xFE"), slices.Concat(big5Areas, big5Gaps)...),
	} {
		for _, name := range strings.Fields(names) {
			encodings[name] = always(d)
		}
	}
}

// decodeMapped reads an encoding whose characters are bytes. Where those of the
// second set of control characters stand for nothing else, ICU takes them for these.
func decodeMapped(m *charmap.Charmap) decoder {
	own := ownBytes[m]
	return func(s string) (rune, int, bool) {
		b := s[0]
		r, differs := own[b]
		switch {
		case differs:
		case b < 0xA0 && m.DecodeByte(b) == utf8.RuneError:
			r = rune(b)
		default:
			r = m.DecodeByte(b)
		}
		return r, 1, r != utf8.RuneError
	}
}

// decodeMany reads an encoding whose characters are one byte, as in US-ASCII or of
// ICU's own, or more, as frame says, and has areas of ICU's own.
func decodeMany(e xencoding.Encoding, own map[byte]rune, f frame, areas ...area) decoder {
	return func(s string) (rune, int, bool) {
		if r, ok := own[s[0]]; ok {
			return r, 1, r != utf8.RuneError
		}
		if s[0] < utf8.RuneSelf {
			return rune(s[0]), 1, true
		}
		n, ok := f(s)
		if !ok {
			return badChar, n, false
		}
		if n == 2 {
			if r, ok := find(areas, s[0], s[1]); ok {
				return r, n, r != badChar
			}
		}
		var out [2 * utf8.UTFMax]byte
		made, _, _ := e.NewDecoder().Transformer.Transform(out[:], []byte(s[:n]), true)
		r, _ := utf8.DecodeRune(out[:made])
		return r, n, r != utf8.RuneError
	}
}
