package ops_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestSpaceOverflows: margins whose sum cannot be counted are refused. TensorFlow
// 2.21 makes elements that nothing has written of such crops.
func TestSpaceOverflows(t *testing.T) {
	g := eager.New()
	const most = math.MaxInt64
	margins := ops.Const(g, []int64{most, most, 0, 0}, 2, 2)
	blocks := ops.Const(g, []int64{2, 2})
	for name, x := range map[string]tf.Output{
		"crops":      ops.BatchToSpaceND(ops.Const(g, make([]float32, 16), 4, 2, 2, 1), blocks, margins),
		"paddings":   ops.SpaceToBatchND(ops.Const(g, make([]float32, 4), 1, 2, 2, 1), blocks, margins),
		"old crops":  ops.BatchToSpace(ops.Const(g, make([]float32, 16), 4, 2, 2, 1), margins, 2),
		"many crops": ops.BatchToSpaceND(ops.Const(g, make([]float32, 0), 0, 2, 2, 1), ops.Const(g, []int64{most, 1}), ops.Const(g, make([]int64, 4), 2, 2)),
	} {
		if v, err := x.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, %v, want INVALID_ARGUMENT", name, v, err)
		}
	}
}

// TestLongRolls: all 64 bits of a shift count.
func TestLongRolls(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{0, 1, 2, 3, 4, 5, 6})
	for shift, want := range map[int64]string{
		1<<33 + 1:         "[5 6 0 1 2 3 4]", // 8589934593 is 2 more than a multiple of 7
		math.MaxInt64:     "[0 1 2 3 4 5 6]",
		math.MinInt64 + 1: "[0 1 2 3 4 5 6]",
	} {
		v, err := ops.Roll(x, ops.Const(g, []int64{shift}), []int{0}).Value()
		if err != nil {
			t.Errorf("%d: %v", shift, err)
		} else if got := fmt.Sprint(tf.Data[float32](v)); got != want {
			t.Errorf("%d: got %s, want %s", shift, got, want)
		}
	}
}

// TestNegativeRows: the words are those of TensorFlow 2.21.
func TestNegativeRows(t *testing.T) {
	g := eager.New()
	ids := ops.Const(g, []int32{0})
	for _, op := range []string{"Sum", "Mean", "SqrtN"} {
		in := []tf.Output{ops.Const(g, make([]float32, 3), 1, 3), ids, ids, ops.Scalar(g, int32(-1))}
		_, err := tf.Apply(nil, "SparseSegment"+op+"GradV2", in).Output(0).Value()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Expected a non-negative size, got -1") {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", op, err)
		}
	}
}

// TestFarDilations: the distance of a filter's rows takes no memory, and one that has
// more than 32 bits, with which positions would overflow, is refused.
func TestFarDilations(t *testing.T) {
	g := eager.New()
	conv := func(x, filter tf.Output, padding string, dilations ...int) tf.Output {
		return ops.Conv2D(x, filter, []int{1, 1, 1, 1}, padding, ops.WindowOpts{Dilations: dilations})
	}
	x, filter := ops.Fill(ops.Const(g, []int32{1, 1, 2, 8}), ops.Scalar(g, int32(1))), ops.Fill(ops.Const(g, []int32{3, 3, 8, 1}), ops.Scalar(g, int32(1)))
	if got, _ := valuesOf[int32](t, conv(x, filter, "SAME", 1, 1<<30, 1, 1)); fmt.Sprint(got) != "[16 16]" {
		t.Errorf("far rows: got %v, want [16 16]", got)
	}
	images, row := ops.Const(g, make([]float32, 16*16), 1, 1, 16, 16), ops.Const(g, make([]float32, 9*16*16), 1, 9, 16, 16)
	v, err := conv(images, row, "VALID", 1, 1, 1<<61, 1).Value()
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Attr dilations has value 2305843009213693952 out of range for an int32") {
		t.Errorf("a distance of 62 bits: got %v, %v, want INVALID_ARGUMENT", v, err)
	}
}
