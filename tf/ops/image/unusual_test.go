package image_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// TestUnusualValues: NaN, and gradients of more images than there are, as in
// TensorFlow 2.21.
func TestUnusualValues(t *testing.T) {
	g := eager.New()
	nan := math.NaN()
	grads := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 1, 1, 3)
	one := ops.Const(g, []float32{0}, 1, 1, 1, 1)
	sizes := ops.Const(g, []int32{2, 1}, 2)
	both := image.ResizeOpts{AlignCorners: true, HalfPixelCenters: true}
	attrs := []tf.Option{tf.Attr("T", tf.Float32)}
	apply := func(op string, opt tf.Option, in ...tf.Output) tf.Output {
		return tf.Apply(nil, op, in, append(slices.Clone(attrs), opt)...).Output(0)
	}
	for name, c := range map[string]struct {
		got  tf.Output
		want string
	}{
		"red is NaN":                           {ops.Cast(image.RGBToHSV(ops.Const(g, []float64{nan, 0.25, 0.5}, 3)), tf.Float32), "[NaN 0.5 0.5]"},
		"green is NaN":                         {ops.Cast(image.RGBToHSV(ops.Const(g, []float64{0.25, nan, 0.5}, 3)), tf.Float32), "[0 0 0.5]"},
		"blue is NaN":                          {ops.Cast(image.RGBToHSV(ops.Const(g, []float64{0.25, 0.5, nan}, 3)), tf.Float32), "[0 0 NaN]"},
		"more resized images than there are":   {apply("ResizeBilinearGrad", image.ResizeOpts{}, grads, one), "[1 2 3 4 5 6]"},
		"corners and centers of a gradient":    {apply("ResizeNearestNeighborGrad", both, grads, sizes), "[0 0 0 1 2 3 0 0 0 4 5 6]"},
		"sums of halves, one by one":           {ops.Cast(halfSums(g, tf.Float16), tf.Float32), "[4096]"},
		"sums of bfloat16, one by one":         {ops.Cast(halfSums(g, tf.BFloat16), tf.Float32), "[4096]"},
		"a box that ends beyond all integers":  {image.DrawBoundingBoxes(one, ops.Const(g, []float32{0, 0, 0, 3e38}, 1, 1, 4)), "[1]"},
		"a box that ends there in two columns": {image.DrawBoundingBoxes(ops.Const(g, []float32{5, 6}, 1, 1, 2, 1), ops.Const(g, []float32{0, 0, 0, 3e38}, 1, 1, 4)), "[5 6]"},
	} {
		v, err := c.got.Value()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := fmt.Sprint(tf.Data[float32](v)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestUnusualShapes: images that TensorFlow 2.21 refuses in the step, with its codes.
func TestUnusualShapes(t *testing.T) {
	g := eager.New()
	none := func(s ...int) tf.Output { return ops.Const(g, []float32{}, s...) }
	size := ops.Const(g, []int32{2, 3}, 2)
	some := ops.Const(g, []float32{1}, 1, 1, 1, 1)
	grad := func(op string, in ...tf.Output) tf.Output {
		return tf.Apply(nil, op, in, tf.Attr("T", tf.Float32)).Output(0)
	}
	if _, err := image.EncodePng(ops.Const(g, []uint8{}, 0, 4, 3)).Value(); tf.CodeOf(err) != tf.Internal {
		t.Errorf("EncodePng without pixels: got %v, want INTERNAL", err)
	}
	for name, x := range map[string]tf.Output{
		"ResizeArea without channels":            image.ResizeArea(none(1, 3, 4, 0), size),
		"ResizeBicubic without channels":         image.ResizeBicubic(none(1, 3, 4, 0), size),
		"ResizeNearestNeighbor without channels": image.ResizeNearestNeighbor(none(1, 3, 4, 0), size),
		"a gradient without pixels":              grad("ResizeBilinearGrad", none(1, 0, 1, 1), some),
		"a gradient for no pixels":               grad("ResizeBicubicGrad", some, none(1, 1, 0, 1)),
	} {
		if _, err := x.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}

// TestUnusualBoxes: a box whose second corner has NaN has no area, so that all boxes
// remain, as in TensorFlow 2.21.
func TestUnusualBoxes(t *testing.T) {
	g := eager.New()
	nan := float32(math.NaN())
	boxes := ops.Const(g, []float32{0.25, 0.25, nan, 0.5, 0, 0, 1, 1, 0.25, 0, 0.5, 1}, 3, 4)
	scores, most := ops.Const(g, []float32{0.75, 0.5, 0.25}, 3), ops.Scalar(g, int32(3))
	v, err := image.NonMaxSuppressionV3(boxes, scores, most, ops.Scalar(g, float32(0.5)), ops.Scalar(g, float32(0))).Value()
	if err != nil || !slices.Equal(tf.Data[int32](v), []int32{0, 1, 2}) {
		t.Errorf("got %v, %v, want [0 1 2]", v, err)
	}
}

// halfSums is the gradient of four pixels, 4096 and three times 1, that were one.
func halfSums(g *tf.Graph, d tf.DType) tf.Output {
	x := ops.Cast(ops.Const(g, []float32{4096, 1, 1, 1}, 1, 2, 2, 1), d)
	return tf.Apply(nil, "ResizeNearestNeighborGrad", []tf.Output{x, ops.Const(g, []int32{1, 1}, 2)}, tf.Attr("T", d)).Output(0)
}
