package uniform_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
)

// TestRepeatedAlongScales: a number that is repeated along the quantization axis of the sum
// would need a scale for each repetition. It is refused, and not all taken by the first one.
func TestRepeatedAlongScales(t *testing.T) {
	g := eager.New()
	one, none := ops.Scalar[float32](g, 1), ops.Scalar[int32](g, 0)
	whole := func(x tf.Output) uniform.Quantized {
		return uniform.Quantized{Values: ops.Cast(x, tf.QInt32), Scales: one, ZeroPoints: none}
	}
	y := whole(ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 2, 3))
	scales, zeros := ops.Const(g, []float32{1, 0.5, 0.25}), ops.Const(g, []int32{0, 0, 0})
	by := uniform.Of{Left: wide, Right: wide, Out: along(wide, 1)}
	sum := uniform.UniformQuantizedAdd(whole(ops.Const(g, []int32{10, 20}, 2, 1)), y, scales, zeros, by)
	if v, err := sum.Values.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v, want INVALID_ARGUMENT", v, err)
	}
	sum = uniform.UniformQuantizedAdd(whole(ops.Const(g, []int32{10, 10, 10}, 1, 3)), y, scales, zeros, by)
	v, err := ops.Cast(sum.Values, tf.Int32).Value()
	if err != nil || fmt.Sprint(tf.Data[int32](v)) != "[11 24 52 14 30 64]" {
		t.Errorf("got %v, %v, want the sums in steps of each column", v, err)
	}
}

// TestNoImagesTakeNoMemory: what there is of windows is not worked out if no image or no
// feature needs it.
func TestNoImagesTakeNoMemory(t *testing.T) {
	g := eager.New()
	one, none := ops.Scalar[float32](g, 1), ops.Scalar[int32](g, 0)
	filters := uniform.Quantized{Values: ops.Cast(ops.Const(g, []int32{1}, 1, 1, 1), tf.QInt8), Scales: one, ZeroPoints: none}
	x := ops.Fill([]int{0, 1, 1}, ops.Scalar[float32](g, 0))
	used, _ := tf.MemoryUsage()
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(used + 64<<20))
	y := uniform.UniformQuantizedConvolutionHybrid(x, filters, "EXPLICIT", whole, uniform.ConvOpts{Padding: []int{1 << 30, 0}})
	if v, err := y.Value(); err != nil || !v.Shape().Equal(tf.Shape{0, 1, 1<<30 + 1}) {
		t.Errorf("got %v, %v, want a result without elements", v, err)
	}
}

// TestManySlicesWithoutElements: nothing goes through slices without elements, of which
// there may be any number.
func TestManySlicesWithoutElements(t *testing.T) {
	g := eager.New()
	x := ops.ConstValue(g, core.NewTensor(tf.Float32, tf.Shape{1 << 40, 3, 0}))
	scales, zeros := ops.Const(g, []float32{1, 0.5, 0.25}), ops.Const(g, []int32{0, 0, 0})
	done := make(chan error, 1)
	go func() {
		_, err := uniform.UniformQuantize(x, scales, zeros, tf.QInt8, along(whole, 1)).Values.Value()
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("UniformQuantize goes through slices without elements")
	}
}
