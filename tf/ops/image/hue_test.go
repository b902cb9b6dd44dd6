package image_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// reds are pixels whose colors are multiples of 1/64.
var reds = []float32{0.75, 0.765625, 0.390625, 0.109375, -0.1875, 0.234375, 0.265625, -0.1875, -0.1875, 1, 0.5625, 0.046875}

// TestColorsAreRounded: every operation on numbers of 16 bits is rounded, in the order
// of TensorFlow 2.21, whose values these are.
func TestColorsAreRounded(t *testing.T) {
	g := eager.New()
	for name, c := range map[string]struct {
		op   func(tf.Output, ...tf.Option) tf.Output
		d    tf.DType
		want string
	}{
		"RGBToHSV of halves":   {image.RGBToHSV, tf.Float16, "[0.173584 0.489746 0.765625 0.783691 1.7998 0.234375 0 1.70605 0.265625 0.0901489 0.953125 1]"},
		"RGBToHSV of bfloat16": {image.RGBToHSV, tf.BFloat16, "[0.173828 0.490234 0.765625 0.785156 1.79688 0.234375 0 1.70312 0.265625 0.090332 0.953125 1]"},
		"HSVToRGB of halves":   {image.HSVToRGB, tf.Float16, "[0.241089 0.0915527 0.390625 0.234375 0.249512 0.27832 -0.208374 -0.1875 -0.222656 0.046875 0.0205078 0.0205078]"},
		"HSVToRGB of bfloat16": {image.HSVToRGB, tf.BFloat16, "[0.241211 0.0917969 0.390625 0.234375 0.249023 0.277344 -0.208008 -0.1875 -0.222656 0.046875 0.0205078 0.0205078]"},
		"HSVToRGB of floats":   {image.HSVToRGB, tf.Float32, "[0.241089 0.0915527 0.390625 0.234375 0.249481 0.27832 -0.208374 -0.1875 -0.222656 0.046875 0.0205078 0.0205078]"},
	} {
		x := ops.Cast(ops.Const(g, reds, 4, 3), c.d)
		v, err := ops.Cast(c.op(x), tf.Float32).Value()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := fmt.Sprintf("%.6g", tf.Data[float32](v)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestHueAndSaturation compares bits with TensorFlow 2.21, whose hue and saturation
// keep what they can of a pixel with NaN. Its hue does not end for an infinite delta.
func TestHueAndSaturation(t *testing.T) {
	g := eager.New()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := append(append([]float32{}, reds...), nan, 0.25, 0.5, 0.25, nan, 0.5, 0.25, 0.5, nan, 0.5, 0.5, 0.5)
	for name, c := range map[string]struct {
		op   func(x, by tf.Output, opts ...tf.Option) tf.Output
		by   float32
		want string
	}{
		"hue":               {image.AdjustHue, 0.3, "[0.390625 0.765625 0.70625 0.234375 0.025000155 -0.1875 -0.09687509 0.265625 -0.1875 0.046875 1 0.37187502 NaN 0.25 NaN 0.5 NaN NaN 0.5 0.25 NaN 0.5 0.5 0.5]"},
		"hue, many turns":   {image.AdjustHue, -2.7, "[0.390625 0.765625 0.70624983 0.234375 0.024999753 -0.1875 -0.096874654 0.265625 -0.1875 0.046875 1 0.3718739 NaN 0.25 NaN 0.5 NaN NaN 0.5 0.25 NaN 0.5 0.5 0.5]"},
		"hue by NaN":        {image.AdjustHue, nan, "[0.765625 0.390625 NaN 0.234375 -0.1875 NaN 0.265625 -0.1875 NaN 1 0.046875 NaN NaN 0.25 NaN 0.5 NaN NaN 0.5 0.25 NaN 0.5 0.5 NaN]"},
		"saturation":        {image.AdjustSaturation, 1.5, "[0.7421875 0.765625 0.203125 0.1649306 0 0.234375 0.265625 0 0 1 0.54098356 0 NaN NaN NaN 0.25 0.25 0.25 0.125 0.125 0.125 0.5 0.5 0.5]"},
		"saturation by NaN": {image.AdjustSaturation, nan, "[0.765625 0.765625 0.765625 0.234375 0.234375 0.234375 0.265625 0.265625 0.265625 1 1 1 NaN NaN NaN 0.25 0.25 0.25 0.5 0.5 0.5 0.5 0.5 0.5]"},
		"saturation by Inf": {image.AdjustSaturation, inf, "[0.733724 0.765625 0 0.1649306 0 0.234375 0.265625 0 0 1 0.54098356 0 NaN NaN NaN 0.25 0.25 0.25 0 0 0 0.5 0.5 0.5]"},
		"hue by Inf":        {image.AdjustHue, inf, "[0.765625 0.390625 NaN 0.234375 -0.1875 NaN 0.265625 -0.1875 NaN 1 0.046875 NaN NaN 0.25 NaN 0.5 NaN NaN 0.5 0.25 NaN 0.5 0.5 NaN]"},
	} {
		v, err := c.op(ops.Const(g, x, 1, 8, 3), ops.Scalar(g, c.by)).Value()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := fmt.Sprint(tf.Data[float32](v)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}
