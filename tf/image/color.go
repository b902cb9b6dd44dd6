package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// RGBToHSV returns images of red, green and blue as hue, saturation and
// value. The transform is that of Smith (SIGGRAPH 1978).
func RGBToHSV(x tf.Output) tf.Output { return image.RGBToHSV(x) }

// HSVToRGB undoes RGBToHSV.
func HSVToRGB(x tf.Output) tf.Output { return image.HSVToRGB(x) }

// mixed multiplies the channels of images, in the last dimension, with a matrix
// [channels n].
func mixed(x tf.Output, n int, matrix ...float64) tf.Output {
	g := x.Graph()
	t := core.NewTensor(tf.Float64, tf.Shape{len(matrix) / n, n})
	copy(core.Data[float64](t), matrix)
	m := ops.Cast(ops.ConstValue(g, t), x.DType())
	flat := ops.MatMul(ops.Reshape(x, ints(g, -1, len(matrix)/n)), m)
	all := ops.Shape(x)
	before := ops.Slice(all, ints(g, 0), ints(g, len(x.Shape())-1))
	y := ops.Reshape(flat, ops.ConcatV2([]tf.Output{before, ints(g, n)}, ops.Scalar(g, int32(0))))
	want := x.Shape().Clone()
	want[len(want)-1] = n
	return ops.EnsureShape(y, want)
}

// colored adds what f adds under a name if x has three channels in its last
// dimension.
func colored(x tf.Output, name string, f func() tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	if s := x.Shape(); len(s) == 0 || s[len(s)-1] != 3 && s[len(s)-1] >= 0 {
		return failed(x, name, "images must have 3 channels, got shape %v", s)
	}
	x.Graph().Scope(name, func() { y = f() })
	return y
}

// inFractions is colored for images whose type has fractions: in another one the numbers
// that colors are mixed with would be 0.
func inFractions(x tf.Output, name string, f func() tf.Output) tf.Output {
	if d := x.DType(); x.Err() == nil && !d.IsFloat() && !d.IsComplex() {
		return failed(x, name, "images must be of a floating-point or complex type, got %v: ConvertDType makes them so", d)
	}
	return colored(x, name, f)
}

// RGBToGrayscale returns images with one channel: how bright they are.
func RGBToGrayscale(x tf.Output) tf.Output {
	return colored(x, "rgb_to_grayscale", func() tf.Output {
		shares := ConvertDType(x, tf.Float32, false)
		if shares.Err() != nil { // it has no shape
			return shares
		}
		return ConvertDType(mixed(shares, 1, 0.2989, 0.5870, 0.1140), x.DType(), false)
	})
}

// GrayscaleToRGB returns images of one channel with three equal ones.
func GrayscaleToRGB(x tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	s := x.Shape()
	if len(s) < 2 || s[len(s)-1] != 1 && s[len(s)-1] >= 0 {
		return failed(x, "grayscale_to_rgb", "Last dimension of a grayscale image should be size 1.")
	}
	times := make([]int, len(s))
	for i := range times {
		times[i] = 1
	}
	times[len(s)-1] = 3
	x.Graph().Scope("grayscale_to_rgb", func() { y = ops.Tile(x, ints(x.Graph(), times...)) })
	return y
}

// RGBToYIQ returns images as brightness and the colors of NTSC. Here as below images whose
// type has no fractions are refused with INVALID_ARGUMENT.
func RGBToYIQ(x tf.Output) tf.Output {
	return inFractions(x, "rgb_to_yiq", func() tf.Output {
		return mixed(x, 3, 0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617, 0.114, -0.32134392, 0.31119955)
	})
}

// YIQToRGB undoes RGBToYIQ.
func YIQToRGB(x tf.Output) tf.Output {
	return inFractions(x, "yiq_to_rgb", func() tf.Output {
		return mixed(x, 3, 1, 1, 1, 0.95598634, -0.27201283, -1.10674021, 0.6208248, -0.64720424, 1.70423049)
	})
}

// RGBToYUV returns images as brightness and the colors of PAL.
func RGBToYUV(x tf.Output) tf.Output {
	return inFractions(x, "rgb_to_yuv", func() tf.Output {
		return mixed(x, 3, 0.299, -0.14714119, 0.61497538, 0.587, -0.28886916, -0.51496512, 0.114, 0.43601035, -0.10001026)
	})
}

// YUVToRGB undoes RGBToYUV.
func YUVToRGB(x tf.Output) tf.Output {
	return inFractions(x, "yuv_to_rgb", func() tf.Output {
		return mixed(x, 3, 1, 1, 1, 0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0)
	})
}
