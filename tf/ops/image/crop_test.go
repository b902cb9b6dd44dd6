package image_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/image"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addCrops()
	addCropGrads()
	addCropTypes()
	addPatches()
}

// boxes shows parts of images, upside down and beyond the edges too.
func boxes() *core.Tensor {
	return arr(tf.Shape{3, 4}, 0.12, 0.2, 0.81, float32(0.93), 0.9, 0.1, 0.2, 0.7, -0.3, 0.4, 0.6, 1.4)
}

func addCrops() {
	const op = "CropAndResize"
	x, b, of, size := within(-9, 9, 2, 5, 6, 2), boxes(), i32(1, 0, 1), i32(3, 4)
	nearest := image.CropOpts{Method: "nearest", Extrapolation: 7}
	addSamples(
		sample{Op: op, In: tensors{x, b, of, size}, F: applied(op), Tol: 1e-5, Types: []tf.DType{}},
		sample{Op: op, Name: "nearest", In: tensors{x, b, of, size}, F: applied(op, nearest), Types: []tf.DType{}, Rough: "TensorFlow has it for bilinear crops"},
		sample{Op: op, Name: "one pixel", In: tensors{x, b, of, i32(1, 1)}, F: applied(op, image.CropOpts{Extrapolation: -3}), Tol: 1e-5},
		sample{Op: op, Name: "function", In: tensors{x, b, of, size}, Tol: 1e-5, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{image.CropAndResize(in[0], in[1], in[2], in[3])}
		}},
		sample{Op: op, Name: "no boxes", In: tensors{x, seq(0, 4), i32(), size}, F: applied(op), Rough: "there is nothing"},
		failing(op, "flat", applied(op), seq(5, 6, 2), b, of, size),
		failing(op, "box", applied(op), x, seq(3, 3), of, size),
		failing(op, "flat box", applied(op), x, seq(4), of, size),
		failing(op, "image", applied(op), x, b, i32(1, 0, 2), size),
		failing(op, "images", applied(op), x, b, i32(1, 0), size),
		failing(op, "size", applied(op), x, b, of, i32(3)),
		failing(op, "no pixels", applied(op), x, b, of, i32(3, 0)),
		failing(op, "endless box", applied(op), x, arr(tf.Shape{1, 4}, float32(math.Inf(1)), 0, 1, 1), i32(1), size),
		failing(op, "huge size", applied(op), x, b, of, i32(2065374891, 2145309325)))
}

func addCropGrads() {
	const onImage, onBoxes = "CropAndResizeGradImage", "CropAndResizeGradBoxes"
	x, g, b, of := within(-9, 9, 2, 5, 6, 2), within(-1, 1, 3, 3, 4, 2), boxes(), i32(1, 0, 1)
	sizes := i32(2, 5, 6, 2)
	addSamples(
		sample{Op: onImage, In: tensors{g, b, of, sizes}, F: applied(onImage, tf.Attr("T", tf.Float32)), Types: []tf.DType{}, Tol: 1e-5},
		sample{Op: onImage, Name: "nearest", In: tensors{g, b, of, sizes}, F: applied(onImage, tf.Attr("T", tf.Float64), tf.Attr("method", "nearest"))},
		sample{Op: onImage, Name: "many channels", In: tensors{within(-1, 1, 3, 3, 4, 9), b, of, i32(2, 5, 6, 9)}, F: applied(onImage, tf.Attr("T", tf.Float32)), Types: []tf.DType{}, Tol: 1e-5},
		sample{Op: onBoxes, In: tensors{g, x, b, of}, F: applied(onBoxes), Types: []tf.DType{}, Tol: 1e-5},
		failing(onImage, "sizes", applied(onImage, tf.Attr("T", tf.Float32)), g, b, of, i32(2, 5, 6)),
		failing(onImage, "boxes", applied(onImage, tf.Attr("T", tf.Float32)), within(-1, 1, 2, 3, 4, 2), b, of, sizes),
		failing(onBoxes, "depth", applied(onBoxes), within(-1, 1, 3, 3, 4, 1), x, b, of))
}

// addCropTypes has images of the other types: the boxes are always float32.
func addCropTypes() {
	x, g, b, of, size := within(0, 90, 2, 5, 6, 2), within(-1, 1, 3, 3, 4, 2), boxes(), i32(1, 0, 1), i32(3, 4)
	for _, d := range []tf.DType{tf.Uint8, tf.Uint16, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Float16, tf.Float64} {
		name, y := "of "+d.String(), optest.Convert(x, d)
		addSamples(
			sample{Op: "CropAndResize", Name: name, In: tensors{y, b, of, size}, F: applied("CropAndResize"), Tol: 1e-5, Types: []tf.DType{}, Rough: "the boxes are float32"},
			sample{Op: "CropAndResizeGradBoxes", Name: name, In: tensors{g, y, b, of}, F: applied("CropAndResizeGradBoxes"), Types: []tf.DType{}, Tol: 1e-5})
	}
	for _, d := range []tf.DType{tf.Float16, tf.Float64} {
		const op = "CropAndResizeGradImage"
		s := sample{Op: op, Name: "in " + d.String(), In: tensors{g, b, of, i32(2, 5, 6, 2)}, F: applied(op, tf.Attr("T", d)), Types: []tf.DType{}, Tol: 1e-5}
		if d == tf.Float16 {
			s.Tol = 0.01 // TensorFlow rounds after each addition
		}
		addSamples(s)
	}
}

func addPatches() {
	const op = "ExtractImagePatches"
	x := within(-9, 9, 2, 5, 6, 2)
	f := func(k, strides, rates []int, padding string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{image.ExtractImagePatches(in[0], k, strides, rates, padding)}
		}
	}
	one, two := []int{1, 1, 1, 1}, []int{1, 2, 2, 1}
	addSamples(
		sample{Op: op, In: tensors{x}, F: f([]int{1, 3, 2, 1}, one, one, "SAME")},
		sample{Op: op, Name: "apart", In: tensors{x}, F: f(two, two, two, "VALID")},
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 5, 6, 2)}, F: f(two, two, one, "VALID"), Rough: "there is nothing"},
		failing(op, "flat", f(two, two, one, "VALID"), seq(5, 6, 2)))
}
