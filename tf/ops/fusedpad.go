package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "mode: {'REFLECT', 'SYMMETRIC'}; strides: list(int); padding: {'SAME', 'VALID'}"
	core.Register(core.OpDef{
		Name: "FusedPadConv2D", In: "input: T; paddings: int32; filter: T", Out: "output: T", Attrs: "T: {" + convTypes2D + "}; " + attrs,
		Shape: fusedPadShape(1), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", convKernels(fusedPad[float32](1), fusedPad[float64](1))),
	})
	core.Register(core.OpDef{
		Name: "FusedResizeAndPadConv2D", In: "input: T; size: int32; paddings: int32; filter: T", Out: "output: T",
		Attrs: "T: {half, float, double}; resize_align_corners: bool = false; " + attrs,
		Shape: fusedPadShape(2), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", only(convKernels(fusedPad[float32](2), fusedPad[float64](2)), tf.Float16, tf.Float32, tf.Float64)),
	})
}

// FusedPadConv2D is Conv2D of images with their mirror image around them, as
// MirrorPad does it: paddings is int32 [4,2], mode Reflect or Symmetric. x
// [batch height width channels] and filter [height width channels outputs]
// hold floating-point numbers (float16, bfloat16, float32, float64) of one
// type; padding is "SAME" or "VALID". Paddings that are negative, larger than
// their dimension allows or not 0 for batch and channels are refused with
// INVALID_ARGUMENT in the step, as are an x or a result without elements.
// Other ranks, and strides other than 1 for batch or channels, are refused
// with that code. No gradient is defined.
func FusedPadConv2D(x, paddings, filter tf.Output, mode string, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("FusedPadConv2D", tf.Join(opts, tf.Attr("mode", mode), window(strides, padding)), x, paddings, filter)
}

// FusedResizeAndPadOpts are the optional attributes of FusedResizeAndPadConv2D.
type FusedResizeAndPadOpts struct {
	// AlignCorners makes the centers of the pixels in the corners meet.
	AlignCorners bool
}

// Apply sets the attribute.
func (o FusedResizeAndPadOpts) Apply(s *tf.Spec) { s.Set("resize_align_corners", o.AlignCorners) }

// FusedResizeAndPadConv2D is FusedPadConv2D of images that are resized first,
// bilinearly, to size: height and width.
// Its options are [FusedResizeAndPadOpts]. size is an int32 vector of two
// positive numbers; others are refused with INVALID_ARGUMENT in the step. x
// and filter hold float16, float32 or float64. Other shapes and errors are
// those of FusedPadConv2D.
func FusedResizeAndPadConv2D(x, size, paddings, filter tf.Output, mode string, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("FusedResizeAndPadConv2D", tf.Join(opts, tf.Attr("mode", mode), window(strides, padding)), x, size, paddings, filter)
}

// fusedPadShape serves both ops; input pads holds the paddings.
func fusedPadShape(pads int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		a, err := windowAttrsOf(c.Node, 4)
		if err != nil {
			return err
		}
		x, err := c.Rank(0, 4)
		if err != nil {
			return err
		}
		w, err := c.Rank(pads+1, 4)
		if err != nil {
			return err
		}
		s := x.Clone()
		if pads == 2 {
			s[1], s[2] = -1, -1
			if size, ok := c.ConstInts(1); ok && len(size) == 2 {
				s[1], s[2] = size[0], size[1]
			}
		}
		p, ok := c.ConstInts(pads)
		for i := range s {
			if !ok || len(p) != 8 || s[i] < 0 {
				s[i] = -1
				continue
			}
			s[i] += p[2*i] + p[2*i+1]
		}
		out, err := a.outPositions(a.positions(s), filterSizes(w))
		c.Set(0, a.shape(x[0], w[3], out))
		return err
	}
}

func fusedPad[T numeric.Float](pads int) func(computedIn[T]) core.NewKernel {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			a, err := windowAttrsOf(n, 4)
			if err != nil {
				return nil, err
			}
			align, offset := n.Bool("resize_align_corners"), mirrorOffset(n)
			return core.Compute(func(c *core.OpContext) error {
				x := k.operand(c, 0)
				if len(x.data) == 0 {
					return tf.Errorf(tf.InvalidArgument, "Input tensor can't be empty")
				}
				if pads == 2 {
					if x, err = resized(c, x, align); err != nil {
						return err
					}
				}
				return padAndConvolve(c, a, k, x, pads, offset)
			}), nil
		}
	}
}

// padAndConvolve makes output 0 the convolution of images x, padded, with the
// input after that of the paddings.
func padAndConvolve[T numeric.Float](c *core.OpContext, a *windowAttrs, k computedIn[T], x operand[T], pads, offset int) error {
	m, err := fusedMirror(c.Input(pads), x.shape, offset)
	if err != nil {
		return err
	}
	w := k.operand(c, pads+1)
	switch {
	case len(w.shape) != 4:
		return tf.Errorf(tf.InvalidArgument, "filter must be 4-dimensional: %s", w.shape.String())
	case x.shape[3] != w.shape[2]:
		return tf.Errorf(tf.InvalidArgument, "input and filter must have the same depth: %d vs %d", x.shape[3], w.shape[2])
	}
	s := m.shape()
	if v, err := a.conv(s, w.shape); err != nil {
		return err
	} else if a.shape(v.Batch, v.OutC, v.Out).NumElements() == 0 {
		return tf.Errorf(tf.InvalidArgument, "Output tensor can't be empty")
	}
	if err := core.CheckSize(tf.Float64, s); err != nil {
		return err
	}
	padded := core.Borrow[T](c, s.NumElements())
	clear(padded)
	m.fill(c, func(to, from, n int) { copy(padded[to:to+n], x.data[from:from+n]) })
	return convolveAs(c, a, k, operand[T]{padded, s}, w, itself, gemm.Epilogue[T]{})
}

// fusedMirror reads the paddings of images of shape s.
func fusedMirror(t *core.Tensor, s tf.Shape, offset int) (*mirror, error) {
	switch {
	case t.Rank() != 2 || t.Dim(1) != 2:
		return nil, tf.Errorf(tf.InvalidArgument, "paddings must be a matrix with 2 columns: %s", t.Shape().String())
	case t.Dim(0) != len(s):
		return nil, tf.Errorf(tf.InvalidArgument, "The first dimension of paddings must be the rank of inputs: %d %s %s", len(s), t.Shape().String(), s.String())
	case len(s) != 4:
		return nil, tf.Errorf(tf.InvalidArgument, "Fused mirror padding only supports four-dimensional inputs, but %d requested", len(s))
	}
	p := core.Data[int32](t)
	before, after := make([]int, 4), make([]int, 4)
	for i, n := range s {
		before[i], after[i] = int(p[2*i]), int(p[2*i+1])
		if before[i] < 0 || after[i] < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "paddings must be non-negative: %d %d", before[i], after[i])
		}
		if before[i] > n-offset || after[i] > n-offset {
			return nil, badMirror(offset, "dimension size", before[i], after[i], n)
		}
	}
	for i, name := range map[int]string{0: "batches", 3: "channels"} {
		if before[i]|after[i] != 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Fused mirror padding only support spatial padding, not %s: %s", name, t)
		}
	}
	return newMirror(s, before, after, offset), nil
}

// resized returns images in the size that input 1 tells.
func resized[T numeric.Float](c *core.OpContext, x operand[T], align bool) (y operand[T], err error) {
	t := c.Input(1)
	switch {
	case len(x.shape) != 4:
		return y, tf.Errorf(tf.InvalidArgument, "input must be 4-dimensional%s", x.shape.String())
	case t.Rank() != 1:
		return y, tf.Errorf(tf.InvalidArgument, "shape_t must be 1-dimensional%s", t.Shape().String())
	case t.Len() != 2:
		return y, tf.Errorf(tf.InvalidArgument, "shape_t must have two elements%s", t.Shape().String())
	}
	h, w := int(core.Data[int32](t)[0]), int(core.Data[int32](t)[1])
	if h <= 0 || w <= 0 {
		return y, tf.Errorf(tf.InvalidArgument, "output dimensions must be positive")
	}
	s := tf.Shape{x.shape[0], h, w, x.shape[3]}
	if err := checkProduct(s); err != nil {
		return y, err
	}
	room, err := c.Temp(tf.Float64, s) // refuses what the machine cannot hold
	if err != nil {
		return y, err
	}
	room.Release()
	y = operand[T]{core.Borrow[T](c, s.NumElements()), s}
	bilinear(c, y, x, placesOf(x.shape[1], h, align), placesOf(x.shape[2], w, align))
	return y, nil
}

// A place is where a new pixel lies between two old ones.
type place struct {
	low, high int
	lerp      float32
}

// placesOf returns where each of n new pixels lies among in old ones.
func placesOf(in, n int, align bool) []place {
	scale := float32(in) / float32(n)
	if align && n > 1 {
		scale = float32(in-1) / float32(n-1)
	}
	out := core.Make[place](n)
	for i := range out {
		at := float32(i) * scale
		low := min(int(math.Floor(float64(at))), in-1)
		out[i] = place{low, min(low+1, in-1), at - float32(low)}
	}
	return out
}

// bilinear computes y from images x.
func bilinear[T numeric.Float](c *core.OpContext, y, x operand[T], rows, columns []place) {
	channels, line := x.shape[3], x.shape[2]*x.shape[3]
	c.ParallelFor(y.shape[0]*len(rows), max(1, elementGrain/(len(columns)*channels)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			image, row := x.data[i/len(rows)*x.shape[1]*line:], rows[i%len(rows)]
			top, bottom := image[row.low*line:][:line], image[row.high*line:][:line]
			dst := y.data[i*len(columns)*channels:][:len(columns)*channels]
			for j, p := range columns {
				blend(dst[j*channels:][:channels], top, bottom, p, channels, T(row.lerp))
			}
		}
	})
}

// blend sets a pixel to the mean of the four around it.
func blend[T numeric.Float](dst, top, bottom []T, p place, channels int, down T) {
	l, r, right := p.low*channels, p.high*channels, T(p.lerp)
	for ch := range dst {
		above := top[l+ch] + (top[r+ch]-top[l+ch])*right
		below := bottom[l+ch] + (bottom[r+ch]-bottom[l+ch])*right
		dst[ch] = above + (below-above)*down
	}
}
