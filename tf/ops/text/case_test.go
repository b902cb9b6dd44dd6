package text_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestLettersAfterUnicode13 have no case in TensorFlow 2.21. Those beside them have.
func TestLettersAfterUnicode13(t *testing.T) {
	const small, capital = "\u2c5f\ua7c1\ua7d1\ua7d7\ua7d9\U00010597\U000105bc a\ua7c3\U00010428", "\u2c2f\ua7c0\ua7d0\ua7d6\ua7d8\U00010570\U00010595 A\ua7c2\U00010400"
	g := eager.New()
	for want, y := range map[string]tf.Output{
		"\u2c2f\ua7c0\ua7d0\ua7d6\ua7d8\U00010570\U00010595 a\ua7c3\U00010428": text.StringLower(ops.Scalar(g, capital), text.UTF8Letters),
		"\u2c5f\ua7c1\ua7d1\ua7d7\ua7d9\U00010597\U000105bc A\ua7c2\U00010400": text.StringUpper(ops.Scalar(g, small), text.UTF8Letters),
	} {
		v, err := y.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[string](v)[0]; got != want {
			t.Errorf("got %+q, want %+q", got, want)
		}
	}
}
