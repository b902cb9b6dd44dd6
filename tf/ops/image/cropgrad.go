package image

import (
	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func cropImageKernel(n *core.Node) (core.Kernel, error) {
	method := n.Str("method")
	return core.Compute(func(c *core.OpContext) error {
		grads, sizes := c.Input(0), c.Input(3)
		switch {
		case sizes.Rank() != 1:
			return invalid("image_size must be 1-D%s", sizes.Shape().String())
		case sizes.Len() != 4:
			return invalid("image_size must have 4 elements%s", sizes.Shape().String())
		}
		dims, err := sizes.Ints()
		if err != nil {
			return err
		}
		s := append(tf.Shape{}, dims...)
		if s[1] <= 0 || s[2] <= 0 || s[0] < 0 || s[3] < 0 {
			return invalid("image dimensions must be positive")
		}
		g := grads.Shape()
		if len(g) != 4 {
			return invalid("grads image must be 4-D%s", g.String())
		}
		if g[3] != s[3] {
			return invalid("image_size and grads are incompatible")
		}
		v, err := cropOf(c.Input(1), c.Input(2), s, g, method)
		if err != nil {
			return err
		}
		if err := checkGrads(g, v.out[0]); err != nil {
			return err
		}
		dx, store, err := output(c, 0, n.Type("T"), s)
		if err != nil {
			return err
		}
		clear(dx)
		dy := core.Data[float32](grads)
		v.eachPixel(0, v.out[0], func(p *cut) { v.giveBack(dx, dy[p.to:][:s[3]], p) })
		store()
		return nil
	}), nil
}

// giveBack adds the gradient of a pixel of a crop to those it is made of.
func (v *crop) giveBack(dx, dy []float32, p *cut) {
	if p.outside {
		return
	}
	at, down, right := v.corners(p)
	weight := [4]float32{(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right}
	for k, from := range at {
		addScaled(dx[from:][:len(dy)], weight[k], dy)
	}
}

// fewChannels is up to where a vector loop takes longer to begin than to run.
const fewChannels = 8

func addScaled(y []float32, a float32, x []float32) {
	if len(x) > fewChannels {
		descent.Axpy(y, a, x)
		return
	}
	for i, x := range x {
		y[i] += a * x
	}
}

func cropBoxes(c *core.OpContext) error {
	grads, image := c.Input(0), c.Input(1)
	g, s := grads.Shape(), image.Shape()
	if err := checkImage(s); err != nil {
		return err
	}
	if len(g) != 4 {
		return invalid("grads image must be 4-D%s", g.String())
	}
	if g[3] != s[3] {
		return invalid("image, grads depth differ")
	}
	v, err := cropOf(c.Input(2), c.Input(3), s, g, "bilinear")
	if err != nil {
		return err
	}
	if err := checkGrads(g, v.out[0]); err != nil {
		return err
	}
	d, store, err := output(c, 0, tf.Float32, tf.Shape{v.out[0], 4})
	if err != nil {
		return err
	}
	clear(d)
	x, dy := inFloat32(image), core.Data[float32](grads)
	c.ParallelFor(v.out[0], v.boxGrain(), func(lo, hi int) {
		v.eachPixel(lo, hi, func(p *cut) { v.moveBox(d[4*p.box:][:4], x, dy[p.to:][:s[3]], p) })
	})
	store()
	return nil
}

// moveBox adds to the gradient of a box what a pixel of its crop says of it.
func (v *crop) moveBox(d, x, dy []float32, p *cut) {
	if p.outside {
		return
	}
	at, down, right := v.corners(p)
	var byY, byX float32
	for ch, g := range dy {
		tl, tr, bl, br := x[at[0]+ch], x[at[1]+ch], x[at[2]+ch], x[at[3]+ch]
		byY += g * ((1-right)*(bl-tl) + right*(br-tr))
		byX += g * ((1-down)*(tr-tl) + down*(br-bl))
	}
	v.moveEdges(d, 0, byY, p.y, v.out[1], v.image[1])
	v.moveEdges(d, 1, byX, p.x, v.out[2], v.image[2])
}

// moveEdges shares the gradient of the position of pixel i of n among the two
// edges of a box, first and first+2, in an image of size pixels.
func (v *crop) moveEdges(d []float32, first int, by float32, i, n, size int) {
	span := float32(size - 1)
	if n <= 1 {
		d[first] += by * 0.5 * span
		d[first+2] += by * 0.5 * span
		return
	}
	ratio := span / float32(n-1)
	d[first] += by * (span - float32(i)*ratio)
	d[first+2] += by * (float32(i) * ratio)
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
