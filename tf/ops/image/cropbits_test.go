package image_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	for _, depth := range []int{3, 11} { // 11 channels are added with vectors
		addCropBits(depth)
	}
}

// bitsOf applies an op and reinterprets the result as integers: golden values of
// integers have to be equal, to the last bit.
func bitsOf(op string, d tf.DType, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		y := applied(op, opts...)(g, in)
		return []tf.Output{ops.Bitcast(y[0], d)}
	}
}

// addCropBits adds crops that overlap, upside down and beyond the edges, of one pixel
// along a dimension too. They are small, so that TensorFlow adds them in one thread.
func addCropBits(depth int) {
	boxes, of := within(-0.2, 1.3, 5, 4), i32(1, 0, 1, 1, 0)
	size := i32(2, 5, 4, int32(depth))
	bits := map[tf.DType]tf.DType{tf.Float16: tf.Int16, tf.Float32: tf.Int32, tf.Float64: tf.Int64}
	for _, crop := range [][]int{{4, 3}, {1, 3}, {3, 1}} {
		dy := within(-1, 1, 5, crop[0], crop[1], depth)
		add := func(op, name string, d tf.DType, in []*core.Tensor, opts ...tf.Option) {
			name = fmt.Sprintf("bits of %s %v by %v by %d", name, crop[0], crop[1], depth)
			addSamples(sample{Op: op, Name: name, In: in, F: bitsOf(op, d, opts...), Types: optest.OnlyOwn, Rough: "bits have no gradient"})
		}
		for d, integer := range bits {
			for _, method := range []string{"bilinear", "nearest"} {
				add("CropAndResizeGradImage", method+" "+d.String(), integer, tensors{dy, boxes, of, size}, tf.Attr("T", d), tf.Attr("method", method))
			}
			image := optest.Convert(within(-9, 9, 2, 5, 4, depth), d)
			add("CropAndResizeGradBoxes", d.String(), tf.Int32, tensors{dy, image, boxes, of})
			add("CropAndResize", d.String(), tf.Int32, tensors{image, boxes, of, i32(int32(crop[0]), int32(crop[1]))})
		}
	}
}
