package parsing_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
)

// TestUnusualNumbers: TensorFlow 2.21 takes one plus sign before unsigned numbers.
func TestUnusualNumbers(t *testing.T) {
	g := eager.New()
	v, err := parsing.StringToNumber(ops.Const(g, []string{" +3", "+0"}, 2), parsing.NumberType(tf.Uint32)).Value()
	if err != nil || !slices.Equal(tf.Data[uint32](v), []uint32{3, 0}) {
		t.Errorf("got %v, %v, want [3 0]", v, err)
	}
	for _, s := range []string{"++3", "+-3", "+", "-3"} {
		x := parsing.StringToNumber(ops.Const(g, []string{s}, 1), parsing.NumberType(tf.Uint64))
		if _, err := x.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%q: got %v, want INVALID_ARGUMENT", s, err)
		}
	}
}

// TestUnusualDefaults: a default of two dimensions is refused where there are no
// records, too.
func TestUnusualDefaults(t *testing.T) {
	g := eager.New()
	matrix := ops.Reshape(ops.Const(g, []float32{1}, 1), ops.Const(g, []int32{1, 1}, 2))
	x := parsing.DecodeCSV(ops.Const(g, []string{}, 0), []tf.Output{matrix})
	if _, err := x[0].Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}
