package tftext_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
)

// A text is folded and split at spaces and punctuation, as BERT's models do.
func ExampleTokens() {
	g := eager.New()
	x := tftext.CaseFoldUTF8(ops.Const(g, []string{"Straße, ﬁne"}))
	var t tftext.Tokens = tftext.RegexSplitWithOffsets(x, ops.Scalar(g, `(\s+|\pP)`), ops.Scalar(g, `\pP`))
	fmt.Println(t.Text.Value())
	fmt.Println(t.Begin.Value())
	// Output:
	// string[3]{"strasse", ",", "fine"} <nil>
	// int64[3]{0, 7, 9} <nil>
}

func ExampleWordpieceOpts() {
	g := eager.New()
	words := lookup.HashTableV2(g, tf.String, tf.Int64)
	lookup.InitializeTableV2(words, ops.Const(g, []string{"un", "##aff", "##able"}), ops.Const(g, []int64{0, 1, 2}))
	o := tftext.WordpieceOpts{Suffix: "##", MaxBytes: 100, Unknown: "[UNK]"}
	t := tftext.WordpieceTokenizeWithOffsets(ops.Const(g, []string{"unaffable", "fox"}), words, o)
	fmt.Println(t.Text.Value())
	fmt.Println(t.Splits.Value())
	// Output:
	// string[4]{"un", "##aff", "##able", "[UNK]"} <nil>
	// int64[3]{0, 3, 4} <nil>
}

func ExampleCharacters() {
	g := eager.New()
	chars := ops.Const(g, []rune("ab 日本"))
	var c tftext.Characters = tftext.UnicodeScriptTokenizeWithOffsets(chars, ops.Const(g, []int64{0, 5}), tftext.KeepWhitespace)
	fmt.Println(c.Begin.Value())
	fmt.Println(c.End.Value())
	// Output:
	// int64[3]{0, 2, 3} <nil>
	// int64[3]{2, 3, 5} <nil>
}
