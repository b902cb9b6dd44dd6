package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An adder adds b·(a·x) to y in the type of an image. It rounds as TensorFlow does: each
// product to float32, the second to the type of the image, and the sum.
type adder[T float32 | float64] func(y []T, a, b float32, x []float32)

// A memory makes output i and returns memory to compute it in, and what stores it.
type memory[T float32 | float64] func(c *core.OpContext, i int, d tf.DType, s tf.Shape) ([]T, func(), error)

// inDouble is the memory of float64.
func inDouble(c *core.OpContext, i int, d tf.DType, s tf.Shape) ([]float64, func(), error) {
	t, err := c.Alloc(i, d, s)
	if err != nil {
		return nil, nil, err
	}
	return core.Data[float64](t), func() {}, nil
}

// cropImageKernel makes the kernel for a type of images. The pixels of crops come one
// after the other, so that sums have the same order whatever the number of threads.
func cropImageKernel[T float32 | float64](add adder[T], out memory[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		method := n.Str("method")
		return core.Compute(func(c *core.OpContext) error {
			v, err := cropBack(c, method)
			if err != nil {
				return err
			}
			v.half = n.Type("T") == tf.Float16
			dx, store, err := out(c, 0, n.Type("T"), v.image)
			if err != nil {
				return err
			}
			clear(dx)
			dy, depth := core.Data[float32](c.Input(0)), v.image[3]
			v.eachPixel(0, v.out[0], func(p *cut) { giveBack(v, add, dx, dy[p.to:][:depth], p) })
			store()
			return nil
		}), nil
	}
}

// cropBack checks the inputs of the gradient of images.
func cropBack(c *core.OpContext, method string) (*crop, error) {
	g := c.Input(0).Shape()
	if err := checkGrads(g); err != nil {
		return nil, err
	}
	boxes, err := countBoxes(c.Input(1), c.Input(2))
	if err != nil {
		return nil, err
	}
	if g[0] != boxes {
		return nil, errCropBoxes
	}
	s, err := askedImage(c.Input(3))
	if err != nil {
		return nil, err
	}
	if g[3] != s[3] {
		return nil, invalid("image_size and grads are incompatible")
	}
	if s[0] < 0 {
		return nil, invalid("Expected a non-negative size, got %d", s[0])
	}
	return cropOf(c.Input(1), c.Input(2), s, g, method)
}

// askedImage reads the shape that an image is to have.
func askedImage(t *core.Tensor) (tf.Shape, error) {
	switch {
	case t.Rank() != 1:
		return nil, invalid("image_size must be 1-D%s", t.Shape().String())
	case t.Len() != 4:
		return nil, invalid("image_size must have 4 elements%s", t.Shape().String())
	}
	dims, err := t.Ints()
	if err != nil {
		return nil, err
	}
	s := append(tf.Shape{}, dims...)
	if s[1] <= 0 || s[2] <= 0 {
		return nil, invalid("image dimensions must be positive")
	}
	return s, nil
}

// giveBack adds the gradient of a pixel of a crop to those it is made of.
func giveBack[T float32 | float64](v *crop, add adder[T], dx []T, dy []float32, p *cut) {
	if p.outside {
		return
	}
	at, down, right := v.corners(p)
	part := func(corner int) []T { return dx[at[corner]:][:len(dy)] }
	if v.nearest {
		add(part(0), 1, 1, dy)
		return
	}
	if len(dy) <= fewChannels && !v.half {
		addFew(part(0), part(1), part(2), part(3), down, right, dy)
		return
	}
	add(part(0), 1-down, 1-right, dy)
	add(part(1), 1-down, right, dy)
	add(part(2), down, 1-right, dy)
	add(part(3), down, right, dy)
}

// fewChannels is up to where a vector loop takes longer to begin than to run.
const fewChannels = 8

// addFew adds the gradients of few channels, where calls of an adder would take longer
// than what they add, to the pixels at the top left and right and at the bottom.
func addFew[T float32 | float64](tl, tr, bl, br []T, down, right float32, dy []float32) {
	tl, tr, bl, br = tl[:len(dy)], tr[:len(dy)], bl[:len(dy)], br[:len(dy)]
	for i, g := range dy {
		top, bottom := float32((1-down)*g), float32(down*g)
		tl[i] += T(float32((1 - right) * top))
		tr[i] += T(float32(right * top))
		bl[i] += T(float32((1 - right) * bottom))
		br[i] += T(float32(right * bottom))
	}
}

func addFloat(y []float32, a, b float32, x []float32) {
	if len(x) > fewChannels {
		descent.AddScaled(y, a, b, x)
		return
	}
	for i, x := range x {
		y[i] += float32(b * float32(a*x))
	}
}

func addDouble(y []float64, a, b float32, x []float32) {
	for i, x := range x {
		y[i] += float64(b * float32(a*x))
	}
}

// addHalf adds float32 numbers that are rounded to those that float16 has.
func addHalf(y []float32, a, b float32, x []float32) {
	y = y[:len(x)]
	for i, x := range x {
		p := math.Float32bits(b * float32(a*x))
		if halfIsNormal(p) {
			p = cutToHalf(p)
		} else {
			p = roundToHalf(p)
		}
		sum := math.Float32bits(y[i] + math.Float32frombits(p))
		if halfIsNormal(sum) {
			sum = cutToHalf(sum)
		} else {
			sum = roundToHalf(sum)
		}
		y[i] = math.Float32frombits(sum)
	}
}

// halfIsNormal reports whether the float32 of the given bits is in the range of normal
// float16 numbers, and remains so when it is rounded up.
func halfIsNormal(b uint32) bool {
	const least, most = 0x38800000, 0x47000000 // 2^-14 and 2^15
	return b&0x7f800000-least < most-least
}

// cutToHalf rounds a number for which halfIsNormal to the nearest float16, ties to even.
func cutToHalf(b uint32) uint32 { return (b + 0xfff + b>>13&1) &^ 0x1fff }

// roundToHalf is cutToHalf for all numbers.
func roundToHalf(b uint32) uint32 {
	return math.Float32bits(numeric.HalfFromFloat32(math.Float32frombits(b)).Float32())
}

func cropBoxes(c *core.OpContext) error {
	v, err := cropBoxesBack(c)
	if err != nil {
		return err
	}
	d, store, err := output(c, 0, tf.Float32, tf.Shape{v.out[0], 4})
	if err != nil {
		return err
	}
	clear(d)
	x, dy := inFloat32(c, c.Input(1)), core.Data[float32](c.Input(0))
	c.ParallelFor(v.out[0], v.boxGrain(), func(lo, hi int) {
		v.eachPixel(lo, hi, func(p *cut) { v.moveBox(d[4*p.box:][:4], x, dy[p.to:][:v.out[3]], p) })
	})
	store()
	return nil
}

// cropBoxesBack checks the inputs of the gradient of boxes.
func cropBoxesBack(c *core.OpContext) (*crop, error) {
	g, s := c.Input(0).Shape(), c.Input(1).Shape()
	if err := checkGrads(g); err != nil {
		return nil, err
	}
	if err := checkImage(s); err != nil {
		return nil, err
	}
	if g[3] != s[3] {
		return nil, invalid("image, grads depth differ")
	}
	boxes, err := countBoxes(c.Input(2), c.Input(3))
	if err != nil {
		return nil, err
	}
	if g[0] != boxes {
		return nil, errCropBoxes
	}
	v, err := cropOf(c.Input(2), c.Input(3), s, g, "bilinear")
	if err == nil {
		v.ofBoxes = true
	}
	return v, err
}

// moveBox adds to the gradient of a box what a pixel of its crop says of it, channel by
// channel: sums in TensorFlow have this order.
func (v *crop) moveBox(d, x, dy []float32, p *cut) {
	if p.outside {
		return
	}
	at, down, right := v.corners(p)
	rows, cols := pullOf(p.y, v.out[1], v.image[1]), pullOf(p.x, v.out[2], v.image[2])
	y1, x1, y2, x2 := d[0], d[1], d[2], d[3]
	tl, tr, bl, br := x[at[0]:][:len(dy)], x[at[1]:][:len(dy)], x[at[2]:][:len(dy)], x[at[3]:][:len(dy)]
	for ch, g := range dy {
		byY := g * (float32((1-right)*(bl[ch]-tl[ch])) + float32(right*(br[ch]-tr[ch])))
		byX := g * (float32((1-down)*(tr[ch]-tl[ch])) + float32(down*(br[ch]-bl[ch])))
		y1, y2 = rows.move(y1, y2, byY)
		x1, x2 = cols.move(x1, x2, byX)
	}
	d[0], d[1], d[2], d[3] = y1, x1, y2, x2
}

// A pull says how far the edges of a box move a pixel of its crop. If that is the only
// one along its dimension, each moves it by half, which TensorFlow computes in double
// precision.
type pull struct {
	first, last float32
	half        float64
}

// pullOf returns the pull on pixel i of n in an image of size pixels.
func pullOf(i, n, size int) pull {
	span := float32(size - 1)
	if n <= 1 {
		return pull{half: float64(size - 1)}
	}
	last := float32(float32(i) * (span / float32(n-1)))
	return pull{first: span - last, last: last, half: -1}
}

// move adds to the gradients of the edges what the position's gradient is to them.
func (u pull) move(first, last, by float32) (float32, float32) {
	if u.half < 0 {
		return first + float32(by*u.first), last + float32(by*u.last)
	}
	d := float64(float64(by) * 0.5 * u.half)
	return float32(float64(first) + d), float32(float64(last) + d)
}

// cropGrad: of images of other types than floats the boxes alone have
// gradients, and those only for bilinear crops.
func cropGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	image, boxes, of := op.Input(0), op.Input(1), op.Input(2)
	var dImage tf.Output
	switch d := image.DType().Base(); d {
	case tf.Float16, tf.Float32, tf.Float64:
		o := []tf.Option{tf.Attr("T", d), tf.Attr("method", op.Str("method"))}
		dImage = apply("CropAndResizeGradImage", o, dy[0], boxes, of, ops.Shape(image))
	}
	return tf.Grads(dImage, apply("CropAndResizeGradBoxes", nil, dy[0], image, boxes, of), tf.Output{}, tf.Output{})
}
