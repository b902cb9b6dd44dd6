package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "ResizeNearestNeighbor", In: "images: T; size: int32", Out: "resized_images: T", Attrs: "T: {" + imageTypes + "}; " + resizeAttrs,
		Shape: resizeShape, Grad: tf.GradFunc(nearestGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Int8: nearest[int8], tf.Uint8: nearest[uint8], tf.Int16: nearest[int16], tf.Uint16: nearest[uint16], tf.Int32: nearest[int32], tf.Int64: nearest[int64],
			tf.Float16: nearest[tf.Half], tf.BFloat16: nearest[tf.BF16], tf.Float32: nearest[float32], tf.Float64: nearest[float64],
		}),
	})
	core.Register(core.OpDef{
		Name: "ResizeNearestNeighborGrad", In: "grads: T; size: int32", Out: "output: T",
		Attrs: "T: {uint8, int8, int32, half, float, double, bfloat16}; " + resizeAttrs,
		Shape: resizeShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Int8: nearestBack[int8], tf.Uint8: nearestBack[uint8], tf.Int32: nearestBack[int32], tf.Float32: nearestBack[float32], tf.Float64: nearestBack[float64],
			tf.Float16: nearestBackHalf, tf.BFloat16: nearestBackHalf,
		}),
	})
}

// ResizeNearestNeighbor returns images with the given height and width, whose
// pixels are the nearest of the old ones. images are [batch height width
// channels] with integers of 8, 16, 32 or 64 bits but uint32 and uint64, or
// floating-point numbers (float16, bfloat16, float32, float64); the result is
// [batch size[0] size[1] channels] of their type. size is an int32 vector of
// two positive elements. Other shapes are refused with INVALID_ARGUMENT, when
// the graph is built if they are known, else in the step. Images without
// pixels, and ResizeOpts with both AlignCorners and HalfPixelCenters, are
// refused with INVALID_ARGUMENT in the step.
func ResizeNearestNeighbor(images, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("ResizeNearestNeighbor", opts, images, size)
}

// nearestPixel returns the old pixel that pixel i of the new images is.
func (r resizing) nearestPixel(i int) int {
	at := float32(i) * r.scale
	if r.halfPixels {
		at = (float32(i) + 0.5) * r.scale
	}
	if r.aligned {
		return within(int(math.Round(float64(at))), r.in)
	}
	return within(floor(at), r.in)
}

// eachNearest calls f for every pixel of new images: number to of them is
// number from of the old ones.
func eachNearest(batch int, rows, columns resizing, f func(to, from int)) {
	to := 0
	for b := range batch {
		for y := range rows.out {
			line := (b*rows.in + rows.nearestPixel(y)) * columns.in
			for x := range columns.out {
				f(to, line+columns.nearestPixel(x))
				to++
			}
		}
	}
}

func nearest[T tf.Elem](n *core.Node) (core.Kernel, error) {
	if err := checkCenters(n); err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		s, h, w, err := resizeArgs(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), tf.Shape{s[0], h, w, s[3]})
		if err != nil {
			return err
		}
		if out.Len() == 0 {
			return nil
		}
		y, x := core.Data[T](out), core.Data[T](c.Input(0))
		rows, columns := newResizing(n, s[1], h).nearestPixels(), newResizing(n, s[2], w).nearestPixels()
		line, width := w*s[3], s[2]*s[3]
		c.ParallelFor(s[0]*h, max(1, grain/line), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dst, row := y[i*line:(i+1)*line], rows[i%h]
				if i > lo && i%h > 0 && row == rows[i%h-1] {
					copy(dst, y[(i-1)*line:])
				} else {
					takePixels(dst, x[(i/h*s[1]+row)*width:][:width], columns, s[3])
				}
			}
		})
		return nil
	}), nil
}

// nearestPixels returns nearestPixel of all new pixels.
func (r resizing) nearestPixels() []int {
	at := core.Make[int](r.out)
	for i := range at {
		at[i] = r.nearestPixel(i)
	}
	return at
}

// takePixels sets a new row to pixels of an old one.
func takePixels[T any](y, x []T, columns []int, depth int) {
	for o, at := range columns {
		dst, src := y[o*depth:][:depth], x[at*depth:][:depth]
		if depth > fewChannels {
			copy(dst, src)
			continue
		}
		for c := range dst { // few are copied one by one in less time
			dst[c] = src[c]
		}
	}
}

// nearestBackArgs describes how the images whose gradient is asked for were
// resized.
func nearestBackArgs(c *core.OpContext) (s tf.Shape, rows, columns resizing, err error) {
	g := c.Input(0).Shape()
	if len(g) != 4 {
		return nil, rows, columns, invalid("input must be 4-dimensional%s", g.String())
	}
	h, w, err := vector2(c.Input(1), "shape_t")
	if err != nil {
		return nil, rows, columns, err
	}
	if h <= 0 || w <= 0 {
		return nil, rows, columns, invalid("shape_t's elements must be positive")
	}
	s = tf.Shape{g[0], h, w, g[3]}
	return s, newResizing(c.Node, h, g[1]), newResizing(c.Node, w, g[2]), checkProduct(s)
}

func nearestBack[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		s, rows, columns, err := nearestBackArgs(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), s)
		if err != nil {
			return err
		}
		addNearest(c, core.Data[T](out), core.Data[T](c.Input(0)), s, rows, columns)
		return nil
	}), nil
}

func nearestBackHalf(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		s, rows, columns, err := nearestBackArgs(c)
		if err != nil {
			return err
		}
		dx, store, err := output(c, 0, c.Input(0).DType(), s)
		if err != nil {
			return err
		}
		addRounded(dx, inFloat32(c, c.Input(0)), s, rows, columns, roundingOf(c.Input(0).DType()))
		store()
		return nil
	}), nil
}

// addRounded is addNearest for numbers of 16 bits: each sum is rounded.
func addRounded(dx, dy []float32, s tf.Shape, rows, columns resizing, round func(float32) float32) {
	clear(dx)
	depth := s[3]
	eachNearest(s[0], rows, columns, func(from, to int) {
		sum := dx[to*depth : (to+1)*depth]
		for i, v := range dy[from*depth : (from+1)*depth] {
			sum[i] = round(sum[i] + v)
		}
	})
}

// addNearest adds the gradients of new pixels to those that they were taken from, each old pixel
// in one go: the new ones of it are a window. Sums of zeros are +0.
func addNearest[T numeric.Real](c *core.OpContext, dx, dy []T, s tf.Shape, rows, columns resizing) {
	depth, above, beside := s[3], startsOf(rows), startsOf(columns)
	line := columns.out * depth
	c.ParallelFor(s[0]*rows.in, max(1, grain/max(1, rows.out*line/rows.in)), func(lo, hi int) {
		var pixels []int
		for i := lo; i < hi; i++ {
			first, r := i/rows.in*rows.out, i%rows.in
			to := dx[i*columns.in*depth:][:columns.in*depth]
			for o := range columns.in {
				pixels = pixels[:0]
				for y := above[r]; y < above[r+1]; y++ {
					for x := beside[o]; x < beside[o+1]; x++ {
						pixels = append(pixels, (first+y)*line+x*depth)
					}
				}
				pool.SumPixels(to[o*depth:][:depth], dy, pixels)
			}
			for k := range to {
				to[k] += 0
			}
		}
	})
}

// startsOf returns the first new pixel that is taken from each old one or a later one.
func startsOf(r resizing) []int {
	starts, at := core.Make[int](r.in+1), r.nearestPixels()
	o := 0
	for i := range starts {
		for o < len(at) && at[o] < i {
			o++
		}
		starts[i] = o
	}
	return starts
}

func nearestGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x := op.Input(0)
	o := ResizeOpts{op.Bool("align_corners"), op.Bool("half_pixel_centers")}
	return tf.Grads(apply("ResizeNearestNeighborGrad", []tf.Option{o}, dy[0], heightAndWidth(x)), tf.Output{})
}

// heightAndWidth returns those sizes of images as a vector.
func heightAndWidth(x tf.Output) tf.Output {
	g := x.Graph()
	if s := x.Shape(); len(s) == 4 && s[1] >= 0 && s[2] >= 0 {
		return ops.Const(g, []int32{int32(s[1]), int32(s[2])}, 2)
	}
	begin, size := ops.Const(g, []int32{1}, 1), ops.Const(g, []int32{2}, 1)
	return ops.Slice(ops.Shape(x), begin, size)
}
