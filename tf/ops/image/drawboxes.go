package image

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {float, half} = DT_FLOAT"
	kernels := core.ByType("T", forTypes(computed(drawBoxes), tf.Float32, tf.Float16))
	core.Register(core.OpDef{
		Name: "DrawBoundingBoxes", In: "images: T; boxes: float", Out: "output: T", Attrs: types,
		Shape: drawShape, NoGrad: core.NotDifferentiable, Kernels: kernels,
	})
	core.Register(core.OpDef{
		Name: "DrawBoundingBoxesV2", In: "images: T; boxes: float; colors: float", Out: "output: T", Attrs: types,
		Shape: atLeast3, NoGrad: core.NoGradientDefined, Kernels: kernels,
	})
}

// DrawBoundingBoxes draws boxes [batch n 4], each given by its upper, left,
// lower and right edge from 0 to 1, on images of 1, 3 or 4 channels, in ten
// colors in turn. images are [batch height width channels] of float32 or
// float16, and the result has their shape and type; boxes are float32. A box
// whose edges are exchanged, or that is outside of its image, is not drawn.
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func DrawBoundingBoxes(images, boxes tf.Output, opts ...tf.Option) tf.Output {
	return apply("DrawBoundingBoxes", opts, images, boxes)
}

// DrawBoundingBoxesV2 is DrawBoundingBoxes with the colors, a matrix. colors
// are float32 [m k], where k is at least the number of channels; box i has
// color i modulo m, and without colors those of DrawBoundingBoxes are used.
// Other shapes are refused with INVALID_ARGUMENT in the step.
func DrawBoundingBoxesV2(images, boxes, colors tf.Output, opts ...tf.Option) tf.Output {
	return apply("DrawBoundingBoxesV2", opts, images, boxes, colors)
}

var errDepth = invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")

func hasDepth(n int) bool { return n == 1 || n == 3 || n == 4 }

func drawShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	if s[3] >= 0 && !hasDepth(s[3]) {
		return errDepth
	}
	boxes, err := c.Rank(1, 3)
	if err == nil && boxes[2] >= 0 && boxes[2] != 4 {
		err = invalid("Dimension must be 4 but is %d", boxes[2])
	}
	c.Set(0, s)
	return err
}

// atLeast3 keeps the shape.
func atLeast3(c *core.Infer) error {
	if s := c.In(0); s != nil && len(s) < 3 {
		return invalid("Shape must be at least rank 3 but is rank %d", len(s))
	}
	c.Set(0, c.In(0))
	return nil
}

// boxColors are yellow, blue, red, lime, purple, olive, maroon, navy, aqua and
// fuchsia.
var boxColors = [][]float32{
	{1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
	{0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1},
}

// colorsOf returns the colors to draw with; on gray images they are white.
func colorsOf(c *core.OpContext, depth int) ([][]float32, error) {
	var out [][]float32
	if c.Inputs() == 3 {
		t := c.Input(2)
		s := t.Shape()
		switch {
		case len(s) != 2:
			return nil, invalid("colors must be a 2-D matrix%s", s.String())
		case s[1] < depth:
			return nil, invalid("colors must have equal or more channels than the image provided: %s", s.String())
		}
		v := core.Data[float32](t)
		for i := 0; i < len(v); i += s[1] {
			out = append(out, v[i:i+depth])
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, color := range boxColors {
		if depth == 1 {
			color = []float32{1}
		}
		out = append(out, color[:depth])
	}
	return out, nil
}

// checkDraw checks the shapes.
func checkDraw(s, boxes tf.Shape) error {
	switch {
	case len(s) != 4:
		return invalid("The rank of the images should be 4")
	case len(boxes) != 3:
		return invalid("The rank of the boxes tensor should be 3")
	case s[0] != boxes[0]:
		return invalid("The batch sizes should be the same")
	case !hasDepth(s[3]):
		return errDepth
	case boxes[2] != 4:
		return invalid("The size of the third dimension of the box must be 4. Received: %d", boxes[2])
	}
	return nil
}

func drawBoxes(c *core.OpContext) error {
	in, boxes := c.Input(0), c.Input(1)
	s := in.Shape()
	if err := checkDraw(s, boxes.Shape()); err != nil {
		return err
	}
	colors, err := colorsOf(c, s[3])
	if err != nil {
		return err
	}
	y, store, err := output(c, 0, in.DType(), s)
	if err != nil {
		return err
	}
	copyPixels(c, y, in)
	n, size := boxes.Dim(1), s[1]*s[2]*s[3]
	for i := 0; i < boxes.Len() && size > 0; i += 4 {
		image, k := i/4/n, i/4%n
		canvas := canvas{y[image*size:][:size], s[1], s[2], colors[k%len(colors)]}
		canvas.draw(core.Data[float32](boxes)[i:][:4])
	}
	store()
	return nil
}

// copyPixels sets y to images of floats.
func copyPixels(c *core.OpContext, y []float32, in *core.Tensor) {
	if in.DType() != tf.Float32 {
		elementwise.Cast(y, elementsOf[in.DType()](in))
		return
	}
	x := core.Data[float32](in)
	c.ParallelFor(len(y), grain, func(lo, hi int) { copy(y[lo:hi], x[lo:hi]) })
}

// A canvas is an image that is drawn on in a color.
type canvas struct {
	pixels        []float32
	height, width int
	color         []float32
}

// edge returns the pixel that an edge is at, of n, at most one beyond them.
func edge(at float32, n int) int {
	v := at * float32(n-1)
	if !(v > -1) || v >= 1<<63 { // not a number, or none that an integer holds, too
		return -1
	}
	return int(min(v, float32(n)))
}

// draw draws the edges of a box that are inside of the image.
func (c *canvas) draw(box []float32) {
	top, left := edge(box[0], c.height), edge(box[1], c.width)
	bottom, right := edge(box[2], c.height), edge(box[3], c.width)
	if inverted(box, c.height, c.width) || top >= c.height || bottom < 0 || left >= c.width || right < 0 {
		return
	}
	for x := max(left, 0); x <= min(right, c.width-1); x++ {
		c.set(top, x)
		c.set(bottom, x)
	}
	for y := max(top, 0); y <= min(bottom, c.height-1); y++ {
		c.set(y, left)
		c.set(y, right)
	}
}

// inverted reports whether the first edges of a box come after the last, in
// whole pixels.
func inverted(box []float32, height, width int) bool {
	h, w := float32(height-1), float32(width-1)
	return beyond(box[0]*h, box[2]*h) || beyond(box[1]*w, box[3]*w)
}

// beyond reports whether a comes after b in whole pixels. Where no integer holds a
// position it is the least, as a cast makes it.
func beyond(a, b float32) bool {
	whole := func(v float32) float32 {
		if !(v >= -1<<63 && v < 1<<63) {
			return -1 << 63
		}
		return trunc(v)
	}
	return whole(a) > whole(b)
}

// set colors a pixel, if there is one.
func (c *canvas) set(y, x int) {
	if y >= 0 && y < c.height && x >= 0 && x < c.width {
		copy(c.pixels[(y*c.width+x)*len(c.color):], c.color)
	}
}
