package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

func init() {
	const in, attrs = "images: dtype; transforms: float; output_shape: int32",
		"dtype: {uint8, int32, int64, half, bfloat16, float, double}; interpolation: string; fill_mode: string = 'CONSTANT'"
	for name, in := range map[string]string{"ImageProjectiveTransformV2": in, "ImageProjectiveTransformV3": in + "; fill_value: float"} {
		core.Register(core.OpDef{
			Name: name, In: in, Out: "transformed_images: dtype", Attrs: attrs, Shape: projectiveShape, Expensive: true, Grad: tf.GradFunc(projectiveGrad),
			Kernels: core.ByType("dtype", map[tf.DType]core.NewKernel{
				tf.Uint8: projectiveKernel[uint8](), tf.Int32: projectiveKernel[int32](), tf.Int64: projectiveKernel[int64](),
				tf.Float32: projectiveKernel[float32](), tf.Float64: projectiveKernel[float64](),
				tf.Float16: projectiveHalf, tf.BFloat16: projectiveHalf,
			}),
		})
	}
}

// ProjectiveOpts is an optional attribute of the projective transforms: what is
// beyond the edges of images, one of CONSTANT (the default), REFLECT, WRAP and
// NEAREST.
type ProjectiveOpts struct{ FillMode string }

// Apply sets the attribute.
func (o ProjectiveOpts) Apply(s *tf.Spec) {
	if o.FillMode != "" {
		s.Set("fill_mode", o.FillMode)
	}
}

// ImageProjectiveTransformV2 returns images of the given height and width. Of
// each pixel a row [a0 a1 a2 b0 b1 b2 c0 c1] of transforms, one for all
// images or one for each, says where it comes from: x' = (a0 x + a1 y + a2) /
// k and y' = (b0 x + b1 y + b2) / k with k = c0 x + c1 y + 1. Interpolation
// is NEAREST or BILINEAR. images are [batch height width channels] of uint8,
// int32, int64, float16, bfloat16, float32 or float64, and the result keeps
// their type; transforms are float32 [1 8] or [batch 8], and size is an int32
// vector of two positive elements. A pixel with k = 0, and with CONSTANT one
// from beyond the edges, is 0. Other shapes are refused with
// INVALID_ARGUMENT, those of images and size when the graph is built if they
// are known, else in the step. Its options are [ProjectiveOpts].
func ImageProjectiveTransformV2(images, transforms, size tf.Output, interpolation string, opts ...tf.Option) tf.Output {
	return apply("ImageProjectiveTransformV2", tf.Join(opts, tf.Attr("interpolation", interpolation)), images, transforms, size)
}

// ImageProjectiveTransformV3 is ImageProjectiveTransformV2 with the value, a
// scalar of float32, of what is beyond the edges. A fill that is no scalar
// fails with INVALID_ARGUMENT in the step; other inputs and errors are those
// of ImageProjectiveTransformV2. Its options are [ProjectiveOpts].
func ImageProjectiveTransformV3(images, transforms, size, fill tf.Output, interpolation string, opts ...tf.Option) tf.Output {
	return apply("ImageProjectiveTransformV3", tf.Join(opts, tf.Attr("interpolation", interpolation)), images, transforms, size, fill)
}

func projectiveShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	h, w, err := sizesAt(c, 2)
	if err == nil {
		c.Set(0, tf.Shape{s[0], h, w, s[3]})
	}
	return err
}

// inner returns the position inside of n pixels that one outside stands for.
func inner(mode string, at float32, n int) float32 {
	switch mode {
	case "REFLECT":
		at = reflected(at, n)
	case "WRAP":
		at = wrapped(at, n)
	case "NEAREST":
	default:
		return at
	}
	return max(0, min(at, float32(n-1)))
}

func reflected(at float32, n int) float32 {
	whole := float32(2 * n)
	switch {
	case at >= 0 && at <= float32(n-1):
	case n <= 1:
		return 0
	case at < 0:
		at += whole * trunc(-at/whole)
		if at < float32(-n) {
			return at + whole
		}
		return -at - 1
	default:
		at -= whole * trunc(at/whole)
		if at >= float32(n) {
			return whole - at - 1
		}
	}
	return at
}

func wrapped(at float32, n int) float32 {
	switch {
	case at >= 0 && at <= float32(n-1):
	case n <= 1:
		return 0
	case at < 0:
		at += float32(n) * (trunc(-at/float32(n-1)) + 1)
	default:
		at -= float32(n) * trunc(at/float32(n-1))
	}
	return at
}

func trunc(x float32) float32 { return float32(math.Trunc(float64(x))) }

// A projection is a transform of images.
type projection struct {
	in, out    tf.Shape
	transforms []float32
	bilinear   bool
	mode       string
	fill       float32
}

// newProjection reads and checks the inputs.
func newProjection(c *core.OpContext) (*projection, error) {
	s, transforms := c.Input(0).Shape(), c.Input(1)
	if len(s) != 4 {
		return nil, invalid("Input images must have rank 4")
	}
	if t := transforms.Shape(); len(t) != 2 || t[0] != s[0] && t[0] != 1 || t[1] != 8 {
		return nil, invalid("Input transform should be num_images x 8 or 1 x 8")
	}
	h, w, err := vector2(c.Input(2), "output shape")
	if err != nil {
		return nil, err
	}
	if h <= 0 || w <= 0 {
		return nil, invalid("output dimensions must be positive")
	}
	out := tf.Shape{s[0], h, w, s[3]}
	if err := checkProduct(out); err != nil {
		return nil, err
	}
	p := &projection{
		in: s, out: out, transforms: core.Data[float32](transforms),
		bilinear: c.Node.Str("interpolation") == "BILINEAR", mode: c.Node.Str("fill_mode"),
	}
	if c.Inputs() > 3 {
		fill := c.Input(3)
		if fill.Rank() != 0 {
			return nil, invalid("fill_value must be a scalar%s", fill.Shape().String())
		}
		p.fill = core.Data[float32](fill)[0]
	}
	return p, nil
}

// source returns where a pixel comes from; not if that is nowhere.
func (p *projection) source(image, y, x int) (fromY, fromX float32, ok bool) {
	t := p.transforms
	if len(t) > 8 {
		t = t[8*image:]
	}
	oy, ox := float32(y), float32(x)
	k := t[6]*ox + t[7]*oy + 1
	if k == 0 {
		return 0, 0, false
	}
	fromX = inner(p.mode, (t[0]*ox+t[1]*oy+t[2])/k, p.in[2])
	return inner(p.mode, (t[3]*ox+t[4]*oy+t[5])/k, p.in[1]), fromX, true
}

// at returns the first element of a pixel, -1 for those outside.
func (p *projection) at(image int, y, x float32) int {
	if !(y >= 0 && y < float32(p.in[1]) && x >= 0 && x < float32(p.in[2])) {
		return -1
	}
	return ((image*p.in[1]+int(y))*p.in[2] + int(x)) * p.in[3]
}

// project computes all pixels.
func project[T projected](c *core.OpContext, p *projection, y, x []T) {
	line := p.out[2] * p.in[3]
	c.ParallelFor(p.out[0]*p.out[1], max(1, grain/max(1, line*4)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			projectLine(p, y[i*line:(i+1)*line], x, i/p.out[1], i%p.out[1])
		}
	})
}

// projectLine computes a row of an image.
func projectLine[T projected](p *projection, y, x []T, image, row int) {
	depth := p.in[3]
	for column := range p.out[2] {
		dst := y[column*depth:][:depth]
		fy, fx, ok := p.source(image, row, column)
		if ok && p.bilinear {
			blendPixels(p, dst, x, image, fy, fx)
			continue
		}
		at := -1
		if ok {
			at = p.at(image, float32(math.Round(float64(fy))), float32(math.Round(float64(fx))))
		}
		if at < 0 {
			kernel.Fill(dst, elementOf[T](p.fill))
			continue
		}
		copy(dst, x[at:at+depth])
	}
}

// blendPixels sets dst to what is between four pixels.
func blendPixels[T projected](p *projection, dst, x []T, image int, fy, fx float32) {
	top, left := floored(fy), floored(fx)
	x0, x1, y0, y1 := left+1-fx, fx-left, top+1-fy, fy-top
	const exact = 1 << 24 // positions below differ from the next ones
	n, line := len(dst), p.in[2]*p.in[3]
	if top >= 0 && left >= 0 && top+1 < min(float32(p.in[1]), exact) && left+1 < min(float32(p.in[2]), exact) {
		from := x[(image*p.in[1]+int(top))*line+int(left)*n:]
		a, b, d, e := from[:n], from[n:][:n], from[line:][:n], from[line+n:][:n]
		for ch := range dst {
			upper := float32(x0*float32(a[ch])) + float32(x1*float32(b[ch]))
			lower := float32(x0*float32(d[ch])) + float32(x1*float32(e[ch]))
			dst[ch] = elementOf[T](float32(y0*upper) + float32(y1*lower))
		}
		return
	}
	fill := elementOf[T](p.fill)
	read := func(y, x0 float32, ch int) float32 {
		if at := p.at(image, y, x0); at >= 0 {
			return float32(x[at+ch])
		}
		return float32(fill)
	}
	for ch := range dst {
		upper := float32(x0*read(top, left, ch)) + float32(x1*read(top, left+1, ch))
		lower := float32(x0*read(top+1, left, ch)) + float32(x1*read(top+1, left+1, ch))
		dst[ch] = elementOf[T](float32(y0*upper) + float32(y1*lower))
	}
}

// floored is math.Floor, in less time for the numbers of most pixels.
func floored(v float32) float32 {
	if v > 0 && v < 1<<31 {
		return float32(int32(v))
	}
	return float32(math.Floor(float64(v)))
}

// projected are the types that projections are computed for.
type projected interface {
	tf.Elem
	uint8 | int32 | int64 | float32 | float64
}

// elementOf returns v as an element: whole numbers by those of 64 bits.
func elementOf[T projected](v float32) T {
	if half := float32(0.5); T(half) == 0 {
		return T(int64(v))
	}
	return T(v)
}

func projectiveKernel[T projected]() core.NewKernel {
	return computed(func(c *core.OpContext) error {
		p, err := newProjection(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), p.out)
		if err != nil {
			return err
		}
		project(c, p, core.Data[T](out), core.Data[T](c.Input(0)))
		return nil
	})
}

// projectiveHalf computes in float32.
func projectiveHalf(n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		p, err := newProjection(c)
		if err != nil {
			return err
		}
		y, store, err := output(c, 0, c.Input(0).DType(), p.out)
		if err != nil {
			return err
		}
		project(c, p, y, inFloat32(c, c.Input(0)))
		store()
		return nil
	}), nil
}

// projectiveGrad transforms the gradient back. It is TensorFlow's: what falls
// between pixels on the way there is not shared among them.
func projectiveGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, g := op.Input(0), dy[0].Graph()
	flat := ops.Reshape(op.Input(1), ops.Const(g, []int32{-1, 8}, 2))
	count := ops.Slice(ops.Shape(flat), ops.Const(g, []int32{0}, 1), ops.Const(g, []int32{1}, 1))
	ones := ops.Fill(ops.ConcatV2([]tf.Output{count, ops.Const(g, []int32{1}, 1)}, ops.Scalar(g, int32(0))), ops.Scalar(g, float32(1)))
	forth := ops.Reshape(ops.ConcatV2([]tf.Output{flat, ones}, ops.Scalar(g, int32(1))), ops.Const(g, []int32{-1, 3, 3}, 3))
	back := ops.Reshape(linalg.MatrixInverse(forth), ops.Const(g, []int32{-1, 9}, 2))
	part := func(begin, size int32) tf.Output {
		return ops.Slice(back, ops.Const(g, []int32{0, begin}, 2), ops.Const(g, []int32{-1, size}, 2))
	}
	inverse := ops.RealDiv(part(0, 8), part(8, 1))
	o := []tf.Option{tf.Attr("interpolation", op.Str("interpolation")), tf.Attr("fill_mode", op.Str("fill_mode"))}
	in := []tf.Output{dy[0], inverse, heightAndWidth(x)}
	grads := make([]tf.Output, len(op.Inputs()))
	if len(grads) > 3 {
		in = append(in, ops.Scalar(g, float32(0)))
	}
	grads[0] = apply(op.OpName(), o, in...)
	return tf.Grads(grads...)
}
