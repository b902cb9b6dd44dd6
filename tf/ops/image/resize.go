package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const resizeAttrs = "align_corners: bool = false; half_pixel_centers: bool = false"

func init() {
	const in = "images: T; size: int32"
	for _, r := range []struct {
		name, types string
		grad        tf.GradFunc
		interpolate interpolation
	}{
		{"ResizeBilinear", "int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double", bilinearGrad, bilinear},
		{"ResizeBicubic", imageTypes, bicubicGrad, bicubic},
	} {
		core.Register(core.OpDef{
			Name: r.name, In: in, Out: "resized_images: float", Attrs: "T: {" + r.types + "}; " + resizeAttrs,
			Shape: resizeShape, Expensive: true, Grad: tf.GradFunc(r.grad), Kernels: core.ByType("T", forTypes(resizeKernel(r.interpolate, r.name == "ResizeBilinear"), reals...)),
		})
	}
	core.Register(core.OpDef{
		Name: "ResizeArea", In: in, Out: "resized_images: float", Attrs: "T: {" + imageTypes + "}; align_corners: bool = false",
		Shape: resizeShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(resizeKernel(area, false), reals...)),
	})
	for name, types := range map[string][]tf.DType{"ResizeBilinear": floats, "ResizeBicubic": {tf.Float32, tf.Float64}} {
		list, rule := floatTypes, bilinear
		if name == "ResizeBicubic" {
			list, rule = "float, double", bicubic
		}
		core.Register(core.OpDef{
			Name: name + "Grad", In: "grads: float; original_image: T", Out: "output: T", Attrs: "T: {" + list + "}; " + resizeAttrs,
			Shape: likeOriginal, Expensive: true, NoGrad: resizeNoGrad(name), Kernels: core.ByType("T", forTypes(resizeBackKernel(rule), types...)),
		})
	}
}

// resizeNoGrad: TensorFlow declares one of the two as not differentiable.
func resizeNoGrad(name string) core.NoGrad {
	if name == "ResizeBilinear" {
		return core.NotDifferentiable
	}
	return core.NoGradientDefined
}

// ResizeOpts are the optional attributes of the Resize operations: where the
// pixels of images of different sizes meet. By default their first corners do.
type ResizeOpts struct{ AlignCorners, HalfPixelCenters bool }

// Apply sets the attributes.
func (o ResizeOpts) Apply(s *tf.Spec) {
	s.Set("align_corners", o.AlignCorners)
	if o.HalfPixelCenters {
		s.Set("half_pixel_centers", true)
	}
}

// ResizeBilinear returns images with the given height and width, whose pixels
// are means of the four nearest, as float32. images are [batch height width
// channels] with integers of 8, 16, 32 or 64 bits but uint32 and uint64, or
// floating-point numbers (float16, bfloat16, float32, float64); the result is
// [batch size[0] size[1] channels]. size is an int32 vector of two positive
// elements. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Images without pixels, and both
// AlignCorners and HalfPixelCenters, are refused with INVALID_ARGUMENT in the
// step. Its options are [ResizeOpts].
func ResizeBilinear(images, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("ResizeBilinear", opts, images, size)
}

// ResizeBicubic is ResizeBilinear by cubic curves through sixteen pixels.
// With HalfPixelCenters the curves are those of Keys (1981). Inputs, results
// and errors are those of ResizeBilinear. Its options are [ResizeOpts].
func ResizeBicubic(images, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("ResizeBicubic", opts, images, size)
}

// ResizeArea is ResizeBilinear by means of the area that a pixel covers.
// Inputs, results and errors are those of ResizeBilinear; it has the
// attribute align_corners alone.
func ResizeArea(images, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("ResizeArea", opts, images, size)
}

// resizeShape serves the ops whose input 1 is the size.
func resizeShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	h, w, err := sizesAt(c, 1)
	if err == nil {
		c.Set(0, tf.Shape{s[0], h, w, s[3]})
	}
	return err
}

func likeOriginal(c *core.Infer) error {
	s, err := c.Rank(1, 4)
	if err == nil {
		c.Set(0, s)
	}
	return err
}

// A resizing describes how one dimension of images is resized.
type resizing struct {
	in, out             int
	scale               float32
	aligned, halfPixels bool
}

func newResizing(n *core.Node, in, out int) resizing {
	r := resizing{in: in, out: out, aligned: n.Bool("align_corners"), halfPixels: n.Bool("half_pixel_centers")}
	if r.aligned && out > 1 {
		r.scale = float32(in-1) / float32(out-1)
	} else {
		r.scale = float32(in) / float32(out)
	}
	return r
}

// source returns the position in the old images of pixel i of the new ones.
func (r resizing) source(i int) float32 {
	if r.halfPixels {
		return (float32(i)+0.5)*r.scale - 0.5
	}
	return float32(i) * r.scale
}

// taps are the pixels that a new one is made of, with their weights.
type taps struct {
	at     []int
	weight []float32
}

// An interpolation returns what pixel i of the new images is made of.
type interpolation func(r resizing, i int) taps

func (r resizing) all(f interpolation) []taps {
	out := core.Make[taps](r.out)
	for i := range out {
		out[i] = f(r, i)
	}
	return out
}

// checkCenters refuses attributes that contradict each other.
func checkCenters(n *core.Node) error {
	if n.Bool("align_corners") && n.Bool("half_pixel_centers") {
		return invalid("If half_pixel_centers is True, align_corners must be False.")
	}
	return nil
}

// resizeArgs checks images and size.
func resizeArgs(c *core.OpContext) (s tf.Shape, h, w int, err error) {
	s = c.Input(0).Shape()
	if len(s) != 4 {
		return s, 0, 0, invalid("input must be 4-dimensional%s", s.String())
	}
	switch {
	case s[3] == 0:
		return s, 0, 0, invalid("image must have at least one channel")
	case s[1] <= 0 || s[2] <= 0:
		return s, 0, 0, invalid("input image must be of non-zero size")
	}
	if h, w, err = vector2(c.Input(1), "shape_t"); err != nil {
		return s, 0, 0, err
	}
	if h <= 0 || w <= 0 {
		return s, 0, 0, invalid("output dimensions must be positive")
	}
	out := tf.Shape{s[0], h, w, s[3]}
	if err := checkProduct(out); err != nil {
		return s, 0, 0, err
	}
	return s, h, w, core.CheckSize(tf.Float32, out)
}

// resizeKernel makes the kernel of an interpolation; with keep, images whose size stays are copied,
// so that no infinite number or NaN reaches the pixels beside it.
func resizeKernel(f interpolation, keep bool) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if err := checkCenters(n); err != nil {
			return nil, err
		}
		return core.Compute(func(c *core.OpContext) error {
			s, h, w, err := resizeArgs(c)
			if err != nil {
				return err
			}
			y, store, err := output(c, 0, tf.Float32, tf.Shape{s[0], h, w, s[3]})
			if err != nil || len(y) == 0 {
				return err
			}
			x := inFloat32(c, c.Input(0))
			if keep && h == s[1] && w == s[2] {
				copy(y, x)
			} else {
				rows, columns := newResizing(n, s[1], h).all(f), newResizing(n, s[2], w).all(f)
				(&resizer{s: s, y: y, x: x, rows: rows, columns: columns}).run(c)
			}
			store()
			return nil
		}), nil
	}
}

// resizedFrom returns the shape of the gradient of images whose resized ones have a
// gradient of shape g: batch and channels are those of g.
func resizedFrom(g, s tf.Shape) (tf.Shape, error) {
	switch {
	case len(g) != 4:
		return nil, invalid("input_grad must be 4-dimensional%s", g.String())
	case len(s) != 4:
		return nil, invalid("original_image must be 4-dimensional%s", s.String())
	case g[1] == 0 || g[2] == 0:
		return nil, invalid("resized dimensions must be positive")
	case s[1] == 0 || s[2] == 0:
		return nil, invalid("original dimensions must be positive")
	}
	return tf.Shape{g[0], s[1], s[2], g[3]}, nil
}

func resizeBackKernel(f interpolation) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if err := checkCenters(n); err != nil {
			return nil, err
		}
		return core.Compute(func(c *core.OpContext) error {
			g := c.Input(0).Shape()
			s, err := resizedFrom(g, c.Input(1).Shape())
			if err != nil {
				return err
			}
			dx, store, err := output(c, 0, n.Type("T"), s)
			if err != nil {
				return err
			}
			rows, columns := newResizing(n, s[1], g[1]).all(f), newResizing(n, s[2], g[2]).all(f)
			(&resizerBack{s: s, dx: dx, dy: core.Data[float32](c.Input(0)), rows: rows, columns: columns}).run(c)
			store()
			return nil
		}), nil
	}
}

func bilinearGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return resizeGrad("ResizeBilinearGrad", op, dy[0], tf.Float16, tf.BFloat16, tf.Float32, tf.Float64)
}

func bicubicGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return resizeGrad("ResizeBicubicGrad", op, dy[0], tf.Float32, tf.Float64)
}

// resizeGrad adds the gradient's op for images of one of the given types; the
// others have no gradient.
func resizeGrad(name string, op *tf.Operation, dy tf.Output, types ...tf.DType) []tf.Gradient {
	x := op.Input(0)
	for _, d := range types {
		if x.DType().Base() == d {
			o := ResizeOpts{op.Bool("align_corners"), op.Bool("half_pixel_centers")}
			return tf.Grads(apply(name, []tf.Option{o}, dy, x), tf.Output{})
		}
	}
	return tf.Grads(tf.Output{}, tf.Output{})
}
