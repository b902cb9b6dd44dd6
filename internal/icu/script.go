package icu

import (
	"slices"
	"sync"
	"unicode"
)

// The numbers that are not scripts.
const (
	InvalidScript = -1
	UnknownScript = 103
)

// scriptNames has the names of scripts in the places that are their numbers:
// those of ICU's UScriptCode.
var scriptNames = []string{
	0: "Common", "Inherited", "Arabic", "Armenian", "Bengali", "Bopomofo", "Cherokee", "Coptic", "Cyrillic", "Deseret",
	"Devanagari", "Ethiopic", "Georgian", "Gothic", "Greek", "Gujarati", "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana",
	"Kannada", "Katakana", "Khmer", "Lao", "Latin", "Malayalam", "Mongolian", "Myanmar", "Ogham", "Old_Italic", "Oriya", "Runic",
	"Sinhala", "Syriac", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan", "Canadian_Aboriginal", "Yi", "Tagalog", "Hanunoo", "Buhid",
	"Tagbanwa", "Braille", "Cypriot", "Limbu", "Linear_B", "Osmanya", "Shavian", "Tai_Le", "Ugaritic", 55: "Buginese", "Glagolitic",
	"Kharoshthi", "Syloti_Nagri", "New_Tai_Lue", "Tifinagh", "Old_Persian", "Balinese", "Batak", 65: "Brahmi", "Cham",
	71: "Egyptian_Hieroglyphs", 75: "Pahawh_Hmong", "Old_Hungarian", 78: "Javanese", "Kayah_Li", 82: "Lepcha", "Linear_A",
	"Mandaic", 86: "Meroitic_Hieroglyphs", "Nko", "Old_Turkic", "Old_Permic", "Phags_Pa", "Phoenician", "Miao", 99: "Vai",
	101: "Cuneiform", 104: "Carian", 106: "Tai_Tham", "Lycian", "Lydian", "Ol_Chiki", "Rejang", "Saurashtra", "SignWriting",
	"Sundanese", 115: "Meetei_Mayek", "Imperial_Aramaic", "Avestan", "Chakma", 120: "Kaithi", "Manichaean", "Inscriptional_Pahlavi",
	"Psalter_Pahlavi", 125: "Inscriptional_Parthian", "Samaritan", "Tai_Viet", 130: "Bamum", "Lisu", 133: "Old_South_Arabian",
	"Bassa_Vah", "Duployan", "Elbasan", "Grantha", 140: "Mende_Kikakui", "Meroitic_Cursive", "Old_North_Arabian", "Nabataean",
	"Palmyrene", "Khudawadi", "Warang_Citi", 149: "Mro", "Nushu", "Sharada", "Sora_Sompeng", "Takri", "Tangut",
	156: "Anatolian_Hieroglyphs", "Khojki", "Tirhuta", "Caucasian_Albanian", "Mahajani", "Ahom", "Hatran", "Modi", "Multani",
	"Pau_Cin_Hau", "Siddham", "Adlam", "Bhaiksuki", "Marchen", "Newa", "Osage", 175: "Masaram_Gondi", "Soyombo", "Zanabazar_Square",
	"Dogra", "Gunjala_Gondi", "Makasar", "Medefaidrin", "Hanifi_Rohingya", "Sogdian", "Old_Sogdian", "Elymaic",
	"Nyiakeng_Puachue_Hmong", "Nandinagari", "Wancho", "Chorasmian", "Dives_Akuru", "Khitan_Small_Script", "Yezidi",
	"Cypro_Minoan", "Old_Uyghur", "Tangsa", "Toto", "Vithkuqi", "Kawi", "Nag_Mundari",
}

// A scriptRange says that the characters from lo to hi belong to a script.
type scriptRange struct{ lo, hi, script int32 }

// scripts are in the order of the characters.
var scripts = sync.OnceValue(scriptRanges)

func scriptRanges() (all []scriptRange) {
	for i, name := range scriptNames {
		t := unicode.Scripts[name]
		if t == nil {
			continue
		}
		for _, r := range t.R16 {
			all = appendRange(all, int32(i), int32(r.Lo), int32(r.Hi), int32(r.Stride))
		}
		for _, r := range t.R32 {
			all = appendRange(all, int32(i), int32(r.Lo), int32(r.Hi), int32(r.Stride))
		}
	}
	slices.SortFunc(all, func(a, b scriptRange) int { return int(a.lo - b.lo) })
	return all
}

// appendRange appends the characters from lo to hi, of which stride says how
// far they are apart.
func appendRange(all []scriptRange, script, lo, hi, stride int32) []scriptRange {
	if stride == 1 {
		return append(all, scriptRange{lo, hi, script})
	}
	for r := lo; r <= hi; r += stride {
		all = append(all, scriptRange{r, r, script})
	}
	return all
}

// Script returns the number of the script that r belongs to.
func Script(r int32) int32 {
	if r < 0 || r > unicode.MaxRune {
		return InvalidScript
	}
	all := scripts()
	i, _ := slices.BinarySearchFunc(all, r, func(s scriptRange, r int32) int { return int(s.hi - r) })
	if i == len(all) || r < all[i].lo {
		return UnknownScript
	}
	return all[i].script
}
