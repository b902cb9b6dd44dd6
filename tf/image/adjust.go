package image

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// greatest returns the greatest number of integers.
func greatest(d tf.DType) float64 {
	bits := 8*d.Size() - 1
	switch d {
	case tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64:
		bits++
	}
	return math.Ldexp(1, bits) - 1
}

// ConvertDType converts images: integers up to the greatest of their type are
// numbers from 0 to 1 in types that have fractions. With saturate what is beyond
// the type becomes its nearest number.
func ConvertDType(x tf.Output, d tf.DType, saturate bool) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	if x.DType() == d {
		return ops.Identity(x)
	}
	for _, d := range []tf.DType{x.DType(), d} {
		if !d.IsFloat() && !d.IsInteger() {
			return failed(x, "convert_image", "dtype must be either floating point or integer, got %v", d)
		}
	}
	x.Graph().Scope("convert_image", func() { y = converted(x, d, saturate) })
	return y
}

func converted(x tf.Output, d tf.DType, saturate bool) tf.Output {
	cast := ops.Cast
	if saturate {
		cast = saturated
	}
	from, to := x.DType(), d
	switch {
	case from.IsFloat() && to.IsFloat():
		return ops.Cast(x, d)
	case from.IsFloat():
		return cast(ops.Mul(x, as(x, greatest(to)+0.5)), d)
	case to.IsFloat():
		y := ops.Cast(x, d)
		return ops.Mul(y, as(y, 1/greatest(from)))
	case greatest(from) > greatest(to):
		return cast(ops.FloorDiv(x, as(x, math.Ldexp(1, bitsOf(from)-bitsOf(to)))), d)
	}
	y := cast(x, d)
	return ops.Mul(y, as(y, math.Ldexp(1, bitsOf(to)-bitsOf(from))))
}

// bitsOf returns the bits of numbers that are not negative.
func bitsOf(d tf.DType) int { return int(math.Round(math.Log2(greatest(d) + 1))) }

// saturated casts; what is beyond the type becomes its nearest number.
func saturated(x tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	low, high := lowest(d), greatest(d)
	if x.DType().IsInteger() {
		low, high = max(low, lowest(x.DType())), min(high, greatest(x.DType()))
	}
	if x.DType() == tf.Float32 || x.DType() == tf.Float16 || x.DType() == tf.BFloat16 {
		high = below(high) // what float32 rounds up to is beyond
	}
	return ops.Cast(ops.ClipByValue(x, as(x, low), as(x, high)), d, opts...)
}

func lowest(d tf.DType) float64 {
	switch d {
	case tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64:
		return 0
	}
	return -greatest(d) - 1
}

// below returns the greatest float32 that is not above v.
func below(v float64) float64 {
	f := float32(v)
	if float64(f) > v {
		f = math.Nextafter32(f, 0)
	}
	return float64(f)
}

// inFloats calls f with images in float32, unless they are of that or half
// precision, and converts what it returns back.
func inFloats(x tf.Output, name string, saturate bool, f func(x tf.Output) tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	d := x.DType()
	x.Graph().Scope(name, func() {
		if d != tf.Float16 && d != tf.Float32 {
			x = ConvertDType(x, tf.Float32, false)
		}
		y = ConvertDType(f(x), d, saturate)
	})
	return y
}

// AdjustBrightness adds delta, a scalar, to images, where 1 is full brightness.
func AdjustBrightness(x, delta tf.Output) tf.Output {
	return inFloats(x, "adjust_brightness", true, func(x tf.Output) tf.Output { return ops.Add(x, ops.Cast(delta, x.DType())) })
}

// AdjustContrast multiplies the distance of each channel from its mean by factor,
// a scalar of float32.
func AdjustContrast(x, factor tf.Output) tf.Output {
	return inFloats(x, "adjust_contrast", true, func(x tf.Output) tf.Output { return image.AdjustContrastv2(x, factor) })
}

// AdjustGamma returns gain · x to the power of gamma. A negative gamma is refused with
// INVALID_ARGUMENT.
func AdjustGamma(x tf.Output, gamma, gain float64) tf.Output {
	if !(gamma >= 0) {
		return failed(x, "adjust_gamma", "Gamma should be a non-negative real number.")
	}
	return inFloats(x, "adjust_gamma", true, func(x tf.Output) tf.Output {
		return ops.Mul(as(x, gain), ops.Pow(x, as(x, gamma)))
	})
}

// AdjustHue turns the hue of images by delta, a scalar of float32: 1 is a full
// turn.
func AdjustHue(x, delta tf.Output) tf.Output {
	return inFloats(x, "adjust_hue", false, func(x tf.Output) tf.Output { return image.AdjustHue(x, delta) })
}

// AdjustSaturation multiplies the saturation of images by factor, a scalar of
// float32.
func AdjustSaturation(x, factor tf.Output) tf.Output {
	return inFloats(x, "adjust_saturation", false, func(x tf.Output) tf.Output { return image.AdjustSaturation(x, factor) })
}

// AdjustJPEGQuality returns an image [height width channels] as it comes out of a
// JPEG file of the given quality, a scalar of int32 from 0 to 100.
func AdjustJPEGQuality(x, quality tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	d, channels := x.DType(), 0
	if s := x.Shape(); len(s) == 3 {
		channels = max(0, s[2])
	}
	x.Graph().Scope("adjust_jpeg_quality", func() {
		file := image.EncodeJpegVariableQuality(ConvertDType(x, tf.Uint8, true), quality)
		y = ConvertDType(image.DecodeJpeg(file, image.JPEGOpts{Channels: channels}), d, true)
	})
	return y
}

// uniform draws a scalar in [low, high).
func uniform(g *tf.Graph, low, high float64, opts []tf.Option) tf.Output {
	u := ops.RandomUniform(g, tf.Shape{}, tf.Float32, opts...)
	return ops.Add(ops.Mul(u, ops.Scalar(g, float32(high-low))), ops.Scalar(g, float32(low)))
}

// RandomBrightness adds a number from -delta to delta, by chance. Here as below
// option ops.Seed sets the seed.
func RandomBrightness(x tf.Output, delta float64, opts ...tf.Option) tf.Output {
	if delta < 0 {
		return failed(x, "random_brightness", "max_delta must be non-negative.")
	}
	return AdjustBrightness(x, uniform(x.Graph(), -delta, delta, opts))
}

// checkRange checks the limits of a factor.
func checkRange(low, high float64) error {
	return check(rule{high > low, "upper must be > lower."}, rule{low >= 0, "lower must be non-negative."})
}

// RandomContrast is AdjustContrast by a factor from low to high.
func RandomContrast(x tf.Output, low, high float64, opts ...tf.Option) tf.Output {
	if err := checkRange(low, high); err != nil {
		return failed(x, "random_contrast", "%v", err)
	}
	return AdjustContrast(x, uniform(x.Graph(), low, high, opts))
}

// RandomSaturation is AdjustSaturation by a factor from low to high.
func RandomSaturation(x tf.Output, low, high float64, opts ...tf.Option) tf.Output {
	if err := checkRange(low, high); err != nil {
		return failed(x, "random_saturation", "%v", err)
	}
	return AdjustSaturation(x, uniform(x.Graph(), low, high, opts))
}

// RandomHue is AdjustHue by a number from -delta to delta, which is at most 0.5.
func RandomHue(x tf.Output, delta float64, opts ...tf.Option) tf.Output {
	if err := check(rule{delta <= 0.5, "max_delta must be <= 0.5."}, rule{delta >= 0, "max_delta must be non-negative."}); err != nil {
		return failed(x, "random_hue", "%v", err)
	}
	return AdjustHue(x, uniform(x.Graph(), -delta, delta, opts))
}

// RandomJPEGQuality is AdjustJPEGQuality by a quality from low to below high.
func RandomJPEGQuality(x tf.Output, low, high int, opts ...tf.Option) tf.Output {
	err := check(
		rule{low >= 0 && high >= 0 && low <= 100 && high <= 100, "jpeg encoding range must be between 0 and 100."},
		rule{low < high, "`min_jpeg_quality` must be less than `max_jpeg_quality`."})
	if err != nil {
		return failed(x, "random_jpeg_quality", "%v", err)
	}
	g := x.Graph()
	shape := ops.ConstValue(g, core.NewTensor(tf.Int32, tf.Shape{0}))
	return AdjustJPEGQuality(x, ops.RandomUniformInt(g, shape, low, high, opts...))
}
