package text

// An area is a part of a page of two bytes that is left to users. ICU takes its characters
// for those that Unicode leaves to users, in order.
type area struct {
	first, last byte   // leading bytes
	second      string // stretches of trailing bytes
	base        rune   // of the first character
}

// find returns the character of two bytes in any of the areas.
func find(areas []area, lead, trail byte) (r rune, ok bool) {
	for _, a := range areas {
		if lead < a.first || a.last < lead || !within(a.second, trail) {
			continue
		}
		if a.base == badChar {
			return badChar, true
		}
		before, row := 0, 0
		for i := 0; i < len(a.second); i += 2 {
			from, to := a.second[i], a.second[i+1]
			row += int(to-from) + 1
			if trail >= from {
				before += int(min(trail, to)-from) + 1
			}
		}
		return a.base + rune(int(lead-a.first)*row+before-1), true
	}
	return 0, false
}

// The areas of the pages of Microsoft and IBM for users.
var (
	japaneseAreas = []area{{0xF0, 0xF9, "\x40\x7E\x80\xFC", 0xE000}}
	koreanAreas   = []area{{0xC9, 0xC9, eucByte, 0xE000}, {0xFE, 0xFE, eucByte, 0xE05E}}
	eucKRAreas    = append([]area{{0xA2, 0xA2, "\xE6\xE7", badChar}}, koreanAreas...)
	chineseAreas  = []area{{0xAA, 0xAF, eucByte, 0xE000}, {0xF8, 0xFE, eucByte, 0xE234}, {0xA1, 0xA7, "\x40\x7E\x80\xA0", 0xE4C6}}
	big5Areas     = []area{
		{0xFA, 0xFE, big5Byte, 0xE000}, {0x8E, 0xA0, big5Byte, 0xE311}, {0x81, 0x8D, big5Byte, 0xEEB8},
		{0xC6, 0xC6, eucByte, 0xF6B1}, {0xC7, 0xC8, big5Byte, 0xF70F}, {0xF9, 0xF9, "\xFE\xFE", '▓'},
	}
	// Marks for which ICU has other characters than the pages that package encoding follows.
	japaneseMarks = []area{{0x8E, 0x8E, "\xE0\xE1", '¢'}, {0x8E, 0x8E, "\xE2\xE2", '¬'}}
	chineseMarks  = []area{{0xA1, 0xA1, "\xA4\xA4", '・'}, {0xA1, 0xA1, "\xAA\xAA", '―'}, {0xA3, 0xA3, "\xA7\xA7", '´'}, {0xFE, 0xFE, "\xE0\xE9", 'ⅰ'}}
)

// big5Byte are the trailing bytes of Big5.
const big5Byte = "\x40\x7E\xA1\xFE"
