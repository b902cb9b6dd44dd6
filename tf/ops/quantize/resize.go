package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "QuantizedResizeBilinear", In: "images: T; size: int32; min: float; max: float", Out: "resized_images: T; out_min: float; out_max: float",
		Attrs: "T: {quint8, qint32, float}; align_corners: bool = false; half_pixel_centers: bool = false",
		Shape: withSpan(2, resizeShape), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.QUint8:  quantizedResize(fixedBilinear[uint8](7)),
			tf.QInt32:  quantizedResize(fixedBilinear[int32](30)),
			tf.Float32: quantizedResize(bilinear),
		}),
	})
}

// ResizeOpts are the optional attributes of QuantizedResizeBilinear: where the
// pixels of images of different sizes meet. By default their first corners do.
type ResizeOpts struct{ AlignCorners, HalfPixelCenters bool }

// Apply sets the attributes.
func (o ResizeOpts) Apply(s *tf.Spec) {
	s.Set("align_corners", o.AlignCorners)
	s.Set("half_pixel_centers", o.HalfPixelCenters)
}

// QuantizedResizeBilinear returns images with the given height and width,
// whose pixels are means of the four nearest, and the same range. They are of
// 8 bits without sign, of 32 bits, or not quantized. Images have four
// dimensions, and size, an int32 vector, two elements. The values are quint8,
// qint32 or float32; other shapes, images without pixels or channels, and a
// height or width that is not positive are refused with INVALID_ARGUMENT, when
// the graph is built if the shapes are known, else in the step.
// Its options are [ResizeOpts].
func QuantizedResizeBilinear(images Quantized, size tf.Output, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedResizeBilinear", opts, images.Values, size, images.Min, images.Max)
}

func resizeShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	if _, err := c.Rank(1, 1); err != nil {
		return err
	}
	size := c.ConstShape(1)
	switch {
	case size == nil:
		size = tf.Shape{-1, -1}
	case len(size) != 2:
		return invalid("Dimension must be 2 but is %d", len(size))
	}
	c.Set(0, tf.Shape{s[0], size[0], size[1], s[3]})
	return nil
}

// A point lies between two positions of an image, so far from the first one.
type point struct {
	lower, upper int
	past         float32
}

// points returns where the positions of a resized dimension are in the old one.
func points(n *core.Node, in, out int) []point {
	scale := float32(in) / float32(out)
	if n.Bool("align_corners") && out > 1 {
		scale = float32(in-1) / float32(out-1)
	}
	half := n.Bool("half_pixel_centers")
	all := core.Make[point](out)
	for i := range all {
		at := float32(i) * scale
		if half {
			at = (float32(i)+0.5)*scale - 0.5
		}
		floor := float32(math.Floor(float64(at)))
		upper := min(int(math.Ceil(float64(at))), in-1)
		all[i] = point{min(max(int(floor), 0), upper), upper, at - floor}
	}
	return all
}

// resizeArgs checks the inputs and returns the result's shape.
func resizeArgs(c *core.OpContext) (tf.Shape, error) {
	for i, name := range []string{"min", "max"} {
		if c.Input(2+i).Rank() != 0 {
			return nil, invalid("%s must be a scalar", name)
		}
	}
	s, size := c.Input(0).Shape(), c.Input(1)
	switch {
	case len(s) != 4:
		return nil, invalid("input must be 4-dimensional%s", s.String())
	case s[3] == 0:
		return nil, invalid("image must have at least one channel")
	case s[1] == 0 || s[2] == 0:
		return nil, invalid("input image must be of non-zero size")
	case size.Rank() != 1:
		return nil, invalid("shape_t must be 1-dimensional%s", size.Shape().String())
	case size.Len() != 2:
		return nil, invalid("shape_t must have two elements%s", size.Shape().String())
	}
	h, w := int(core.Data[int32](size)[0]), int(core.Data[int32](size)[1])
	if h <= 0 || w <= 0 {
		return nil, invalid("output dimensions must be positive")
	}
	return tf.Shape{s[0], h, w, s[3]}, nil
}

// quantizedResize makes the kernel whose pixels mix computes: y from two rows
// and a column's point, for all channels.
func quantizedResize[T float32 | uint8 | int32](mix func(row, column point, y, upper, lower []T, channels int)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			s, err := resizeArgs(c)
			if err != nil {
				return err
			}
			x := c.Input(0)
			out, err := c.Alloc(0, x.DType(), s)
			if err != nil {
				return err
			}
			r := spanAt(c, 2)
			if in := x.Shape(); s.Equal(in) {
				copy(core.Data[T](out), core.Data[T](x))
			} else if out.Len() > 0 {
				rows, columns := points(n, in[1], s[1]), points(n, in[2], s[2])
				resizeRows(c, core.Data[T](out), core.Data[T](x), in, rows, columns, mix)
			}
			return setSpan(c, r)
		}), nil
	}
}

// resizeRows computes the rows of y from images x of shape s.
func resizeRows[T any](c *core.OpContext, y, x []T, s tf.Shape, rows, columns []point, mix func(row, column point, y, upper, lower []T, channels int)) {
	channels, line := s[3], s[2]*s[3]
	width := len(columns) * channels
	c.ParallelFor(s[0]*len(rows), max(1, grain/width), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			image, row := i/len(rows)*s[1], rows[i%len(rows)]
			first, second := x[(image+row.lower)*line:][:line], x[(image+row.upper)*line:][:line]
			for k, column := range columns {
				mix(row, column, y[i*width+k*channels:][:channels], first, second, channels)
			}
		}
	})
}

// fixedBilinear computes with fractions of so many bits.
func fixedBilinear[Q uint8 | int32](bits int) func(row, column point, y, upper, lower []Q, channels int) {
	one := int64(1) << bits
	fraction := func(p point) int64 { return int64(int32(p.past * float32(one))) }
	return func(row, column point, y, upper, lower []Q, channels int) {
		fx, fy := fraction(column), fraction(row)
		at, next := column.lower*channels, column.upper*channels
		for ch := range y {
			a, b := throughFloat32(upper[at+ch]), throughFloat32(lower[at+ch])
			top := a*one + (throughFloat32(upper[next+ch])-a)*fx
			bottom := b*one + (throughFloat32(lower[next+ch])-b)*fx
			y[ch] = Q(int32((top + (bottom-top)/one*fy + one/2) / one))
		}
	}
}

// bilinear computes with numbers as they are.
func bilinear(row, column point, y, upper, lower []float32, channels int) {
	at, next := column.lower*channels, column.upper*channels
	for ch := range y {
		top := upper[at+ch] + (upper[next+ch]-upper[at+ch])*column.past
		bottom := lower[at+ch] + (lower[next+ch]-lower[at+ch])*column.past
		y[ch] = top + (bottom-top)*row.past
	}
}
