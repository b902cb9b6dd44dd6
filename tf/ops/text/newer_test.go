package text_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestNewerScripts: characters that Unicode 13 does not have belong to no script in TensorFlow
// 2.21, and two of Unicode 13 changed theirs later.
func TestNewerScripts(t *testing.T) {
	g := eager.New()
	x := []int32{0x61D, 0x870, 0x88E, 0x89F, 0x8A0, 0x9FFC, 0x9FFD, 0xFDFE, 0x16FE2, 0x16FE4, 0x323AF, 0x31350, 0x3134A}
	want := []int32{103, 103, 103, 103, 2, 17, 103, 103, 0, 191, 103, 103, 17}
	v, err := text.UnicodeScript(ops.Const(g, x, len(x))).Value()
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[int32](v); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestShortestSubstring: a length so negative that the place it begins at cannot be counted.
func TestShortestSubstring(t *testing.T) {
	g := eager.New()
	out := text.Substr(ops.Scalar(g, "abc"), ops.Scalar[int64](g, -1), ops.Scalar[int64](g, math.MinInt64), text.Characters)
	if v, err := out.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v, want INVALID_ARGUMENT", v, err)
	}
}

// TestSplitsBeyond: splits that go beyond the characters and come back have an error of their own.
func TestSplitsBeyond(t *testing.T) {
	g := eager.New()
	out := text.UnicodeEncode(ops.Const(g, []int32{'a', 'b'}, 2), ops.Const(g, []int64{0, 9, 2}, 3), "UTF-8")
	_, err := out.Value()
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "less than or equal to input_tensor length") {
		t.Errorf("got %v", err)
	}
}
