package image_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

func init() {
	addResize()
	addResizeGrads()
}

// corners are the ways in which pixels of two sizes may meet.
var corners = []struct {
	name string
	opts tf.Option
}{
	{"", image.ResizeOpts{}},
	{"aligned", image.ResizeOpts{AlignCorners: true}},
	{"half centers", image.ResizeOpts{HalfPixelCenters: true}},
}

// rounded is why numeric gradients are too rough.
const rounded = "the result is float32"

func addResize() {
	x := within(-9, 9, 2, 4, 5, 3)
	for _, op := range []string{"ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"} {
		rough := rounded
		if op == "ResizeNearestNeighbor" {
			rough = ""
		}
		for _, c := range corners {
			if op == "ResizeArea" && c.name == "half centers" {
				continue
			}
			s := sample{Op: op, Name: c.name, In: tensors{x, i32(7, 3)}, F: applied(op, c.opts), Tol: 1e-5, Types: []tf.DType{}, Rough: rough}
			if c.name == "" {
				s.Types = nil
			}
			addSamples(s, sample{Op: op, Name: c.name + " to one", In: tensors{x, i32(1, 1)}, F: applied(op, c.opts), Tol: 1e-5, Rough: rough})
		}
		addSamples(
			sample{Op: op, Name: "one pixel to many", In: tensors{within(-9, 9, 2, 1, 1, 3), i32(3, 4)}, F: applied(op, image.ResizeOpts{AlignCorners: true}), Tol: 1e-5, Rough: rough},
			sample{Op: op, Name: "nothing", In: tensors{seq(0, 4, 5, 3), i32(2, 2)}, F: applied(op)},
			failing(op, "flat", applied(op), seq(4, 5, 3), i32(7, 3)),
			failing(op, "size", applied(op), x, i32(7, 3, 1)),
			failing(op, "scalar size", applied(op), x, scalar(int32(1))),
			failing(op, "no pixels asked for", applied(op), x, i32(0, 3)),
			failing(op, "no pixels", applied(op), seq(1, 0, 5, 3), i32(7, 3)))
	}
	addSamples(
		sample{Op: "ResizeBilinear", Name: "function", In: tensors{x, i32(4, 5)}, F: binary(image.ResizeBilinear), Rough: rounded},
		sample{Op: "ResizeBicubic", Name: "function", In: tensors{x, i32(8, 9)}, F: binary(image.ResizeBicubic), Rough: rounded, Tol: 1e-5},
		sample{Op: "ResizeArea", Name: "function", In: tensors{x, i32(2, 2)}, F: binary(image.ResizeArea), Rough: rounded, Tol: 1e-5},
		sample{Op: "ResizeNearestNeighbor", Name: "function", In: tensors{x, i32(9, 2)}, F: binary(image.ResizeNearestNeighbor)})
}

func addResizeGrads() {
	g, x := within(-1, 1, 2, 7, 3, 3), seq(2, 4, 5, 3)
	for _, op := range []string{"ResizeBilinearGrad", "ResizeBicubicGrad"} {
		for _, c := range corners {
			addSamples(sample{Op: op, Name: c.name, In: tensors{g, x}, F: applied(op, c.opts), Types: []tf.DType{}, Tol: 1e-5})
		}
		addSamples(
			failing(op, "flat", applied(op), g, seq(4, 5, 3)),
			failing(op, "flat gradient", applied(op), seq(7, 3, 3), x))
	}
	for _, c := range corners {
		addSamples(sample{Op: "ResizeNearestNeighborGrad", Name: c.name, In: tensors{g, i32(4, 5)}, F: applied("ResizeNearestNeighborGrad", c.opts), Tol: 1e-5,
			Types: []tf.DType{tf.Float64, tf.Int32, tf.Uint8}})
	}
	addSamples(failing("ResizeNearestNeighborGrad", "flat", applied("ResizeNearestNeighborGrad"), seq(7, 3, 3), i32(4, 5)))
}
