package tftext_test

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
	"github.com/gorge-tf/gorge/tf/optest"
)

// unusual are strings that normalization has to do with.
var unusual = []string{
	"", "plain ASCII, With CAPITALS", "Crème brûlée", "Cre\u0300me bru\u0302le\u0301e", "ﬁ ﬄ ﬆ", "ＦＵＬＬ width １２３", "İstanbul ıI\u0307i",
	"Straße ẞ ŉ ǰ ΐ ﬀ", "Σίσυφος ΜΆΪΟΣ ᾳ ᾼ \u0345", "한국어 각 ᄀ\u1161\u11a8 가\u11a8", "日本語ﾊﾟﾊﾟ が か\u3099", "① ½ ㎏ ℌ ™ Ⅳ", "\u212b \u2126 \u212a",
	"👩\u200d👩\u200d👧 ❤\ufe0f", "soft\u00adhyphen zero\u200bwidth\u2060 \ufeff", "a\u0323\u0301 a\u0301\u0323 a\u0301\u00ad\u0323", "\u0344 \u0958 \ufb2c",
	"Ꭰ Ꮿ Ᏸ ᏸ ꭰ", "ǅ Ǆ ǆ ϐ ς ſ ẛ\u0323", "Ა ა ი Ⴀ ⴀ", "\u1100\u1161\u1161 \u1161\u11a8", "a\x00E\u0301", "a\xff\xccb", "\xe2\x82", "e\u0301\xf0\x9f",
	"\xed\xa0\x80\xf4\x90\x80\x80", "\xc0\x80 A\xcd", "-\xf7\u017b", "a" + strings.Repeat("\u0301", 40) + "\u0323", strings.Repeat("\u0323\u0301\u0327", 20) + "\xff\u0301e\u0301",
	"\u0d4a \u0bca \u09cb \u1026 \U000110ab \U0001d160", "\u0600 \u061c \u180b \u3164 \uffa0 \u115f", "\u0f73\u0f75 \u0f71\u0f72\u0f74",
}

func normal(form string) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{tftext.NormalizeUTF8(in[0], form)} }
}

func init() {
	all, matrix := optest.Vec(unusual...), optest.Mat(2, "e\u0301", "É", "", "x")
	for _, form := range []string{"NFC", "NFD", "NFKC", "NFKD"} {
		optest.Add(sample("NormalizeUTF8", form, normal(form), all))
	}
	fold := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{tftext.CaseFoldUTF8(in[0])} }
	optest.Add(
		sample("NormalizeUTF8", "small letters", normal("nfkc"), matrix),
		sample("NormalizeUTF8", "scalar", normal("NFC"), core.Scalar("e\u0301")),
		sample("NormalizeUTF8", "none", normal("NFC"), optest.Vec[string]()),
		optest.Failing("NormalizeUTF8", "unknown form", normal("nfx"), all),
		sample("CaseFoldUTF8", "", fold, all),
		sample("CaseFoldUTF8", "matrix", fold, matrix),
	)
}
