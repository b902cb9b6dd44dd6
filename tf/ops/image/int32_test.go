package image_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// TestNumbersBeyondInt32 are refused, as in TensorFlow 2.21.
func TestNumbersBeyondInt32(t *testing.T) {
	const most = 1 << 40
	g := eager.New()
	x, v := ops.Const(g, make([]float32, 4), 1, 2, 2, 1), ops.Const(g, make([]float32, 8), 1, 2, 2, 2, 1)
	jpeg := func(attr string) tf.Output {
		return tf.Apply(nil, "EncodeJpeg", []tf.Output{ops.Const(g, make([]uint8, 4), 2, 2, 1)}, tf.Attr(attr, most)).Output(0)
	}
	one, one5 := []int{1, 1, 1, 1}, []int{1, 1, 1, 1, 1}
	for name, y := range map[string]tf.Output{
		"x_density":         jpeg("x_density"),
		"y_density":         jpeg("y_density"),
		"ksizes":            image.ExtractImagePatches(x, []int{1, 1, most, 1}, one, one, "SAME"),
		"rates":             image.ExtractImagePatches(x, one, one, []int{most, 1, 1, 1}, "SAME"),
		"ksizes of volumes": image.ExtractVolumePatches(v, []int{1, 1, most, 1, 1}, one5, "SAME"),
		"strides":           image.ExtractVolumePatches(v, one5, []int{1, 1, 1, most, 1}, "SAME"),
	} {
		if v, err := y.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, %v, want INVALID_ARGUMENT", name, v, err)
		}
	}
}
