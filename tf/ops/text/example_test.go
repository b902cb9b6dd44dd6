package text_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// Text as it is safe in URLs, with and without padding.
func ExampleEncodeBase64() {
	g := eager.New()
	x := ops.Const(g, []string{"go"})
	for _, pad := range []bool{false, true} {
		v, err := text.EncodeBase64(x, text.Base64Opts{Pad: pad}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[1]{"Z28"} <nil>
	// string[1]{"Z28="} <nil>
}

// Pairs of neighbours in two rows of words, with what stands for the ends.
func ExampleNGrams() {
	g := eager.New()
	words := ops.Const(g, []string{"a", "b", "c", "d"})
	splits := ops.Const(g, []int64{0, 3, 4}) // [a b c] and [d]
	how := text.NGrams{Separator: " ", Widths: []int{2}, LeftPad: "^", RightPad: "$", PadWidth: 1}
	pairs, rows := text.StringNGrams(words, splits, how)
	for _, y := range []tf.Output{pairs, rows} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[6]{"^ a", "a b", "b c", "c $", "^ d", "d $"} <nil>
	// int64[3]{0, 4, 6} <nil>
}

// Parts of strings are a sparse matrix with a row for each string.
func ExampleParts() {
	g := eager.New()
	parts := text.BytesSplit(ops.Const(g, []string{"ab", "c"}))
	for _, y := range []tf.Output{parts.Indices, parts.Values, parts.Shape} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int64[3,2]{0, 0, 0, 1, 1, 0} <nil>
	// string[3]{"a", "b", "c"} <nil>
	// int64[2]{2, 2} <nil>
}

// Strings are joined along a dimension, which goes away or stays.
func ExampleReduceJoin() {
	g := eager.New()
	x := ops.Const(g, []string{"a", "b", "c", "d"}, 2, 2)
	for _, o := range []text.ReduceJoinOpts{{}, {Separator: "-", KeepDims: true}} {
		v, err := text.ReduceJoin(x, ops.Scalar[int32](g, 1), o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[2]{"ab", "cd"} <nil>
	// string[2,1]{"a-b", "c-d"} <nil>
}

// Strings are split at any byte of the delimiter.
func ExampleStringSplit() {
	g := eager.New()
	x := ops.Const(g, []string{"a, b"})
	for _, keep := range []bool{false, true} {
		parts := text.StringSplit(x, ops.Scalar(g, ", "), text.SplitOpts{KeepEmpty: keep})
		v, err := parts.Values.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[2]{"a", "b"} <nil>
	// string[3]{"a", "", "b"} <nil>
}

// Strings are split where the whole separator stands.
func ExampleStringSplitV2() {
	g := eager.New()
	x := ops.Const(g, []string{"a::b::c"})
	for _, most := range []int{0, 1} {
		parts := text.StringSplitV2(x, ops.Scalar(g, "::"), text.SplitV2Opts{MaxSplit: most})
		v, err := parts.Values.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[3]{"a", "b", "c"} <nil>
	// string[2]{"a", "b::c"} <nil>
}

// A byte that is no character is replaced, left out, or an error.
func ExampleUnicodeTranscode() {
	g := eager.New()
	x := ops.Const(g, []string{"a\xffb"})
	for _, o := range []text.UnicodeOpts{{Replacement: '?'}, {Errors: "ignore"}, {Errors: "strict"}} {
		v, err := text.UnicodeTranscode(x, "UTF-8", "UTF-8", o).Value()
		fmt.Println(v, tf.CodeOf(err))
	}
	// Output:
	// string[1]{"a?b"} OK
	// string[1]{"ab"} OK
	// <nil> INVALID_ARGUMENT
}

// Lengths and positions count bytes or characters.
func ExampleUnit() {
	g := eager.New()
	x := ops.Const(g, []string{"größe"})
	for _, unit := range []text.Unit{text.Bytes, text.Characters} {
		v, err := text.StringLength(x, unit).Value()
		fmt.Println(v, err)
	}
	v, err := text.Substr(x, ops.Scalar[int32](g, 2), ops.Scalar[int32](g, 2), text.Characters).Value()
	fmt.Println(v, err)
	// Output:
	// int32[1]{7} <nil>
	// int32[1]{5} <nil>
	// string[1]{"öß"} <nil>
}
