package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/imagefile/jpeg"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "EncodeJpeg", In: "image: uint8", Out: "contents: string",
		Attrs: "format: {'', 'grayscale', 'rgb'} = ''; quality: int = 95; progressive: bool = false; optimize_size: bool = false; " +
			"chroma_downsampling: bool = true; density_unit: {'in', 'cm'} = 'in'; x_density: int = 300; y_density: int = 300; xmp_metadata: string = ''",
		Shape: encodedJPEGShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(encodeJPEGKernel),
	})
	core.Register(core.OpDef{
		Name: "EncodeJpegVariableQuality", In: "images: uint8; quality: int32", Out: "contents: string",
		Shape: encodedJPEGShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(computed(encodeQuality)),
	})
	core.Register(core.OpDef{
		Name: "ExtractJpegShape", In: "contents: string", Out: "image_shape: output_type", Attrs: "output_type: {int32, int64} = DT_INT32",
		Shape: jpegShapeShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("output_type", map[tf.DType]core.NewKernel{tf.Int32: computed(extractShape[int32]), tf.Int64: computed(extractShape[int64])}),
	})
}

// EncodeJPEGOpts are the optional attributes of EncodeJpeg. What is zero is as
// without them.
type EncodeJPEGOpts struct {
	Format             string // grayscale or rgb, which the image has to be
	Quality            int    // 1 to 100, 95 if 0
	Progressive        bool
	OptimizeSize       bool
	FullChroma         bool   // chroma is not sampled more coarsely
	DensityUnit        string // in or cm
	XDensity, YDensity int    // 300 if 0
	XMP                string // metadata
}

// Apply sets the attributes.
func (o EncodeJPEGOpts) Apply(s *tf.Spec) {
	s.Set("format", o.Format)
	s.Set("progressive", o.Progressive)
	s.Set("optimize_size", o.OptimizeSize)
	s.Set("chroma_downsampling", !o.FullChroma)
	s.Set("xmp_metadata", o.XMP)
	if o.DensityUnit != "" {
		s.Set("density_unit", o.DensityUnit)
	}
	for name, v := range map[string]int{"quality": o.Quality, "x_density": o.XDensity, "y_density": o.YDensity} {
		if v != 0 {
			s.Set(name, v)
		}
	}
}

// EncodeJpeg returns an image [height width channels] of uint8, of 1 or 3
// channels, as the bytes of a JPEG file. The format is that of ITU-T T.81.
// The result is a string scalar. Another rank is refused with
// INVALID_ARGUMENT, when the graph is built if it is known, else in the step;
// so are, in the step, other channels, channels that the format does not
// have, and a quality outside [0, 100]. What cannot be written fails with
// INTERNAL.
// Its options are [EncodeJPEGOpts].
func EncodeJpeg(image tf.Output, opts ...tf.Option) tf.Output {
	return apply("EncodeJpeg", opts, image)
}

// EncodeJpegVariableQuality is EncodeJpeg with a quality, a scalar, that is
// known when it runs. quality is int32. A quality that is no scalar or
// outside [0, 100] fails with INVALID_ARGUMENT in the step; images are
// refused as by EncodeJpeg.
func EncodeJpegVariableQuality(image, quality tf.Output, opts ...tf.Option) tf.Output {
	return apply("EncodeJpegVariableQuality", opts, image, quality)
}

// ExtractJpegShape returns height, width and channels of a JPEG file as a
// vector of int32 or int64. It reads no pixels. The format is that of ITU-T
// T.81. contents is a string scalar, the result has shape [3]. Data that are
// no JPEG file fail with INVALID_ARGUMENT in the step.
func ExtractJpegShape(contents tf.Output, outputType tf.DType, opts ...tf.Option) tf.Output {
	return apply("ExtractJpegShape", tf.Join(opts, tf.Attr("output_type", outputType)), contents)
}

func encodedJPEGShape(c *core.Infer) error {
	_, err := c.Rank(0, 3)
	c.Set(0, tf.Shape{})
	return err
}

func jpegShapeShape(c *core.Infer) error {
	_, err := c.Rank(0, 0)
	c.Set(0, tf.Shape{3})
	return err
}

func encodeJPEGKernel(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("quality", "x_density", "y_density"); err != nil {
		return nil, err
	}
	format := n.Str("format")
	e := jpeg.Encoding{
		Quality: n.Int("quality"), Progressive: n.Bool("progressive"), Optimize: n.Bool("optimize_size"),
		Subsample: n.Bool("chroma_downsampling"), Unit: 1,
		XDensity: uint16(n.Int("x_density")), YDensity: uint16(n.Int("y_density")), XMP: n.Str("xmp_metadata"),
	}
	if n.Str("density_unit") == "cm" {
		e.Unit = 2
	}
	if e.Quality < 0 || e.Quality > 100 {
		return nil, invalid("quality must be in [0,100], got %d", e.Quality)
	}
	return core.Compute(func(c *core.OpContext) error {
		s := c.Input(0).Shape()
		if err := checkJPEG(s); err != nil {
			return err
		}
		if want := map[string]int{"grayscale": 1, "rgb": 3}[format]; want != 0 && s[2] != want {
			return invalid("format %s expects %d channels, got %s", format, want, s.String())
		}
		return encodeJPEG(c, e)
	}), nil
}

// encodeQuality is the kernel that takes the quality as an input.
func encodeQuality(c *core.OpContext) error {
	if err := checkJPEG(c.Input(0).Shape()); err != nil {
		return err
	}
	q := c.Input(1)
	if q.Rank() != 0 {
		return invalid("quality must be scalar: %s", q.Shape().String())
	}
	quality := core.Data[int32](q)[0]
	if quality < 0 || quality > 100 {
		return invalid("quality must be in [0,100], got %d", quality)
	}
	return encodeJPEG(c, jpeg.Encoding{Quality: int(quality), Subsample: true, Unit: 1, XDensity: 300, YDensity: 300})
}

// checkJPEG checks the shape of an image.
func checkJPEG(s tf.Shape) error {
	switch {
	case len(s) != 3:
		return invalid("image must be 3-dimensional%s", s.String())
	case s.NumElements() >= math.MaxInt32:
		return invalid("Cannot encode images with >= max int32 elements")
	}
	return nil
}

func encodeJPEG(c *core.OpContext, e jpeg.Encoding) error {
	in := c.Input(0)
	s := in.Shape()
	if s[2] != 1 && s[2] != 3 {
		return invalid("image must have 1 or 3 channels, got %s", s.String())
	}
	out, err := c.Alloc(0, tf.String, tf.Shape{})
	if err != nil {
		return err
	}
	file, err := jpeg.Encode(core.Data[uint8](in), s[0], s[1], s[2], e)
	if err != nil {
		return tf.Errorf(tf.Internal, "JPEG encoding failed")
	}
	core.Data[string](out)[0] = file
	return nil
}

func extractShape[T int32 | int64](c *core.OpContext) error {
	in := c.Input(0)
	if in.Rank() != 0 {
		return invalid("contents must be scalar, got shape %s", in.Shape().String())
	}
	data := core.Data[string](in)[0]
	h, w, channels, err := jpeg.Size(data)
	if err != nil {
		return invalid("Invalid JPEG data, size %d", len(data))
	}
	out, err := c.Alloc(0, tf.TypeOf[T](), tf.Shape{3})
	if err != nil {
		return err
	}
	copy(core.Data[T](out), []T{T(h), T(w), T(channels)})
	return nil
}
