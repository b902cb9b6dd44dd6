package image_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// The best box of each class. With PadPerClass the results have room for one box
// of each class, not for the ten that are allowed in all.
func ExampleCombinedNonMaxSuppression() {
	g := eager.New()
	boxes := ops.Const(g, []float32{0, 0, 1, 1, 0, 0, 1, 0.9}, 1, 2, 1, 4) // overlap
	scores := ops.Const(g, []float32{0.9, 0.3, 0.8, 0.6}, 1, 2, 2)         // of two classes each
	one, ten := ops.Scalar[int32](g, 1), ops.Scalar[int32](g, 10)
	half, zero := ops.Scalar[float32](g, 0.5), ops.Scalar[float32](g, 0)
	_, best, classes, valid := image.CombinedNonMaxSuppression(boxes, scores, one, ten, half, zero, image.CombinedOpts{PadPerClass: true})
	for _, y := range []tf.Output{best, classes, valid} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,2]{0.9, 0.6} <nil>
	// float32[1,2]{0, 1} <nil>
	// int32[1]{2} <nil>
}

// A box that reaches beyond the image: what is outside has a value of its own.
func ExampleCropAndResize() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 1, 2, 2, 1)
	box, of := ops.Const(g, []float32{0, 0, 1, 2}, 1, 4), ops.Const(g, []int32{0})
	size := ops.Const(g, []int32{2, 3})
	o := image.CropOpts{Method: "nearest", Extrapolation: -1}
	v, err := image.CropAndResize(x, box, of, size, o).Value()
	fmt.Println(v, err)
	// Output: float32[1,2,3,1]{1, 2, -1, 3, 4, -1} <nil>
}

// A square part of an image that has a fifth to a half of its area. The seed
// decides which; -1 stands for all channels.
func ExampleDistortedOpts() {
	g := eager.New()
	size := ops.Const(g, []int32{100, 100, 3})
	boxes, covered := ops.Const(g, []float32{}, 1, 0, 4), ops.Scalar[float32](g, 0.1)
	o := image.DistortedOpts{WholeImage: true, Areas: [2]float32{0.2, 0.5}, AspectRatios: [2]float32{1, 1}, MaxAttempts: 10}
	begin, extent, _ := image.SampleDistortedBoundingBoxV2(size, boxes, covered, o, ops.Seed(1))
	for _, y := range []tf.Output{begin, extent} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[3]{37, 10, 0} <nil>
	// int32[3]{53, 53, -1} <nil>
}

// The part around a place, given in pixels from the corner, with zeros beyond
// the edge.
func ExampleExtractGlimpse() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 3, 3, 1)
	size, center := ops.Const(g, []int32{2, 2}), ops.Const(g, []float32{0, 0}, 1, 2)
	for _, o := range []image.GlimpseOpts{{Noise: "zero"}, {FromCorner: true, InPixels: true, Noise: "zero"}} {
		v, err := image.ExtractGlimpse(x, size, center, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,2,2,1]{1, 2, 4, 5} <nil>
	// float32[1,2,2,1]{0, 0, 0, 1} <nil>
}

// The second box overlaps the first and is left out; the result is padded.
func ExampleNonMaxSuppressionV4() {
	g := eager.New()
	boxes := ops.Const(g, []float32{0, 0, 1, 1, 0, 0, 1, 0.9, 2, 2, 3, 3}, 3, 4)
	scores, size := ops.Const(g, []float32{0.9, 0.8, 0.7}), ops.Scalar[int32](g, 3)
	half, zero := ops.Scalar[float32](g, 0.5), ops.Scalar[float32](g, 0)
	for _, pad := range []bool{false, true} {
		indices, _ := image.NonMaxSuppressionV4(boxes, scores, size, half, zero, image.PadOpts{ToMaxOutputSize: pad})
		v, err := indices.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2]{0, 2} <nil>
	// int32[3]{0, 2, 0} <nil>
}

// An image is moved to the left by two pixels: what comes from beyond the
// edge depends on the mode.
func ExampleImageProjectiveTransformV2() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 1, 1, 4, 1)
	move := ops.Const(g, []float32{1, 0, 2, 0, 1, 0, 0, 0}, 1, 8)
	size := ops.Const(g, []int32{1, 4})
	for _, mode := range []string{"CONSTANT", "REFLECT", "WRAP", "NEAREST"} {
		v, err := image.ImageProjectiveTransformV2(x, move, size, "NEAREST", image.ProjectiveOpts{FillMode: mode}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1,4,1]{3, 4, 0, 0} <nil>
	// float32[1,1,4,1]{3, 4, 4, 3} <nil>
	// float32[1,1,4,1]{3, 4, 1, 2} <nil>
	// float32[1,1,4,1]{3, 4, 4, 4} <nil>
}

// Where pixels of two sizes meet: at the first corners, at all corners, or
// where their areas do.
func ExampleResizeBilinear() {
	g := eager.New()
	x, size := ops.Const(g, []float32{0, 6}, 1, 1, 2, 1), ops.Const(g, []int32{1, 4})
	for _, o := range []image.ResizeOpts{{}, {AlignCorners: true}, {HalfPixelCenters: true}} {
		v, err := image.ResizeBilinear(x, size, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1,4,1]{0, 3, 6, 6} <nil>
	// float32[1,1,4,1]{0, 2, 4, 6} <nil>
	// float32[1,1,4,1]{0, 1.5, 4.5, 6} <nil>
}

// An image is scaled to half of its width. A Narrow curve sees only the pixels
// nearest to each place, as if the image did not become smaller.
func ExampleScaleAndTranslate() {
	g := eager.New()
	x, size := ops.Const(g, []float32{0, 4, 8, 4}, 1, 1, 4, 1), ops.Const(g, []int32{1, 2})
	scale, move := ops.Const(g, []float32{1, 0.5}), ops.Const(g, []float32{0, 0})
	for _, o := range []image.ScaleOpts{{Kernel: "triangle"}, {Kernel: "triangle", Narrow: true}} {
		v, err := image.ScaleAndTranslate(x, size, scale, move, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1,2,1]{2.857143, 5.7142863} <nil>
	// float32[1,1,2,1]{2, 6} <nil>
}
