package text_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/optest"
)

// texts are samples of encodings, right and wrong.
var texts = map[string][]string{
	"UTF-8": {
		"häß€😀", "", "a\xe2\x82b", "a\xe2\x82", "\xe2", "\xed\xa0\x80x", "\xf4\x90\x80\x80", "\xf0\x9f\x98", "\xc0\x80", "\xff\xfe", "\xef\xbb\xbfa", "a\x00\x01b\x1f",
		"\xe0\x80\x80", "\xf8\x88\x80\x80\x80", "\x80", "\xf0\x90A", "\xef\xbf\xbf\xef\xbf\xbd", "\xe2\x82\xe2\x82\xac", "\xf0\x9f\x98\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf",
	},
	"UTF-16":     {"\xfe\xff\x00a\x00b", "\x00a\x00b", "\x00a\x00", "\xd8\x00\x00a", "\xdc\x00\x00a", "\xd8=\xde\x00\x00x", "\xd8=\xde\x00x", "\xd8=\xde", "\xd8=", "\x00a\xfe\xff"},
	"UTF16":      {"", "\xff\xfea\x00b\x00"},
	"ucs-2":      {"\xfe\xff"},
	"unicode":    {"\xff\xfea\x00b"},
	"UTF-16-BE":  {"\xfe\xff\x00a", "\xd8\x00\x00a", "\xd8\x00\xd8\x3d\xde\x00"},
	"utf16le":    {"\xff\xfea\x00", "a\x00b", "=\xd8\x00\xde"},
	"UTF_32":     {"\xff\xfe\x00\x00a\x00\x00\x00"},
	"UTF-32":     {"\x00\x00\xfe\xff\x00\x00\x00a", "\x00\x00\x00a", "\x00\x11\x00\x00\x00\x00\x00a", "\x00\x00\xd8\x00", "\x00\x00\x00a\x00\x00"},
	"utf_32 be":  {"\x00\x00\xfe\xff\x00\x00\x00a"},
	"UTF-32LE":   {"a\x00\x00\x00\x00\xf6\x01\x00"},
	"US-ASCII":   {"a\x80\xffb"},
	"ISO-8859-1": {"a\x80\xff\x01"},
	"SHIFT-JIS":  {"a\x82\xb1\xb1\\", "\x8f\x70b"}, "EUC-JP": {"\xb4\xc1\xbb\xfaa"}, "euc-kr": {"\xc7\xd1\xb9\xcea"},
	"gb18030": {"\xca\xf5a\x81\x30\x81\x30"}, "GBK": {"\xca\xf5"}, "Big5": {"\xb3\x4ea"},
	"KOI8-R": {"a\xd2\xc1"}, "windows-1251": {"\xef\xf0\x80"}, "ISO_8859-7": {"\xe1\xb5"}, "cp437": {"\x80\xe9"}, "latin2": {"\xb1~"},
	"latin1": {"\xe9"},
}

func init() {
	decode := func(enc string, opts ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			s, c := text.UnicodeDecode(in[0], enc, opts...)
			return []tf.Output{s, c}
		}
	}
	offsets := func(enc string, opts ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			s, c, at := text.UnicodeDecodeWithOffsets(in[0], enc, opts...)
			return []tf.Output{s, c, at}
		}
	}
	recode := func(enc, to string, opts ...tf.Option) function {
		return one(func(in []tf.Output) tf.Output { return text.UnicodeTranscode(in[0], enc, to, opts...) })
	}
	to := []string{"UTF-8", "UTF-16-BE", "UTF-32-BE"}
	for enc, words := range texts {
		x := vec(words...)
		for name, o := range map[string]text.UnicodeOpts{"": {}, " ignore": {Errors: "ignore"}, " controls": {Replacement: '?', ReplaceControls: true}, " both": {Errors: "ignore", ReplaceControls: true}} {
			optest.Add(
				sample("UnicodeDecode", enc+name, decode(enc, o), x),
				sample("UnicodeDecodeWithOffsets", enc+name, offsets(enc, o), x),
				sample("UnicodeTranscode", enc+name, recode(enc, to[len(name)%3], o), x),
			)
		}
	}
	strict, bad := text.UnicodeOpts{Errors: "strict"}, vec("a", "\xff")
	controls := text.UnicodeOpts{Errors: "strict", ReplaceControls: true}
	for op, f := range map[string]func(enc string, opts ...tf.Option) function{
		"UnicodeDecode": decode, "UnicodeDecodeWithOffsets": offsets,
		"UnicodeTranscode": func(enc string, opts ...tf.Option) function { return recode(enc, "UTF-8", opts...) },
	} {
		optest.Add(
			sample(op, "strict", f("UTF-8", strict), optest.Mat(2, "a", "ä", "", "€")),
			optest.Failing(op, "strict and bad", f("UTF-8", strict), bad),
			optest.Failing(op, "encoding", f("none"), bad),
			optest.Failing(op, "no encoding", f(""), bad),
			optest.Failing(op, "replacement", f("UTF-8", text.UnicodeOpts{Replacement: 0x110000}), bad),
			optest.Failing(op, "negative replacement", f("UTF-8", text.UnicodeOpts{Replacement: -1}), bad),
		)
	}
	optest.Add(
		sample("UnicodeDecode", "int32", decode("UTF-8", tf.Attr("Tsplits", tf.Int32)), vec("ab", "ä")),
		sample("UnicodeDecode", "strict controls", decode("UTF-8", controls), vec("a\x01")),
		optest.Failing("UnicodeTranscode", "strict controls", recode("UTF-8", "UTF-8", controls), vec("a\x01")),
	)
	for _, enc := range to {
		optest.Add(sample("UnicodeTranscode", "surrogate "+enc, recode("UTF-8", enc, text.UnicodeOpts{Replacement: 0xD800}), vec("a\xffb")))
	}
}

func init() {
	const op = "UnicodeEncode"
	encode := func(to string, o text.UnicodeOpts) function {
		return one(func(in []tf.Output) tf.Output { return text.UnicodeEncode(in[0], in[1], to, o) })
	}
	plain, strict := encode("UTF-8", text.UnicodeOpts{}), encode("UTF-8", text.UnicodeOpts{Errors: "strict"})
	chars, rows := vec[int32]('a', 0x110000, 0xD800, 0xFFFE, '😀', -1, 'ä', 0), vec[int64](0, 2, 2, 6, 8)
	for _, to := range []string{"UTF-8", "UTF-16-BE", "UTF-32-BE"} {
		for _, errors := range []string{"", "ignore"} {
			optest.Add(sample(op, to+errors, encode(to, text.UnicodeOpts{Errors: errors, Replacement: '?'}), chars, rows))
		}
		optest.Add(sample(op, "surrogate "+to, encode(to, text.UnicodeOpts{Replacement: 0xD801}), chars, rows))
	}
	optest.Add(
		sample(op, "int32", plain, vec[int32]('a', 'b'), vec[int32](0, 1, 2)),
		sample(op, "strict", strict, vec[int32]('a', 0xFFFE), vec[int64](0, 2)),
		sample(op, "no rows", plain, vec[int32](), vec[int64](0)),
		sample(op, "no characters", plain, vec[int32](), vec[int64](0, 0)),
		optest.Failing(op, "strict and bad", strict, chars, rows),
		optest.Failing(op, "replacement", encode("UTF-8", text.UnicodeOpts{Replacement: 0x110000}), chars, rows),
		optest.Failing(op, "matrix", plain, optest.Mat[int32](1, 'a'), vec[int64](0, 1)),
		optest.Failing(op, "matrix of splits", plain, vec[int32]('a'), optest.Mat[int64](2, 0, 1)),
	)
	for _, s := range [][]int64{{}, {1, 1}, {0}, {0, 3}, {0, 2, 1, 2}, {0, -1, 2}} {
		optest.Add(optest.Failing(op, fmt.Sprint(s), plain, vec[int32]('a', 'b'), vec(s...)))
	}
}

func init() {
	// One character of each script, beginnings and ends of ranges, and what has none.
	x := []int32{-1, 0x110000, 0xD800, 0x378, 0x10FFFF, 0xE000, 0x300, 'a', 'ª', 'º', '«', 0x4E00, 0x9FFC, 0x1F600, 0x30, 0x1E4C0}
	for r := int32(0); r < 0x20000; r += 0x2B {
		if r < 0x600 || r > 0x3000 && r < 0xA000 || r%5 == 0 && r < 0x1680 {
			x = append(x, r)
		}
	}
	optest.Add(sample("UnicodeScript", "", optest.Unary(text.UnicodeScript), vec(x...)))
}
