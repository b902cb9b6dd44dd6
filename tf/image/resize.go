package image

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// A Method is how images are resized.
type Method string

// The methods, by TensorFlow's names.
const (
	Bilinear      Method = "bilinear"
	Nearest       Method = "nearest"
	Bicubic       Method = "bicubic"
	Area          Method = "area"
	Lanczos3      Method = "lanczos3"
	Lanczos5      Method = "lanczos5"
	Gaussian      Method = "gaussian"
	MitchellCubic Method = "mitchellcubic"
)

// ResizeOptions adjust how images are resized. The zero value is Bilinear.
type ResizeOptions struct {
	Method         Method
	PreserveAspect bool // the size is the largest of the images' proportions
	Antialias      bool // all pixels count where images become smaller
	// V1 has pixels where TensorFlow 1's tf.image.resize_images has them: pixel i of an image
	// that becomes s times as large lies at i/s of the old one, and not its middle at the same
	// share of the width. It is for Bilinear, Nearest, Bicubic and Area.
	V1 bool
	// AlignCorners, with V1, has the pixels of corners in the corners.
	AlignCorners bool
}

// Resize returns images of the given height and width, a vector of int32. They
// are float32, but for Nearest. It is TensorFlow 2's tf.image.resize; that of TensorFlow 1,
// also named tf.image.resize_images, gives other numbers: see [ResizeOptions.V1].
func Resize(x, size tf.Output, o ResizeOptions) tf.Output {
	return scoped(x, "resize", func() tf.Output {
		if o.PreserveAspect {
			size = proportional(x, size)
		}
		return batched(x, func(x tf.Output) tf.Output { return o.resize(x, size) })
	})
}

// v1Methods are those of TensorFlow 1, the default among them.
var v1Methods = []Method{"", Bilinear, Nearest, Bicubic, Area}

func (o ResizeOptions) resize(x, size tf.Output) tf.Output {
	pixels := image.ResizeOpts{AlignCorners: o.AlignCorners, HalfPixelCenters: !o.V1}
	switch m := o.Method; {
	case o.AlignCorners && !o.V1:
		return failed(x, "resize", "AlignCorners is an option of TensorFlow 1's way, V1 has to be set too")
	case o.V1 && (o.Antialias || !slices.Contains(v1Methods, m)):
		return failed(x, "resize", "Resize method is not implemented: TensorFlow 1 has %q without Antialias, got %q and %v", v1Methods[1:], m, o.Antialias)
	case (m == Bilinear || m == "") && o.Antialias:
		return o.translate(x, size, "triangle")
	case m == Bilinear || m == "":
		return image.ResizeBilinear(x, size, pixels)
	case m == Nearest:
		return image.ResizeNearestNeighbor(x, size, pixels)
	case m == Bicubic && o.Antialias:
		return o.translate(x, size, "keyscubic")
	case m == Bicubic:
		return image.ResizeBicubic(x, size, pixels)
	case m == Area:
		return image.ResizeArea(x, size, image.ResizeOpts{AlignCorners: o.AlignCorners})
	case slices.Contains([]Method{Lanczos3, Lanczos5, Gaussian, MitchellCubic}, m):
		return o.translate(x, size, string(m))
	}
	return failed(x, "resize", "Resize method is not implemented: %s", o.Method)
}

// translate resizes by a curve.
func (o ResizeOptions) translate(x, size tf.Output, kernel string) tf.Output {
	scale := ops.RealDiv(ops.Cast(size, tf.Float32), ops.Cast(heightAndWidth(x), tf.Float32))
	zeros := ops.Const(x.Graph(), []float32{0, 0}, 2)
	return image.ScaleAndTranslate(x, size, scale, zeros, image.ScaleOpts{Kernel: kernel, Narrow: !o.Antialias})
}

// proportional returns the largest size within the given one that has the
// proportions of the images.
func proportional(x, size tf.Output) tf.Output {
	now := ops.Cast(heightAndWidth(x), tf.Float32)
	factors := ops.RealDiv(ops.Cast(size, tf.Float32), now)
	factor := ops.Min(factors, ops.Scalar(x.Graph(), int32(0)))
	return ops.Cast(ops.Round(ops.Mul(factor, now)), tf.Int32)
}

// ResizeWithPad returns images of the given size in their proportions, in the
// middle, with zeros around them.
func ResizeWithPad(x tf.Output, height, width int, o ResizeOptions) tf.Output {
	return scoped(x, "resize_image_with_pad", func() tf.Output {
		if err := check(rule{width > 0, "target_width must be > 0."}, rule{height > 0, "target_height must be > 0."}); err != nil {
			return failed(x, "Pad", "%v", err)
		}
		g := x.Graph()
		now, target := ops.Cast(heightAndWidth(x), tf.Float32), ops.Const(g, []float32{float32(height), float32(width)}, 2)
		ratio := ops.Max(ops.RealDiv(now, target), ops.Scalar(g, int32(0)))
		fits := ops.RealDiv(now, ratio)
		size := ops.Cast(ops.Floor(fits), tf.Int32)
		margin := ops.Floor(ops.RealDiv(ops.Sub(target, fits), ops.Scalar(g, float32(2))))
		at := ops.Unpack(ops.Maximum(ops.Cast(margin, tf.Int32), ops.Scalar(g, int32(0))), 2)
		o.PreserveAspect = false
		small := batched(x, func(x tf.Output) tf.Output { return o.resize(x, size) })
		y := pad(small, at[0], at[1], scalar(g, height), scalar(g, width))
		want := x.Shape().Clone()
		want[first(x)], want[first(x)+1] = height, width
		return ops.EnsureShape(y, want)
	})
}
