package text_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestNumbersBeyondInt32 are refused, as in TensorFlow 2.21.
func TestNumbersBeyondInt32(t *testing.T) {
	g := eager.New()
	words, splits := ops.Const(g, []string{"a b", "c"}, 2), ops.Const(g, []int64{0, 2}, 2)
	ngrams := func(n text.NGrams) tf.Output { y, _ := text.StringNGrams(words, splits, n); return y }
	for name, y := range map[string]tf.Output{
		"maxsplit":     text.StringSplitV2(words, ops.Scalar(g, " "), text.SplitV2Opts{MaxSplit: math.MaxInt32 + 1}).Values,
		"ngram_widths": ngrams(text.NGrams{Widths: []int{1 << 40}}),
		"pad_width":    ngrams(text.NGrams{Widths: []int{2}, PadWidth: math.MinInt64}),
	} {
		if v, err := y.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, %v, want INVALID_ARGUMENT", name, v, err)
		}
	}
}
