package tftext_test

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
	"github.com/gorge-tf/gorge/tf/optest"
)

// wordpieces makes a vocabulary of the second input and splits the first by it.
func wordpieces(o tftext.WordpieceOpts) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		t := lookup.HashTableV2(g, tf.String, tf.Int64)
		full := tf.After(lookup.InitializeTableV2(t, in[1], in[2]))
		return parts(tftext.WordpieceTokenizeWithOffsets(in[0], t, o, full))
	}
}

func init() {
	words := []string{"don", "'", "##'", "##t", "t", "tread", "##ness", "hel", "##lo", "##o", "there", "my", "na", "##me", "is", "ter", "##ry", "what", "##cha",
		"日", "##本", "é", "##é", "a", "##b", "[UNK]", "##\xff"}
	numbers := make([]int64, len(words))
	for i := range numbers {
		numbers[i] = int64(i - 3) // the word whose number is -1 is none
	}
	vocabulary, ids := optest.Vec(words...), optest.Vec(numbers...)
	texts := optest.Vec("don't", "treadness", "hello", "there", "", "'t", "日本", "日本語", "aéb", "ab\xff", "\xff\xe2\x82b", "a\x00b", "terry", "whatcha", "xyz",
		strings.Repeat("a", 5)+strings.Repeat("b", 9), "tt'", "éé")
	for name, o := range map[string]tftext.WordpieceOpts{
		"":                    {Suffix: "##", MaxBytes: 100, Unknown: "[UNK]"},
		"lengths":             {Suffix: "##", MaxBytes: 100, Unknown: "[UNK]", RowLengths: true},
		"as it is":            {Suffix: "##", MaxBytes: 100},
		"long words":          {Suffix: "##", MaxBytes: 6, Unknown: "[UNK]"},
		"long words, as is":   {Suffix: "##", MaxBytes: 6},
		"no words":            {Suffix: "##", MaxBytes: -1, Unknown: "[UNK]"},
		"characters":          {Suffix: "##", MaxBytes: 100, Unknown: "[UNK]", SplitUnknown: true},
		"characters, as is":   {Suffix: "##", MaxBytes: 100, SplitUnknown: true},
		"short pieces":        {Suffix: "##", MaxBytes: 100, MaxChars: 3, Unknown: "[UNK]"},
		"short, characters":   {Suffix: "##", MaxBytes: 100, MaxChars: 1, Unknown: "?", SplitUnknown: true, RowLengths: true},
		"any number of chars": {Suffix: "##", MaxBytes: 100, MaxChars: -2, Unknown: "[UNK]"},
		"without a suffix":    {MaxBytes: 100, Unknown: "[UNK]"},
	} {
		s := sample("WordpieceTokenizeWithOffsets", name, wordpieces(o), texts, vocabulary, ids)
		s.Static = "handles carry types"
		optest.Add(s)
	}
	bert := tftext.WordpieceOpts{Suffix: "##", MaxBytes: 100, Unknown: "[UNK]"}
	empty := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return parts(tftext.WordpieceTokenizeWithOffsets(in[0], lookup.HashTableV2(g, tf.String, tf.Int64), bert))
	}
	reversed := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return parts(tftext.WordpieceTokenizeWithOffsets(in[0], lookup.HashTableV2(g, tf.Int64, tf.String), bert))
	}
	large := bert
	large.MaxBytes = 1 << 40
	optest.Add(
		optest.Failing("WordpieceTokenizeWithOffsets", "not filled", empty, texts),
		optest.Failing("WordpieceTokenizeWithOffsets", "large", wordpieces(large), texts, vocabulary, ids),
		optest.Sample{Op: "WordpieceTokenizeWithOffsets", Name: "other types", In: []*core.Tensor{texts}, F: reversed, Types: optest.OnlyOwn, Fails: true,
			Refused: "a vocabulary must be a table from string to int64, got one from int64 to string"}, // TensorFlow Text ends the process
	)
}
