package image

import (
	"github.com/gorge-tf/gorge/internal/imagefile"
	"github.com/gorge-tf/gorge/internal/imagefile/jpeg"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	decoder := func(name, in, out, attrs string, shape func(*core.Infer) error) {
		core.Register(core.OpDef{
			Name: name, In: "contents: string" + in, Out: "image: " + out, Attrs: attrs,
			Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(decodeKernel),
		})
	}
	const channels = "channels: int = 0"
	const ofJPEG = channels + "; ratio: int = 1; fancy_upscaling: bool = true; try_recover_truncated: bool = false; acceptable_fraction: float = 1.0; dct_method: string = ''"
	decoder("DecodePng", "", "dtype", channels+"; dtype: {uint8, uint16} = DT_UINT8", decodedShape)
	decoder("DecodeBmp", "", "uint8", channels, decodedShape)
	decoder("DecodeGif", "", "uint8", "", framesShape)
	decoder("DecodeWebP", "", "dtype", channels+"; dtype: {uint8} = DT_UINT8", framesShape)
	decoder("DecodeImage", "", "dtype", channels+"; dtype: {uint8, uint16, float} = DT_UINT8; expand_animations: bool = true", anyShape)
	decoder("DecodeJpeg", "", "uint8", ofJPEG, decodedShape)
	decoder("DecodeAndCropJpeg", "; crop_window: int32", "uint8", ofJPEG, croppedShape)
}

// DecodeOpts are the optional attributes of DecodePng, DecodeBmp and
// DecodeImage: the number of channels, 0 for as many as the file has, and the
// type of the pixels, uint8 if it is not given.
type DecodeOpts struct {
	Channels int
	DType    tf.DType
}

// Apply sets the attributes.
func (o DecodeOpts) Apply(s *tf.Spec) {
	s.Set("channels", o.Channels)
	if o.DType != tf.Invalid {
		s.Set("dtype", o.DType)
	}
}

// StillOpts is an optional attribute of DecodeImage: of animations it gives the
// first frame alone.
type StillOpts struct{}

// Apply sets the attribute.
func (StillOpts) Apply(s *tf.Spec) { s.Set("expand_animations", false) }

// JPEGOpts are the optional attributes of DecodeJpeg and DecodeAndCropJpeg.
type JPEGOpts struct {
	Channels   int     // 0 for as many as the file has
	Ratio      int     // makes the image smaller: 1, 2, 4 or 8; 0 is 1
	Plain      bool    // chroma is not interpolated
	Recover    bool    // of files that end early the last row is repeated
	Acceptable float32 // the part of the rows that has to be there; 0 is all
	DCTMethod  string  // INTEGER_FAST, the default, or INTEGER_ACCURATE
}

// Apply sets the attributes.
func (o JPEGOpts) Apply(s *tf.Spec) {
	s.Set("channels", o.Channels)
	s.Set("ratio", max(1, o.Ratio))
	s.Set("fancy_upscaling", !o.Plain)
	s.Set("try_recover_truncated", o.Recover)
	if o.Acceptable != 0 {
		s.Set("acceptable_fraction", o.Acceptable)
	}
	s.Set("dct_method", o.DCTMethod)
}

// DecodePng returns the image [height width channels] of a PNG file, whose
// bytes contents, a scalar, holds. Like the other decoders but DecodeBmp it
// takes any of JPEG, PNG, GIF with one frame, and WebP. PNG is defined in RFC
// 2083. The result is uint8 or uint16; channels are 0 (as many as the file
// has), 1, 3 or 4. What is no valid file, a channel count that the format
// does not have, and an empty string fail with INVALID_ARGUMENT in the step.
// Its options are [DecodeOpts].
func DecodePng(contents tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodePng", opts, contents)
}

// DecodeJpeg returns the image [height width channels] of a JPEG file. The
// format is that of ITU-T T.81. contents is a string scalar, the result
// uint8; channels are 0 (as many as the file has), 1 or 3 for JPEG. What is
// no valid file, a channel count that the format does not have, and an empty
// string fail with INVALID_ARGUMENT in the step. So does a ratio other than
// 1, 2, 4 and 8.
// Its options are [JPEGOpts].
func DecodeJpeg(contents tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeJpeg", opts, contents)
}

// DecodeAndCropJpeg returns a part of the image of a JPEG file: window is y,
// x, height and width. The format is that of ITU-T T.81. contents is a string
// scalar, window an int32 vector of four elements, the result uint8 [height
// width channels]. Other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step; so are, in the step,
// files of PNG, GIF and BMP, invalid data and a window that is not inside of
// the image.
// Its options are [JPEGOpts].
func DecodeAndCropJpeg(contents, window tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeAndCropJpeg", opts, contents, window)
}

// DecodeGif returns all frames [frames height width 3] of a GIF file. The
// format is GIF89a (CompuServe, 1990). contents is a string scalar, the
// result uint8; files of JPEG and PNG give one frame, files of BMP are
// refused. What is no valid file, a channel count that the format does not
// have, and an empty string fail with INVALID_ARGUMENT in the step.
func DecodeGif(contents tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeGif", opts, contents)
}

// DecodeBmp returns the image [height width channels] of a BMP file. contents
// is a string scalar, the result uint8; channels are 0 (as many as the file
// has), 3 or 4. What is no valid file, a channel count that the format does
// not have, and an empty string fail with INVALID_ARGUMENT in the step. So do
// files of JPEG, PNG and GIF.
func DecodeBmp(contents tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeBmp", opts, contents)
}

// DecodeWebP returns the frames [frames height width channels] of a WebP
// file. The format is that of RFC 9649. contents is a string scalar, the
// result uint8. The channels are 0 or those of the file, which are 4 for
// animations. What is no valid file, a channel count that the format does not
// have, and an empty string fail with INVALID_ARGUMENT in the step.
// Its options are [DecodeOpts].
func DecodeWebP(contents tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeWebP", opts, contents)
}

// DecodeImage returns the image of a file of any format: of GIF and WebP
// files all frames [frames height width channels], else
// [height width channels]. Numbers of float32 are between 0 and 1. JPEG XL,
// which TensorFlow reads too, is no format here. contents is a string scalar,
// the result uint8, uint16 or float32. What is no valid file, a channel count
// that the format does not have, and an empty string fail with
// INVALID_ARGUMENT in the step. So does an unknown format.
// Its options are [DecodeOpts] and [StillOpts].
func DecodeImage(contents tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeImage", opts, contents)
}

// channelsAt returns the size that the images' last dimension will have.
func channelsAt(c *core.Infer) (int, error) {
	n := c.Int("channels")
	switch {
	case c.OpName() == "DecodeGif":
		return 3, nil
	case n < 0:
		return 0, invalid("channels must be non-negative, got %d", n)
	case n == 0:
		return -1, nil
	}
	return n, nil
}

// fileShape makes a shape function of the sizes before the channels.
func fileShape(sizes ...int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		if _, err := c.Rank(0, 0); err != nil {
			return err
		}
		channels, err := channelsAt(c)
		c.Set(0, append(append(tf.Shape{}, sizes...), channels))
		return err
	}
}

var (
	decodedShape = fileShape(-1, -1)
	framesShape  = fileShape(-1, -1, -1)
)

// anyShape knows the rank only if frames are left out.
func anyShape(c *core.Infer) error {
	err := decodedShape(c)
	if c.Bool("expand_animations") {
		c.Set(0, nil)
	}
	return err
}

func croppedShape(c *core.Infer) error {
	if err := decodedShape(c); err != nil {
		return err
	}
	s, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	if s[0] >= 0 && s[0] != 4 {
		return invalid("Dimension must be 4 but is %d", s[0])
	}
	channels, err := channelsAt(c)
	if w, ok := c.ConstInts(1); ok && len(w) == 4 && w[2] >= 0 && w[3] >= 0 {
		c.Set(0, tf.Shape{w[2], w[3], channels})
	}
	return err
}

// A decoding is how an op decodes files.
type decoding struct {
	op       string
	channels int
	dtype    tf.DType
	still    bool // animations give their first frame
	jpeg     jpeg.Options
}

func newDecoding(n *core.Node) (*decoding, error) {
	d := &decoding{op: n.OpName(), channels: n.Int("channels"), dtype: tf.Uint8, jpeg: jpeg.Options{Ratio: 1, Fancy: true, Fraction: 1}}
	switch n.OpName() {
	case "DecodeJpeg", "DecodeAndCropJpeg":
		if err := d.readJPEGAttrs(n); err != nil {
			return nil, err
		}
	case "DecodePng":
		d.dtype = n.Type("dtype")
	case "DecodeImage":
		d.dtype, d.still = n.Type("dtype"), !n.Bool("expand_animations")
	case "DecodeGif":
		d.channels = 3
	}
	switch d.channels {
	case 0, 1, 3, 4:
		return d, nil
	}
	return nil, invalid("`channels` must be 0, 1, 3 or 4 but got %d", d.channels)
}

func (d *decoding) readJPEGAttrs(n *core.Node) error {
	d.jpeg = jpeg.Options{
		Ratio: n.Int("ratio"), Fancy: n.Bool("fancy_upscaling"), Recover: n.Bool("try_recover_truncated"),
		Fraction: n.Float("acceptable_fraction"), Accurate: n.Str("dct_method") == "INTEGER_ACCURATE",
	}
	switch d.jpeg.Ratio {
	case 1, 2, 4, 8:
	default:
		return invalid("ratio must be 1, 2, 4, or 8, got %d", d.jpeg.Ratio)
	}
	switch n.Str("dct_method") {
	case "", "INTEGER_FAST", "INTEGER_ACCURATE":
		return nil
	}
	return invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
}

func decodeKernel(n *core.Node) (core.Kernel, error) {
	d, err := newDecoding(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		if in.Rank() != 0 {
			return invalid("`contents` must be scalar but got shape%s", in.Shape().String())
		}
		return d.decode(c, core.Data[string](in)[0])
	}), nil
}

// decode decodes a file of any format.
func (d *decoding) decode(c *core.OpContext, data string) error {
	if data == "" {
		return invalid("Input is empty.")
	}
	switch imagefile.FormatOf(data) {
	case imagefile.JPEG:
		return d.decodeJPEG(c, data)
	case imagefile.PNG:
		return d.decodePNG(c, data)
	case imagefile.GIF:
		return d.decodeGIF(c, data)
	case imagefile.BMP:
		return d.decodeBMP(c, data)
	case imagefile.WebP:
		return d.decodeWebP(c, data)
	}
	return invalid("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.")
}

// refuse tells of ops that do not take the format of a file.
func (d *decoding) refuse(format, instead string) error {
	switch d.op {
	case "DecodeBmp":
		return invalid("Trying to decode %s format using DecodeBmp op. Use `%s` or `decode_image` instead.", format, instead)
	case "DecodeAndCropJpeg":
		return invalid("DecodeAndCropJpeg operation can run on JPEG only, but detected %s.", format)
	}
	return nil
}

// shape returns the shape of a single image, which DecodeGif has with frames.
func (d *decoding) shape(height, width, channels int) tf.Shape {
	if d.op == "DecodeGif" {
		return tf.Shape{1, height, width, channels}
	}
	return tf.Shape{height, width, channels}
}

// into makes the output and returns memory to decode bytes into, and what
// converts them.
func (d *decoding) into(c *core.OpContext, s tf.Shape) ([]byte, func(), error) {
	out, err := c.Alloc(0, d.dtype, s)
	if err != nil {
		return nil, nil, err
	}
	if d.dtype == tf.Uint8 {
		return core.Data[uint8](out), func() {}, nil
	}
	pix := core.Make[byte](out.Len())
	return pix, func() { widen(out, pix) }, nil
}

// widen converts bytes to numbers between 0 and 1, or multiplies them by 256.
func widen(out *core.Tensor, pix []byte) {
	if out.DType() == tf.Uint16 {
		for i, v := range pix {
			core.Data[uint16](out)[i] = uint16(v) << 8
		}
		return
	}
	y := core.Data[float32](out)
	elementwise.Cast(y, pix)
	scale(y, 1./255)
}

func scale(y []float32, by float32) {
	for i := range y {
		y[i] *= by
	}
}
