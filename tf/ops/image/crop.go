package image

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	boxInputs = "boxes: float; box_ind: int32"
	cropTypes = "uint8, uint16, int8, int16, int32, int64, half, float, double"
)

func init() {
	core.Register(core.OpDef{
		Name: "CropAndResize", In: "image: T; " + boxInputs + "; crop_size: int32", Out: "crops: float",
		Attrs: "T: {" + cropTypes + "}; method: {'bilinear', 'nearest'} = 'bilinear'; extrapolation_value: float = 0.0",
		Shape: cropShape, Expensive: true, Grad: tf.GradFunc(cropGrad), Kernels: core.ByType("T", forTypes(cropKernel, cropped()...)),
	})
	core.Register(core.OpDef{
		Name: "CropAndResizeGradImage", In: "grads: float; " + boxInputs + "; image_size: int32", Out: "output: T",
		Attrs: "T: {float, half, double}; method: {'bilinear', 'nearest'} = 'bilinear'",
		Shape: cropImageShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Float16: cropImageKernel(addHalf, output), tf.Float32: cropImageKernel(addFloat, output), tf.Float64: cropImageKernel(addDouble, inDouble),
		}),
	})
	core.Register(core.OpDef{
		Name: "CropAndResizeGradBoxes", In: "grads: float; image: T; " + boxInputs, Out: "output: float",
		Attrs: "T: {" + cropTypes + "}; method: {'bilinear'} = 'bilinear'",
		Shape: likeBoxes, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(computed(cropBoxes), cropped()...)),
	})
}

// cropped are the types that images to be cropped may have.
func cropped() []tf.DType {
	return []tf.DType{tf.Uint8, tf.Uint16, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Float16, tf.Float32, tf.Float64}
}

// CropOpts are the optional attributes of CropAndResize: "bilinear", the
// default, or "nearest", and the value of what lies outside of an image.
type CropOpts struct {
	Method        string
	Extrapolation float32
}

// Apply sets the attributes.
func (o CropOpts) Apply(s *tf.Spec) {
	if o.Method != "" {
		s.Set("method", o.Method)
	}
	s.Set("extrapolation_value", o.Extrapolation)
}

// CropAndResize returns the parts of images that boxes show, all of the given
// height and width. A box is [y1 x1 y2 x2], where 0 and 1 are the first and
// last pixel; boxInd says of which image. images are [batch height width
// channels] of uint8, uint16, int8 to int64, float16, float32 or float64,
// boxes float32 [n 4], boxInd int32 [n] and size an int32 vector of two
// positive elements; the result is float32 [n size[0] size[1] channels].
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step. A boxInd outside [0, batch) fails with
// OUT_OF_RANGE in the step, a box that is not finite and a size or image
// without pixels with INVALID_ARGUMENT. Its options are [CropOpts].
func CropAndResize(images, boxes, boxInd, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("CropAndResize", opts, images, boxes, boxInd, size)
}

func cropShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	boxes, err := c.Rank(1, 2)
	if err != nil {
		return err
	}
	of, err := c.Rank(2, 1)
	if err != nil {
		return err
	}
	if boxes[0] >= 0 && of[0] >= 0 && boxes[0] != of[0] {
		return invalid("Dimensions must be equal, but are %d and %d", boxes[0], of[0])
	}
	if boxes[1] >= 0 && boxes[1] != 4 {
		return invalid("Dimension must be 4 but is %d", boxes[1])
	}
	h, w, err := sizesAt(c, 3)
	if err == nil {
		c.Set(0, tf.Shape{boxes[0], h, w, s[3]})
	}
	return err
}

func cropImageShape(c *core.Infer) error {
	if _, err := c.Rank(3, 1); err != nil {
		return err
	}
	s := c.ConstShape(3)
	switch {
	case s == nil:
		s = tf.Shape{-1, -1, -1, -1}
	case len(s) != 4:
		return invalid("Shape must be rank 4 but is rank %d", len(s))
	}
	c.Set(0, s)
	return nil
}

func likeBoxes(c *core.Infer) error {
	c.Set(0, c.In(2))
	return nil
}

// A crop describes how boxes are cut out of images of shape image into crops
// of shape out.
type crop struct {
	image, out tf.Shape
	boxes      []float32
	of         []int32 // the image of each box
	nearest    bool
	half       bool // sums are rounded to float16
	ofBoxes    bool // the gradients of boxes are computed
}

// countBoxes checks the shapes of boxes and of what says which images they are of.
func countBoxes(boxes, of *core.Tensor) (int, error) {
	if boxes.Len() == 0 && of.Len() == 0 {
		return 0, nil
	}
	b := boxes.Shape()
	switch {
	case len(b) != 2:
		return 0, invalid("boxes must be 2-D%s", b.String())
	case b[1] != 4:
		return 0, invalid("boxes must have 4 columns")
	case of.Rank() != 1:
		return 0, invalid("box_index must be 1-D%s", of.Shape().String())
	case of.Len() != b[0]:
		return 0, invalid("box_index has incompatible shape")
	}
	return b[0], nil
}

// cropOf makes a crop of boxes that countBoxes has checked and of the images they are
// of, which it checks.
func cropOf(boxes, of *core.Tensor, image, out tf.Shape, method string) (*crop, error) {
	v := &crop{image: image, out: append(tf.Shape{of.Len()}, out[1:]...), boxes: core.Data[float32](boxes), of: core.Data[int32](of), nearest: method == "nearest"}
	for _, i := range v.of {
		if i < 0 || int(i) >= image[0] {
			return nil, tf.Errorf(tf.OutOfRange, "box_index has values outside [0, batch_size)")
		}
	}
	return v, nil
}

// checkImage checks the shape of images.
func checkImage(s tf.Shape) error {
	if len(s) != 4 {
		return invalid("input image must be 4-D%s", s.String())
	}
	if s[1] <= 0 || s[2] <= 0 {
		return invalid("image dimensions must be positive")
	}
	return nil
}

var errCropBoxes = invalid("boxes and grads have incompatible shape")

// checkGrads checks the shape of the gradient of crops.
func checkGrads(g tf.Shape) error {
	switch {
	case len(g) != 4:
		return invalid("grads image must be 4-D%s", g.String())
	case g[1] <= 0 || g[2] <= 0:
		return invalid("grads dimensions must be positive")
	}
	return nil
}

// A line is where the pixels of a crop are along a dimension of an image: n of them
// between the first and the last, at positions from first on in steps.
type line struct {
	first, step, middle float32
	n                   int
}

// line returns the line of n pixels from edge a to b of size pixels. TensorFlow
// rounds the steps of the gradients of boxes in another order.
func (v *crop) line(n, size int, a, b float32) line {
	span := float32(size - 1)
	l := line{n: n, first: a * span, middle: 0.5 * (a + b) * span}
	switch {
	case n <= 1:
	case v.ofBoxes:
		l.step = (b - a) * (span / float32(n-1))
	default:
		l.step = (b - a) * span / float32(n-1)
	}
	return l
}

// at returns the position of pixel i. The product is rounded before it is added.
func (l line) at(i int) float32 {
	if l.n <= 1 {
		return l.middle
	}
	return l.first + float32(float32(i)*l.step)
}

// A cut is a pixel of a crop: the rows and columns of the pixels around it.
type cut struct {
	box, to  int // the box and the first element of the pixel
	y, x     int // of the crop
	row, col between
	outside  bool
}

// between is a position along a dimension: the pixels before and after it, and
// how near it is to the latter.
type between struct {
	before, after int
	share         float32
	outside       bool
}

// eachPixel calls f for every pixel of boxes [lo, hi). The cut is valid until f
// returns.
func (v *crop) eachPixel(lo, hi int, f func(p *cut)) {
	h, w := v.out[1], v.out[2]
	p, cols := new(cut), core.Make[between](w)
	for b := lo; b < hi; b++ {
		down := v.lines(b, cols)
		for y := range h {
			row := v.place(down.at(y), v.image[1])
			for x, col := range cols {
				*p = cut{b, ((b*h+y)*w + x) * v.out[3], y, x, row, col, row.outside || col.outside}
				f(p)
			}
		}
	}
}

// lines returns where the rows of box b are, and sets cols to where its columns are.
func (v *crop) lines(b int, cols []between) (down line) {
	box := v.boxes[4*b : 4*b+4]
	across := v.line(len(cols), v.image[2], box[1], box[3])
	for x := range cols {
		cols[x] = v.place(across.at(x), v.image[2])
	}
	return v.line(v.out[1], v.image[1], box[0], box[2])
}

// place finds the pixels around a position among size.
func (v *crop) place(at float32, size int) between {
	if !(at >= 0 && at <= float32(size-1)) {
		return between{outside: true}
	}
	if v.nearest {
		i := int(math.Round(float64(at)))
		return between{before: i, after: i}
	}
	i := floor(at)
	return between{before: i, after: int(math.Ceil(float64(at))), share: at - float32(i)}
}

// corners returns the first elements of the pixels around p, and how near p is
// to the lower and right ones.
func (v *crop) corners(p *cut) (at [4]int, dy, dx float32) {
	width, depth := v.image[2], v.image[3]
	top := (int(v.of[p.box])*v.image[1] + p.row.before) * width
	bottom := top + (p.row.after-p.row.before)*width
	l, r := p.col.before, p.col.after
	return [4]int{(top + l) * depth, (top + r) * depth, (bottom + l) * depth, (bottom + r) * depth}, p.row.share, p.col.share
}

func (v *crop) boxGrain() int { return max(1, grain/max(1, v.out[1]*v.out[2]*v.out[3])) }

func cropKernel(n *core.Node) (core.Kernel, error) {
	method, beyond := n.Str("method"), n.Float("extrapolation_value")
	return core.Compute(func(c *core.OpContext) error {
		v, err := cropTo(c, method)
		if err != nil {
			return err
		}
		if !finite(v.boxes) {
			return invalid("Boxes contains at least one element that is not finite")
		}
		y, store, err := output(c, 0, tf.Float32, v.out)
		if err != nil {
			return err
		}
		x := inFloat32(c, c.Input(0))
		c.ParallelFor(v.out[0], v.boxGrain(), func(lo, hi int) {
			v.cutOut(lo, hi, y, x, beyond)
		})
		store()
		return nil
	}), nil
}

// cropTo checks the inputs of CropAndResize.
func cropTo(c *core.OpContext, method string) (*crop, error) {
	s, boxes, of := c.Input(0).Shape(), c.Input(1), c.Input(2)
	if err := checkImage(s); err != nil {
		return nil, err
	}
	switch {
	case boxes.Rank() != 2:
		return nil, invalid("boxes must be 2-D, got: %s", boxes.Shape().String())
	case of.Rank() != 1:
		return nil, invalid("box_indices must be rank 1 but is shape %s", of.Shape().String())
	}
	n, err := countBoxes(boxes, of)
	if err != nil {
		return nil, err
	}
	h, w, err := cropSize(c.Input(3))
	if err != nil {
		return nil, err
	}
	out := tf.Shape{n, h, w, s[3]}
	if err := checkProduct(out); err != nil {
		return nil, err
	}
	return cropOf(boxes, of, s, out, method)
}

// finite reports whether no element is infinite or no number.
func finite(v []float32) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

func cropSize(t *core.Tensor) (h, w int, err error) {
	switch {
	case t.Rank() != 1:
		return 0, 0, invalid("crop_size must be 1-D%s", t.Shape().String())
	case t.Len() != 2:
		return 0, 0, invalid("crop_size must have two elements%s", t.Shape().String())
	}
	v := core.Data[int32](t)
	if v[0] <= 0 || v[1] <= 0 {
		return 0, 0, invalid("crop dimensions must be positive")
	}
	return int(v[0]), int(v[1]), nil
}
