package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	words := optest.Mat(2, " \t\n\v\f\r a b \x00 ", "\u00a0a\u00a0", "Straße ﬁn ŉ", "ΑΣ ΣΑ ΑΣ. Σ Α'Σ'Α ΑΣ'", "İIıi ǆǅǄ", "ᾳ ᾼ ǰ և ΐ", "a\xff\xe2\x82B", "", "Cut\x00Off", "ﬀ ﬃ ẞ Ω K Å")
	for op, f := range map[string]func(tf.Output, ...tf.Option) tf.Output{"StringLower": text.StringLower, "StringUpper": text.StringUpper} {
		optest.Add(
			sample(op, "", optest.Unary(f), words),
			sample(op, "UTF-8", optest.Unary(f, text.UTF8Letters), words),
			optest.Failing(op, "encoding", optest.Unary(f, tf.Attr("encoding", "UTF-16")), words),
		)
	}
	optest.Add(
		sample("StringStrip", "", optest.Unary(text.StringStrip), words),
		sample("StringLength", "", optest.Unary(text.StringLength), words),
		sample("StringLength", "characters", optest.Unary(text.StringLength, text.Characters), words),
	)
}

func init() {
	texts := vec("", "a", "ab", "abc", "\xff\xfb\xef\xbe", "longer text")
	encode := func(o text.Base64Opts) function {
		return one(func(in []tf.Output) tf.Output { return text.EncodeBase64(in[0], o) })
	}
	decode := optest.Unary(text.DecodeBase64)
	optest.Add(
		sample("EncodeBase64", "", encode(text.Base64Opts{}), texts),
		sample("EncodeBase64", "padded", encode(text.Base64Opts{Pad: true}), texts),
		sample("DecodeBase64", "", decode, vec("", "YQ", "YQ==", "YWI=", "YWI", "YWJj", "_-__", "YR")),
	)
	for _, bad := range []string{"a", "YQ=", "a+/b", "a b=", "====", "Y===", "YWJ=YWJj", "YW\nJ", "abcde", "äb", "YWJjY", "YWJjYQ=", "YWJjYQ=\n"} {
		optest.Add(optest.Failing("DecodeBase64", bad, decode, vec("YQ", bad)))
	}
}

func init() {
	const op = "Fingerprint"
	f := one(func(in []tf.Output) tf.Output { return text.Fingerprint(in[0], in[1]) })
	farm := core.Scalar("farmhash64")
	optest.Add(
		sample(op, "", f, optest.Mat[float32](2, 1, 2, 3, 4), farm),
		sample(op, "strings", f, vec("a", "", strings.Repeat("b", 100)), farm),
		sample(op, "rows of strings", f, optest.Mat(2, "a", "b", "", "a"), farm),
		sample(op, "bools", f, vec(true, false), farm),
		sample(op, "complex", f, vec(complex(1, 2), 3), farm),
		sample(op, "no rows", f, optest.Arr[int16](tf.Shape{0, 3}), farm),
		sample(op, "empty rows", f, optest.Arr[int64](tf.Shape{2, 0}), farm),
		optest.Failing(op, "scalar", f, core.Scalar("a"), farm),
		optest.Failing(op, "method", f, vec("a"), core.Scalar("md5")),
		optest.Failing(op, "methods", f, vec("a"), vec("farmhash64")),
	)
}

func init() {
	const op = "StringNGrams"
	grams := func(how text.NGrams) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			x, s := text.StringNGrams(in[0], in[1], how)
			return []tf.Output{x, s}
		}
	}
	pairs := text.NGrams{Separator: "|", Widths: []int{2}, LeftPad: "LP", RightPad: "RP", PadWidth: -1}
	words, rows := vec("a", "bb", "c", "d", "e", "f"), vec[int64](0, 4, 4, 5, 6)
	for name, how := range map[string]text.NGrams{
		"": pairs, "padded once": {"|", []int{3}, "LP", "RP", 1, false}, "not padded": {" ", []int{2, 1}, "", "", 0, false},
		"short": {" ", []int{3, 4}, "LP", "RP", 0, true}, "short padded": {"|", []int{5}, "LP", "RP", 1, true}, "wide": {"", []int{5, 2}, "L", "R", 2, false},
		"no widths": {"|", nil, "L", "R", 1, true}, "nothing": {"|", nil, "L", "R", 1, false}, "much padding": {"|", []int{3}, "L", "R", 1 << 20, true},
	} {
		optest.Add(
			sample(op, name, grams(how), words, rows),
			sample(op, name+" int32", grams(how), words, vec[int32](0, 1, 6)),
		)
	}
	optest.Add(
		sample(op, "no words", grams(pairs), vec[string](), vec[int64](0, 0)),
		sample(op, "no rows", grams(pairs), words, vec[int64]()),
		optest.Failing(op, "first", grams(pairs), words, vec[int64](1, 6)),
		optest.Failing(op, "last", grams(pairs), words, vec[int64](0, 5)),
		optest.Failing(op, "behind", grams(pairs), words, vec[int64](0, 7)),
		optest.Failing(op, "backwards", grams(pairs), words, vec[int64](0, 6, 4)),
		optest.Failing(op, "width", grams(text.NGrams{Widths: []int{0}}), words, rows),
		optest.Failing(op, "wide", grams(text.NGrams{Widths: []int{1 << 30, 1 << 30}, PadWidth: -1 << 30}), words, rows),
		optest.Failing(op, "padding", grams(text.NGrams{PadWidth: -1, PreserveShort: true}), words, rows),
	)
}

// TestThreads makes enough strings that the work is cut.
func TestThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		b := make([]byte, r.IntN(20))
		for k := range b {
			b[k] = byte(r.IntN(128))
		}
		words[i] = string(b)
	}
	x := vec(words...)
	matrix := optest.Mat(3, words...)
	optest.Threads(t,
		sample("StringUpper", "", optest.Unary(text.StringUpper), x),
		sample("ReduceJoin", "", one(func(in []tf.Output) tf.Output { return text.ReduceJoin(in[0], in[1]) }), matrix, vec[int32](1)),
		sample("StringSplitV2", "", parts(func(x, sep tf.Output) text.Parts { return text.StringSplitV2(x, sep) }), x, core.Scalar("")),
		sample("Fingerprint", "", one(func(in []tf.Output) tf.Output { return text.Fingerprint(in[0], in[1]) }), matrix, core.Scalar("farmhash64")),
	)
}
