package image

import (
	"math"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "kernel_type: string = 'lanczos3'; antialias: bool = true"
	core.Register(core.OpDef{
		Name: "ScaleAndTranslate", In: "images: T; size: int32; scale: float; translation: float", Out: "resized_images: float",
		Attrs: "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}; " + attrs,
		Shape: resizeShape, Expensive: true, Grad: tf.GradFunc(translateGrad), Kernels: core.ByType("T", forTypes(translateKernel, reals...)),
	})
	core.Register(core.OpDef{
		Name: "ScaleAndTranslateGrad", In: "grads: T; original_image: T; scale: float; translation: float", Out: "output: T",
		Attrs: "T: {float}; " + attrs, Shape: anyOriginal, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", forTypes(translateBackKernel, tf.Float32)),
	})
}

// ScaleOpts are the optional attributes of ScaleAndTranslate: the curve that
// weighs pixels by their distance, one of lanczos1, lanczos3 (the default),
// lanczos5, gaussian, box, triangle, keyscubic and mitchellcubic, and whether
// it stays narrow where images become smaller.
type ScaleOpts struct {
	Kernel string
	Narrow bool
}

// Apply sets the attributes.
func (o ScaleOpts) Apply(s *tf.Spec) {
	if o.Kernel != "" {
		s.Set("kernel_type", o.Kernel)
	}
	s.Set("antialias", !o.Narrow)
}

// ScaleAndTranslate returns images of the given height and width, as float32,
// on which the old ones are scaled and moved: scale and translation have a
// number for rows and one for columns. images are [batch height width
// channels] with integers of 8, 16, 32 or 64 bits but uint32 and uint64, or
// floating-point numbers (float16, bfloat16, float32, float64); size is an
// int32 vector of two positive elements, scale and translation are float32
// vectors of two elements. Pixels from beyond the edges are 0. The kernels
// keyscubic and mitchellcubic are those of Keys (1981) and of Mitchell and
// Netravali (SIGGRAPH 1988). Other shapes are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step. A scale that
// is not positive, an unknown kernel, and images without pixels or channels
// fail with INVALID_ARGUMENT in the step; weights that need too much memory
// fail with RESOURCE_EXHAUSTED.
// Its options are [ScaleOpts].
func ScaleAndTranslate(images, size, scale, translation tf.Output, opts ...tf.Option) tf.Output {
	return apply("ScaleAndTranslate", opts, images, size, scale, translation)
}

func anyOriginal(c *core.Infer) error {
	c.Set(0, c.In(1))
	return nil
}

// A curve says how much a pixel counts by its distance, up to a radius.
type curve struct {
	radius float32
	at     func(x float32) float32
}

func lanczos(radius float32) curve {
	return curve{radius, func(x float32) float32 {
		switch {
		case x > radius:
			return 0
		case x <= 1e-3:
			return 1
		}
		const pi = float32(3.14159265359)
		sin := func(v float32) float32 { return float32(math.Sin(float64(v))) }
		return radius * sin(pi*x) * sin(pi*x/radius) / (pi * pi * x * x)
	}}
}

// cubic is made of two curves: up to 1, and up to 2.
func cubic(near, far func(x float32) float32) curve {
	return curve{2, func(x float32) float32 {
		switch {
		case x >= 2:
			return 0
		case x >= 1:
			return far(x)
		}
		return near(x)
	}}
}

var curves = map[string]curve{
	"lanczos1": lanczos(1), "lanczos3": lanczos(3), "lanczos5": lanczos(5),
	"gaussian": {1.5, func(x float32) float32 {
		if x >= 1.5 {
			return 0
		}
		return float32(math.Exp(float64(-x*x) / 0.5))
	}},
	"box": {1, func(x float32) float32 {
		switch {
		case x < 0.5:
			return 1
		case x == 0.5:
			return 0.5
		}
		return 0
	}},
	"triangle": {1, func(x float32) float32 { return max(0, 1-x) }},
	"keyscubic": cubic(
		func(x float32) float32 { return ((1.5*x-2.5)*x)*x + 1 },
		func(x float32) float32 { return ((-0.5*x+2.5)*x-4)*x + 2 }),
	"mitchellcubic": cubic(
		func(x float32) float32 { return (((7.0/6)*x-2)*x)*x + 8.0/9 },
		func(x float32) float32 { return (((-7.0/18)*x+2)*x-10.0/3)*x + 16.0/9 }),
}

// A moving describes how one dimension of images is scaled and moved.
type moving struct {
	curve
	in, out          int
	scale, by, widen float32 // by how much the curve is wider than it is
}

// newMoving describes it for factors and distances in the new images.
func newMoving(c curve, in, out int, scale, by float32, antialias bool) moving {
	m := moving{curve: c, in: in, out: out, scale: float32(1 / float64(scale)), widen: 1}
	m.by = -m.scale * by
	if antialias {
		m.widen = max(m.scale, 1)
	}
	return m
}

// check refuses what would need more memory than there may be.
func (m *moving) check() error {
	each := min(2*math.Ceil(float64(m.radius*m.widen))+1, float64(m.in))
	if math.IsNaN(each) || each*float64(m.out) > 1<<31 {
		return tf.Errorf(tf.ResourceExhausted, "OOM when allocating tensor with shape[%v] and type float", each*float64(m.out))
	}
	return nil
}

// taps returns what pixel i of the new images is made of.
func (m *moving) taps(i int) taps {
	at := (float32(i)+0.5)*m.scale + m.by
	if !(at >= 0 && at <= float32(m.in)) {
		return taps{}
	}
	reach := m.radius * m.widen
	first := within(int(math.Ceil(float64(at-reach-0.5))), m.in)
	last := within(floor(at+reach-0.5), m.in)
	t := taps{}
	sum := float32(0)
	for k := first; k <= last; k++ {
		d := float32(k) + 0.5 - at
		w := m.at(float32(math.Abs(float64(d * (1 / m.widen)))))
		sum += w
		t.at, t.weight = append(t.at, k), append(t.weight, w)
	}
	if math.Abs(float64(sum)) < 1000*0x1p-126 {
		return taps{}
	}
	for k := range t.weight {
		t.weight[k] *= 1 / sum
	}
	return t
}

func (m *moving) all() []taps {
	out := core.Make[taps](m.out)
	for i := range out {
		out[i] = m.taps(i)
	}
	return out
}

// movings reads how rows and columns of images of the given sizes are moved.
func movings(c *core.OpContext, f curve, in, out tf.Shape) (rows, columns []taps, err error) {
	var v [2][2]float32
	for i := range v {
		t := c.Input(2 + i)
		switch {
		case t.Rank() != 1:
			return nil, nil, invalid("t must be 1-dimensional%s", t.Shape().String())
		case t.Len() != 2:
			return nil, nil, invalid("t must have two elements%s", t.Shape().String())
		}
		copy(v[i][:], core.Data[float32](t))
		if i == 0 && !(v[0][0] > 0 && v[0][1] > 0) {
			return nil, nil, invalid("Scale must be greater than zero.")
		}
	}
	var all [2][]taps
	for i := range all {
		m := newMoving(f, in[1+i], out[1+i], v[0][i], v[1][i], c.Node.Bool("antialias"))
		if err := m.check(); err != nil {
			return nil, nil, err
		}
		all[i] = m.all()
	}
	return all[0], all[1], nil
}

func curveOf(n *core.Node) (curve, error) {
	f, ok := curves[strings.ToLower(n.Str("kernel_type"))]
	if !ok {
		return f, invalid("Unrecognized kernel type: %s", n.Str("kernel_type"))
	}
	return f, nil
}

func translateKernel(n *core.Node) (core.Kernel, error) {
	f, err := curveOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		s, h, w, err := translateArgs(c)
		if err != nil {
			return err
		}
		out := tf.Shape{s[0], h, w, s[3]}
		rows, columns, err := movings(c, f, s, out)
		if err != nil {
			return err
		}
		y, _, err := output(c, 0, tf.Float32, out)
		if err != nil || len(y) == 0 {
			return err
		}
		(&resizer{s: s, y: y, x: inFloat32(c, c.Input(0)), rows: rows, columns: columns}).run(c)
		return nil
	}), nil
}

// translateArgs checks images and size.
func translateArgs(c *core.OpContext) (s tf.Shape, h, w int, err error) {
	s = c.Input(0).Shape()
	if len(s) != 4 {
		return s, 0, 0, invalid("input must be 4-dimensional%s", s.String())
	}
	if h, w, err = vector2(c.Input(1), "output_shape_t"); err != nil {
		return s, 0, 0, err
	}
	switch {
	case h <= 0 || w <= 0:
		return s, 0, 0, invalid("output dimensions must be positive")
	case s[3] <= 0:
		return s, 0, 0, invalid("image must have at least one channel")
	case s[1] <= 0 || s[2] <= 0:
		return s, 0, 0, invalid("input image must be of non-zero size")
	}
	return s, h, w, core.CheckSize(tf.Float32, tf.Shape{s[0], h, w, s[3]})
}

func translateBackKernel(n *core.Node) (core.Kernel, error) {
	f, err := curveOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		g, s := c.Input(0).Shape(), c.Input(1).Shape()
		switch {
		case len(g) != 4:
			return invalid("input_grad must be 4-dimensional%s", g.String())
		case len(s) != 4:
			return invalid("original_image must be 4-dimensional%s", s.String())
		}
		in := tf.Shape{g[0], s[1], s[2], g[3]}
		dx, _, err := output(c, 0, tf.Float32, in)
		if err != nil {
			return err
		}
		rows, columns, err := movings(c, f, s, g)
		if err != nil {
			return err
		}
		(&resizerBack{s: in, dx: dx, dy: core.Data[float32](c.Input(0)), rows: rows, columns: columns}).run(c)
		return nil
	}), nil
}

func translateGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	o := ScaleOpts{op.Str("kernel_type"), !op.Bool("antialias")}
	dx := apply("ScaleAndTranslateGrad", []tf.Option{o}, dy[0], op.Input(0), op.Input(2), op.Input(3))
	return tf.Grads(dx, tf.Output{}, tf.Output{}, tf.Output{})
}
