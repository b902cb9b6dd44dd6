package image

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {" + floatTypes + "} = DT_FLOAT"
	for name, kernels := range map[string]map[tf.DType]core.NewKernel{
		"RGBToHSV": colors(rgbToHSV, toHSV, exactToHSV[float32], exactToHSV[float64]), "HSVToRGB": colors(hsvToRGB, toRGB, exactToRGB[float32], exactToRGB[float64]),
	} {
		d := core.OpDef{
			Name: name, In: "images: T", Out: "output: T", Attrs: types, Shape: colorShape,
			NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", kernels),
		}
		if name == "RGBToHSV" {
			d.NoGrad, d.Grad = 0, tf.GradFunc(rgbToHSVGrad)
		}
		core.Register(d)
	}
	for name, f := range map[string]adjustment{"AdjustHue": {fastHue, turnedHue}, "AdjustSaturation": {fastSaturation, saturated}} {
		by := map[string]string{"AdjustHue": "delta", "AdjustSaturation": "scale"}[name]
		core.Register(core.OpDef{
			Name: name, In: "images: T; " + by + ": float", Out: "output: T", Attrs: "T: {half, float} = DT_FLOAT",
			Shape: colorShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(adjustKernel(by, f), tf.Float32)),
		})
	}
	core.Register(core.OpDef{
		Name: "AdjustContrastv2", In: "images: T; contrast_factor: float", Out: "output: T", Attrs: "T: {half, float} = DT_FLOAT",
		Shape: contrastShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", forTypes(computed(adjustContrast), tf.Float32)),
	})
}

// RGBToHSV returns images, whose last dimension is red, green and blue, as
// hue, saturation and value. All are between 0 and 1. The transform is that
// of Smith (SIGGRAPH 1978). images have floating-point numbers (float16,
// bfloat16, float32, float64) and any rank of at least 1; the result has
// their shape and type. A last dimension that is not 3 is refused with
// INVALID_ARGUMENT when the graph is built, if it is known, else with
// FAILED_PRECONDITION in the step.
func RGBToHSV(images tf.Output, opts ...tf.Option) tf.Output { return apply("RGBToHSV", opts, images) }

// HSVToRGB undoes RGBToHSV. images have floating-point numbers (float16,
// bfloat16, float32, float64) and any rank of at least 1; the result has
// their shape and type. A last dimension that is not 3 is refused with
// INVALID_ARGUMENT when the graph is built, if it is known, else with
// FAILED_PRECONDITION in the step.
func HSVToRGB(images tf.Output, opts ...tf.Option) tf.Output { return apply("HSVToRGB", opts, images) }

// AdjustHue turns the hue of images by delta, a scalar: 1 is a full turn.
// images are float32 with three dimensions or more, of which the last one is
// 3, red, green and blue; the result has their shape. A last dimension that
// is not 3 is refused with INVALID_ARGUMENT when the graph is built, if it is
// known; other shapes, and a delta, float32, that is no scalar, fail with it
// in the step.
func AdjustHue(images, delta tf.Output, opts ...tf.Option) tf.Output {
	return apply("AdjustHue", opts, images, delta)
}

// AdjustSaturation multiplies the saturation of images by scale, a scalar.
// The saturation is kept between 0 and 1. images are float32 with three
// dimensions or more, of which the last one is 3, red, green and blue; the
// result has their shape. A last dimension that is not 3 is refused with
// INVALID_ARGUMENT when the graph is built, if it is known; other shapes, and
// a scale, float32, that is no scalar, fail with it in the step.
func AdjustSaturation(images, scale tf.Output, opts ...tf.Option) tf.Output {
	return apply("AdjustSaturation", opts, images, scale)
}

// AdjustContrastv2 multiplies the distances of the pixels of each channel
// from their mean by factor, a scalar. images are float32 [... height width
// channels], and the result has their shape; factor is float32. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func AdjustContrastv2(images, factor tf.Output, opts ...tf.Option) tf.Output {
	return apply("AdjustContrastv2", opts, images, factor)
}

// colorShape checks that the last dimension has three colors.
func colorShape(c *core.Infer) error {
	s := c.In(0)
	switch {
	case s == nil:
	case len(s) == 0:
		return invalid("Shape must be at least rank 1 but is rank 0")
	case s[len(s)-1] >= 0 && s[len(s)-1] != 3:
		return invalid("Dimension must be 3 but is %d", s[len(s)-1])
	}
	c.Set(0, s)
	return nil
}

func contrastShape(c *core.Infer) error {
	if s := c.In(0); s != nil && len(s) < 3 {
		return invalid("Shape must be at least rank 3 but is rank %d", len(s))
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	c.Set(0, c.In(0))
	return nil
}

// checkColors checks the shape of images in the step.
func checkColors(s tf.Shape) error {
	switch {
	case len(s) < 1:
		return invalid("input must be at least 1D%s", s.String())
	case s[len(s)-1] != 3:
		return tf.Errorf(tf.FailedPrecondition, "input must have 3 channels but input only has %d channels.", s[len(s)-1])
	}
	return nil
}

// colors makes the kernels that convert every pixel by one.
func colors(small rounded, code *elementwise.Compiled, f32 pixel[float32], f64 pixel[float64]) map[tf.DType]core.NewKernel {
	fast := func(c *core.OpContext, y, x []float32) { eachFast(c, y, x, inPlanes(code), f32) }
	plain := func(c *core.OpContext, y, x []float64) { eachColor(c, y, x, f64) }
	return map[tf.DType]core.NewKernel{
		tf.Float16: computed(smallColors(small)), tf.BFloat16: computed(smallColors(small)),
		tf.Float32: computed(floatColors(fast)), tf.Float64: computed(floatColors(plain)),
	}
}

func floatColors[T float32 | float64](each func(c *core.OpContext, y, x []T)) func(*core.OpContext) error {
	return func(c *core.OpContext) error {
		in := c.Input(0)
		if err := checkColors(in.Shape()); err != nil {
			return err
		}
		out, err := c.Alloc(0, in.DType(), in.Shape())
		if err == nil {
			each(c, core.Data[T](out), core.Data[T](in))
		}
		return err
	}
}

// smallColors computes numbers of 16 bits as float32, each result rounded.
func smallColors(f rounded) func(*core.OpContext) error {
	return func(c *core.OpContext) error {
		in := c.Input(0)
		if err := checkColors(in.Shape()); err != nil {
			return err
		}
		y, store, err := output(c, 0, in.DType(), in.Shape())
		if err == nil {
			eachColor(c, y, inFloat32(c, in), f(roundingOf(in.DType())))
			store()
		}
		return err
	}
}

func eachColor[T float32 | float64](c *core.OpContext, y, x []T, f pixel[T]) {
	c.ParallelFor(len(x)/3, grain/16, func(lo, hi int) {
		for i := 3 * lo; i < 3*hi; i += 3 {
			f(y[i:i+3:i+3], x[i:i+3:i+3])
		}
	})
}

// An adjustment makes what converts pixels by a number.
type adjustment struct {
	fast  func(by float32) fastColor
	plain func(by float32) pixel[float32]
}

func adjustKernel(what string, a adjustment) core.NewKernel {
	return computed(func(c *core.OpContext) error {
		s, by := c.Input(0).Shape(), c.Input(1)
		switch {
		case len(s) < 3:
			return invalid("input must be at least 3-D, got shape%s", s.String())
		case by.Rank() != 0:
			return invalid("%s must be scalar: %s", what, by.Shape().String())
		case s[len(s)-1] != 3:
			return invalid("input must have 3 channels but instead has %d channels.", s[len(s)-1])
		}
		out, err := c.Alloc(0, tf.Float32, s)
		if err == nil {
			n := core.Data[float32](by)[0]
			eachFast(c, core.Data[float32](out), core.Data[float32](c.Input(0)), a.fast(n), a.plain(n))
		}
		return err
	})
}

func adjustContrast(c *core.OpContext) error {
	in, by := c.Input(0), c.Input(1)
	s := in.Shape()
	if len(s) < 3 {
		return invalid("input must be at least 3-D, got shape%s", s.String())
	}
	if by.Rank() != 0 {
		return invalid("contrast_factor must be scalar: %s", by.Shape().String())
	}
	y, store, err := output(c, 0, in.DType(), s)
	if err != nil || len(y) == 0 {
		return err
	}
	depth := s[len(s)-1]
	size := s[len(s)-3] * s[len(s)-2] * depth
	x, factor := inFloat32(c, in), core.Data[float32](by)[0]
	c.ParallelFor(len(x)/size, max(1, grain/size), func(lo, hi int) {
		k := newContrast(depth)
		for i := lo * size; i < hi*size; i += size {
			k.stretch(y[i:i+size], x[i:i+size], factor)
		}
	})
	store()
	return nil
}
