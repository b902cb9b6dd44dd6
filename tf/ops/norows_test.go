package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNoRows: what TensorFlow 2.21 refuses for a batch without rows is refused, in its
// words.
func TestNoRows(t *testing.T) {
	g := eager.New()
	empty := func(d tf.DType, shape ...int) tf.Output { return ops.ConstValue(g, core.NewTensor(d, shape)) }
	ints := func(v ...int64) tf.Output { return ops.Const(g, v) }
	window := tf.Join(nil, tf.Attr("ksize", []int{1, 2, 2, 1}), tf.Attr("strides", []int{1, 2, 2, 1}), tf.Attr("padding", "VALID"))
	cube := tf.Join(nil, tf.Attr("ksize", []int{1, 2, 2, 2, 1}), tf.Attr("strides", []int{1, 2, 2, 2, 1}), tf.Attr("padding", "VALID"))
	edges := ints(0, 2, 4)
	for _, c := range []struct {
		op   string
		in   []tf.Output
		opts []tf.Option
		want string
	}{
		{"MaxPoolWithArgmax", []tf.Output{empty(tf.Float32, 0, 4, 4, 1)}, window, "tensor_in must not be empty (2)"},
		{"MaxPool3DGradGrad", []tf.Output{empty(tf.Float32, 0, 4, 4, 4, 1), empty(tf.Float32, 0, 2, 2, 2, 1), empty(tf.Float32, 0, 4, 4, 4, 1)}, cube, "received empty tensor tensor_in: Tensor<type: float shape: [0,4,4,4,1] values: >"},
		{"FractionalMaxPoolGrad", []tf.Output{empty(tf.Float64, 0, 4, 4, 1), empty(tf.Float64, 0, 2, 2, 1), empty(tf.Float64, 0, 2, 2, 1), edges, edges}, nil, "orig_input must not be empty, got Tensor<type: double shape: [0,4,4,1] values: >"},
		{"Reverse", []tf.Output{empty(tf.Float32, 0, 3), ops.Const(g, []bool{false, true})}, nil, "Invalid input first dimension. Found 0."},
		{"GatherNd", []tf.Output{empty(tf.Float32, 3, 0), ops.Const(g, []int32{1}, 1, 1)}, nil, "Requested more than 0 entries, but params is empty.  Params shape: [3,0]"},
		{"Slice", []tf.Output{empty(tf.Float32, 0, 4), ints(1, 0), ints(-1, 2)}, nil, "Expected begin[0] == 0 (got 1) and size[0] == 0 (got -1) when input.dim_size(0) == 0"},
		{"MirrorPadGrad", []tf.Output{empty(tf.Float32, 0, 7), ops.Const(g, []int32{0, 0, 1, 1}, 2, 2)}, tf.Join(nil, tf.Attr("mode", "REFLECT")), "Total paddings must be less than the input dimension size: 0 was not less than 0"},
	} {
		_, err := tf.Apply(g, c.op, c.in, c.opts...).Output(0).Value()
		if err == nil || tf.AsError(err).Code != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.op, err, c.want)
		}
	}
}

// TestNoRowsGive: what TensorFlow 2.21 makes of no rows.
func TestNoRowsGive(t *testing.T) {
	g := eager.New()
	empty := func(shape ...int) tf.Output { return ops.ConstValue(g, core.NewTensor(tf.Float32, shape)) }
	at := func(v ...int32) tf.Output { return ops.Const(g, v) }
	y, err := ops.TensorStridedSliceUpdate(empty(0, 5), at(0, 0), at(2, 2), at(1, 1), empty(2, 2)).Value()
	if err != nil || !y.Shape().Equal(tf.Shape{0, 5}) {
		t.Errorf("a slice without rows is set: %v, %v", y, err)
	}
	one := ops.Const(g, []float32{1})
	norm := tf.Apply(g, "FusedBatchNormV3", []tf.Output{empty(0, 2, 2, 1), one, one, one, one}, tf.Attr("exponential_avg_factor", 0.5))
	for i := 1; i <= 2; i++ {
		v, err := norm.Output(i).Value()
		if err != nil || !math.IsNaN(float64(v.At(0).(float32))) {
			t.Errorf("average %d of no rows: %v, %v", i, v, err)
		}
	}
}
