package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Box is a part of an image, in pixels.
type Box struct{ Y, X, Height, Width int }

// rules are what a box has to keep that an image of the given size, as far as it
// is known, is put in, or cut out of it.
func (b Box) rules(height, width int) []rule {
	return []rule{
		{b.X >= 0, "offset_width must be >= 0."},
		{b.Y >= 0, "offset_height must be >= 0."},
		{b.Width > 0, "target_width must be > 0."},
		{b.Height > 0, "target_height must be > 0."},
		{width < 0 || width >= b.X+b.Width, "width must be >= target + offset."},
		{height < 0 || height >= b.Y+b.Height, "height must be >= target + offset."},
	}
}

// PadToBoundingBox puts images into larger ones of size b.Height and b.Width, at
// b.Y and b.X, with zeros around them.
func PadToBoundingBox(x tf.Output, b Box) tf.Output {
	return scoped(x, "pad_to_bounding_box", func() tf.Output {
		h, w := x.Shape()[first(x)], x.Shape()[first(x)+1]
		err := check(
			rule{b.Y >= 0, "offset_height must be >= 0"}, rule{b.X >= 0, "offset_width must be >= 0"},
			rule{w < 0 || b.Width-b.X-w >= 0, "width must be <= target - offset"},
			rule{h < 0 || b.Height-b.Y-h >= 0, "height must be <= target - offset"})
		if err != nil {
			return failed(x, "PadV2", "%v", err)
		}
		g := x.Graph()
		return pad(x, scalar(g, b.Y), scalar(g, b.X), scalar(g, b.Height), scalar(g, b.Width))
	})
}

// pad puts images into larger ones, whose sizes are scalars.
func pad(x, y, left, height, width tf.Output) tf.Output {
	g, zero := x.Graph(), ops.Scalar(x.Graph(), int32(0))
	var p []tf.Output
	if first(x) == 1 {
		p = append(p, zero, zero)
	}
	below := ops.Sub(ops.Sub(height, y), sizeAt(x, first(x)))
	right := ops.Sub(ops.Sub(width, left), sizeAt(x, first(x)+1))
	p = append(p, y, below, left, right, zero, zero)
	return ops.Pad(x, ops.Reshape(ops.Pack(p), ints(g, len(p)/2, 2)))
}

// CropToBoundingBox returns the part of images that b says, which must lie within them.
func CropToBoundingBox(x tf.Output, b Box) tf.Output {
	return scoped(x, "crop_to_bounding_box", func() tf.Output {
		if err := check(b.rules(x.Shape()[first(x)], x.Shape()[first(x)+1])...); err != nil {
			return failed(x, "Slice", "%v", err)
		}
		g := x.Graph()
		return cut(x, scalar(g, b.Y), scalar(g, b.X), scalar(g, b.Height), scalar(g, b.Width))
	})
}

// cut returns a part of images, which scalars tell.
func cut(x, y, left, height, width tf.Output) tf.Output {
	g := x.Graph()
	zero, all := ops.Scalar(g, int32(0)), ops.Scalar(g, int32(-1))
	begin, size := []tf.Output{y, left, zero}, []tf.Output{height, width, all}
	if first(x) == 1 {
		begin, size = append([]tf.Output{zero}, begin...), append([]tf.Output{all}, size...)
	}
	return ops.Slice(x, ops.Pack(begin), ops.Pack(size))
}

// CentralCrop returns the middle of images: of height and width the given
// fraction, in (0, 1].
func CentralCrop(x tf.Output, fraction float64) tf.Output {
	return scoped(x, "central_crop", func() tf.Output {
		if !(fraction > 0 && fraction <= 1) {
			return failed(x, "Slice", "central_fraction must be within (0, 1]")
		}
		if fraction == 1 {
			return x
		}
		y, height := middle(x, first(x), fraction)
		left, width := middle(x, first(x)+1, fraction)
		return cut(x, y, left, height, width)
	})
}

// middle returns where the middle of a dimension begins and how large it is.
func middle(x tf.Output, d int, fraction float64) (begin, size tf.Output) {
	g := x.Graph()
	if n := x.Shape()[d]; n >= 0 {
		start := int((float64(n) - float64(n)*fraction) / 2)
		return ops.Scalar(g, int32(start)), ops.Scalar(g, int32(n-2*start))
	}
	n := sizeAt(x, d)
	real := ops.Cast(n, tf.Float64)
	left := ops.Sub(real, ops.Mul(real, ops.Scalar(g, fraction)))
	begin = ops.Cast(ops.RealDiv(left, ops.Scalar(g, 2.0)), tf.Int32)
	return begin, ops.Sub(n, ops.Mul(begin, ops.Scalar(g, int32(2))))
}

// ResizeWithCropOrPad makes images of the given height and width: a dimension that is too
// long is cut to its middle, one that is too short gets zeros on both sides.
func ResizeWithCropOrPad(x tf.Output, height, width int) tf.Output {
	return scoped(x, "resize_image_with_crop_or_pad", func() tf.Output {
		if err := check(rule{width > 0, "target_width must be > 0."}, rule{height > 0, "target_height must be > 0."}); err != nil {
			return failed(x, "Slice", "%v", err)
		}
		g := x.Graph()
		h, w := scalar(g, height), scalar(g, width)
		cropY, padY := difference(x, first(x), h)
		cropX, padX := difference(x, first(x)+1, w)
		part := cut(x, cropY, cropX, ops.Minimum(h, sizeAt(x, first(x))), ops.Minimum(w, sizeAt(x, first(x)+1)))
		y := pad(part, padY, padX, h, w)
		want := x.Shape().Clone()
		want[first(x)], want[first(x)+1] = height, width
		return ops.EnsureShape(y, want)
	})
}

// difference returns how much to leave out at the beginning of a dimension to
// get a size, and how much to put there.
func difference(x tf.Output, d int, size tf.Output) (crop, add tf.Output) {
	g := x.Graph()
	zero, two := ops.Scalar(g, int32(0)), ops.Scalar(g, int32(2))
	more := ops.Sub(size, sizeAt(x, d))
	return ops.Maximum(ops.FloorDiv(ops.Neg(more), two), zero), ops.Maximum(ops.FloorDiv(more, two), zero)
}

// RandomCrop returns a part of x, a tensor of any rank, of the given size, from a
// place by chance. Option ops.Seed sets the seed.
func RandomCrop(x tf.Output, size []int, opts ...tf.Option) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	if len(size) != len(x.Shape()) {
		return failed(x, "random_crop", "size %v is of another rank than shape %v", size, x.Shape())
	}
	g := x.Graph()
	g.Scope("random_crop", func() {
		n := ints(g, size...)
		limit := ops.Add(ops.Sub(ops.Shape(x), n), ops.Scalar(g, int32(1)))
		draw := ops.RandomUniformInt(g, []int{len(size)}, 0, 1<<31-1, opts...)
		y = ops.Slice(x, ops.FloorMod(draw, limit), n)
	})
	return y
}
