package text

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// exchanged are three control characters that ICU has in each other's place on the
// pages of DOS.
var exchanged = map[byte]rune{0x1A: 0x1C, 0x1C: 0x7F, 0x7F: 0x1A}

// ownBytes are the bytes for which ICU has other characters than package charmap.
var ownBytes = map[*charmap.Charmap]map[byte]rune{
	charmap.CodePage437: {0x1A: 0x1C, 0x1C: 0x7F, 0x7F: 0x1A, 0xE6: 'μ'},
	charmap.CodePage850: exchanged,
	charmap.CodePage852: {0x1A: 0x1C, 0x1C: 0x7F, 0x7F: 0x1A, 0xAA: utf8.RuneError},
	charmap.CodePage855: exchanged,
	charmap.CodePage866: exchanged,
	charmap.KOI8U:       {0xAE: '╝', 0xBE: '╬'},
	charmap.Windows1253: {0xAA: 'ª'},
	charmap.Windows1255: {0xCA: utf8.RuneError},
}

// shiftJISBytes are those of IBM's page for it, which ICU takes.
var shiftJISBytes = map[byte]rune{0x1A: 0x1C, 0x1C: 0x7F, 0x7F: 0x1A, 0x80: utf8.RuneError}

// controls are the bytes that EUC leaves to the second set of control characters.
var controls = func() map[byte]rune {
	out := map[byte]rune{}
	for b := byte(0x80); b < 0xA0; b++ {
		if b != 0x8E && b != 0x8F { // which begin longer characters
			out[b] = rune(b)
		}
	}
	return out
}()
