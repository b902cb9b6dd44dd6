package summary

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"strconv"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	const badColor = "bad_color: tensor = uint8[255, 0, 0, 255]"
	register("ImageSummary", "tag: string; tensor: T", "max_images: int >= 1 = 3; T: {uint8, float, half, double} = DT_FLOAT; "+badColor, core.AnyType(imageSummary))
}

// ImageOpts are the optional attributes of ImageSummary.
type ImageOpts struct {
	MaxImages int        // 0: 3
	BadColor  *tf.Tensor // a vector of uint8: for pixels that are no numbers; nil: red
}

// Apply sets the attributes.
func (o ImageOpts) Apply(s *tf.Spec) {
	if o.MaxImages != 0 {
		s.Set("max_images", o.MaxImages)
	}
	if o.BadColor != nil {
		s.Set("bad_color", o.BadColor)
	}
}

// ImageSummary returns a summary of the first images of a batch [n, height,
// width, channels] of 1, 3 or 4 channels. Images of uint8 are taken as they
// are. Others are scaled: to 0…255 if there is nothing negative in them, else
// so that zero is in the middle. The tag is a scalar. Pixels that are NaN or
// infinite get the color BadColor. The result is a scalar string, a serialized
// Summary with files in PNG. Images are uint8, float16, float32 or float64;
// another shape, a tag that is no scalar and a color of fewer numbers than
// channels are refused with INVALID_ARGUMENT in the step.
// Its options are [ImageOpts].
func ImageSummary(tag, tensor tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("ImageSummary", []tf.Output{tag, tensor}, opts)
}

func imageSummary(n *core.Node) (core.Kernel, error) {
	limit, bad := n.Int("max_images"), n.TensorAttr("bad_color")
	if limit >= 1<<31 {
		return nil, tf.Errorf(tf.InvalidArgument, "max_images must be < 2^31")
	}
	if bad.DType() != tf.Uint8 {
		return nil, tf.Errorf(tf.InvalidArgument, "bad_color must be uint8, got %s", bad.DType().CName())
	}
	if err := checkBadColor(bad); err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		tag, err := scalarText(c, 0, "Tags must be a scalar")
		if err != nil {
			return err
		}
		values, err := images(tag, c.Input(1), limit, core.Data[uint8](bad))
		if err != nil {
			return err
		}
		return set(c, values...)
	}), nil
}

func checkBadColor(t *core.Tensor) error {
	if t.Rank() != 1 {
		return tf.Errorf(tf.InvalidArgument, "bad_color must be a vector, got shape %s", t.Shape().String())
	}
	return nil
}

// images returns the values of a summary of the first images of a batch.
func images(tag string, t *core.Tensor, limit int, bad []uint8) ([]*pb.Summary_Value, error) {
	s := t.Shape()
	if len(s) != 4 || s[3] != 1 && s[3] != 3 && s[3] != 4 {
		return nil, tf.Errorf(tf.InvalidArgument, "Tensor must be 4-D with last dim 1, 3, or 4, not %s", s.String())
	}
	if max(s[0], s[1], s[2]) >= 1<<31 || s[1]*s[2] >= 1<<29 {
		return nil, tf.Errorf(tf.InvalidArgument, "Tensor too large for summary %s", s.String())
	}
	if t.DType() != tf.Uint8 && len(bad) < s[3] {
		return nil, tf.Errorf(tf.InvalidArgument, "expected depth <= bad_color.size, got depth = %d, bad_color.size = %d", s[3], len(bad))
	}
	var out []*pb.Summary_Value
	for i := range min(limit, s[0]) {
		file, err := encoded(pixels(t, i, s[3], bad), s[1], s[2], s[3])
		if err != nil {
			return nil, tf.Errorf(tf.Internal, "PNG encoding failed")
		}
		out = append(out, &pb.Summary_Value{Tag: numbered(tag, "image", i, limit), Value: &pb.Summary_Value_Image{Image: &pb.Summary_Image{
			Height: int32(s[1]), Width: int32(s[2]), Colorspace: int32(s[3]), EncodedImageString: file,
		}}})
	}
	return out, nil
}

// numbered returns the tag of one of several values. How many there may be
// counts, not how many there are.
func numbered(tag, kind string, i, limit int) string {
	if limit > 1 {
		return tag + "/" + kind + "/" + strconv.Itoa(i)
	}
	return tag + "/" + kind
}

// encoded returns the file of an image.
func encoded(data []byte, h, w, channels int) ([]byte, error) {
	r := image.Rect(0, 0, w, h)
	var m image.Image = &image.Gray{Pix: data, Stride: w, Rect: r}
	if channels == 3 {
		data = opaque(data)
	}
	if channels > 1 {
		m = &image.NRGBA{Pix: data, Stride: 4 * w, Rect: r}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// opaque gives colors the fourth channel.
func opaque(rgb []byte) []byte {
	out := core.Make[byte](len(rgb) / 3 * 4)[:0]
	for ; len(rgb) > 0; rgb = rgb[3:] {
		out = append(append(out, rgb[:3]...), 0xff)
	}
	return out
}

// pixels returns image i of a batch.
func pixels(t *core.Tensor, i, channels int, bad []uint8) []uint8 {
	n := t.Len() / t.Dim(0)
	switch lo, hi := i*n, (i+1)*n; t.DType() {
	case tf.Float32:
		return scaled(core.Data[float32](t)[lo:hi], channels, bad, func(v, scale, offset float32) float32 { return float32(v*scale) + offset })
	case tf.Float64:
		return scaled(core.Data[float64](t)[lo:hi], channels, bad, func(v float64, scale, offset float32) float32 {
			return float32(math.Trunc(float64(v*float64(scale)) + float64(offset)))
		})
	case tf.Float16:
		return scaledHalves(core.Data[tf.Half](t)[lo:hi], channels, bad)
	default:
		return core.Data[uint8](t)[lo:hi]
	}
}

// scaledHalves computes with halves, which round after every step.
func scaledHalves(data []tf.Half, channels int, bad []uint8) []uint8 {
	round := func(v float32) float32 { return numeric.HalfFromFloat32(v).Float32() }
	wide := core.Make[float32](len(data))
	for i, v := range data {
		wide[i] = v.Float32()
	}
	return scaled(wide, channels, bad, func(v, scale, offset float32) float32 { return round(round(v*round(scale)) + offset) })
}

// scaled makes numbers bytes, as transform says. Pixels that have something else
// than numbers are bad.
func scaled[T float32 | float64](data []T, channels int, bad []uint8, transform func(v T, scale, offset float32) float32) []uint8 {
	scale, offset := spread(data, channels)
	out := core.Make[uint8](len(data))
	for i := 0; i < len(data); i += channels {
		if pixel := data[i : i+channels]; !finite(pixel) {
			copy(out[i:i+channels], bad)
			continue
		}
		for k := i; k < i+channels; k++ {
			out[k] = uint8(int32(transform(data[k], scale, offset)))
		}
	}
	return out
}

func finite[T float32 | float64](pixel []T) bool {
	for _, v := range pixel {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return false
		}
	}
	return true
}

// spread returns how the numbers of an image are to be scaled and moved.
func spread[T float32 | float64](data []T, channels int) (scale, offset float32) {
	lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
	for i := 0; i < len(data); i += channels {
		if pixel := data[i : i+channels]; finite(pixel) {
			for _, v := range pixel {
				lo, hi = min(lo, float32(v)), max(hi, float32(v))
			}
		}
	}
	const threshold = 1e-6 // what is smaller is as good as zero
	limit, end := hi, float32(255)
	if lo < 0 {
		limit, end, offset = max(-lo, max(hi, -hi)), 127, 128
	}
	if limit >= threshold {
		scale = end / limit
	}
	return scale, offset
}
