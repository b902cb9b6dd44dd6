package ops

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	convTypes2D  = "half, bfloat16, float, double"
	convWindow2D = "strides: list(int); use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; " +
		"data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]"
	convWindow3D = "strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]"
)

func init() {
	core.Register(core.OpDef{
		Name: "Conv2D", Traits: core.Convolution, In: "input: T; filter: T", Out: "output: T", Attrs: "T: {" + convTypes2D + ", int32}; " + convWindow2D,
		Shape: convShape(4), Expensive: true, Grad: tf.GradFunc(conv2DGrad),
		Kernels: core.ByType("T", merge(convKernels(convolve[float32](4), convolve[float64](4)), byType{tf.Int32: convolve[int32](4)(asItself[int32]())})),
	})
	core.Register(core.OpDef{
		Name: "Conv3D", In: "input: T; filter: T", Out: "output: T", Attrs: "T: {" + convTypes2D + "}; " + convWindow3D,
		Shape: convShape(5), Expensive: true, Grad: tf.GradFunc(conv3DGrad),
		Kernels: core.ByType("T", convKernels(convolve[float32](5), convolve[float64](5))),
	})
}

// Conv2D returns images [batch height width channels] convolved with filters
// [height width channels/groups outputs]. Strides are by dimension; padding is
// "SAME", "VALID" or "EXPLICIT". x and filter have one type, which the result
// keeps: floating-point numbers (float16, bfloat16, float32, float64) or int32.
// strides has four entries, 1 for batch and channels; other strides and
// dilations across these are refused with UNIMPLEMENTED. Dilated filters are
// those of Yu and Koltun (ICLR 2016, arXiv:1511.07122). Other ranks, strides
// below 1, channels that the depth of filter does not divide, a window that
// leaves a negative size and, in the step, an empty filter or outputs that
// the groups do not divide are refused with INVALID_ARGUMENT.
func Conv2D(x, filter tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv2D", tf.Join(opts, window(strides, padding)), x, filter)
}

// Conv3D returns volumes [batch depth height width channels] convolved with
// filters [depth height width channels/groups outputs]. padding is "SAME" or
// "VALID". x and filter have one type, which the result keeps: floating-point
// numbers (float16, bfloat16, float32, float64). strides has five entries, 1
// for batch and channels. Errors are those of Conv2D, but all have the code
// INVALID_ARGUMENT.
func Conv3D(x, filter tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv3D", tf.Join(opts, window(strides, padding)), x, filter)
}

// window sets the attributes that every window has.
func window(strides []int, padding string) tf.Option { return windowOption{strides, padding} }

type windowOption struct {
	strides []int
	padding string
}

// Apply sets the attributes.
func (o windowOption) Apply(s *tf.Spec) {
	s.Set("strides", o.strides)
	s.Set("padding", o.padding)
}

// convKernels returns the kernels of the floating-point types. 16-bit ones are
// computed in float32.
func convKernels(f32 func(computedIn[float32]) core.NewKernel, f64 func(computedIn[float64]) core.NewKernel) byType {
	return byType{
		tf.Float32: f32(asItself[float32]()), tf.Float64: f64(asItself[float64]()),
		tf.Float16: f32(asFloat32[tf.Half]()), tf.BFloat16: f32(asFloat32[tf.BF16]()),
	}
}

func convShape(rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		a, err := windowAttrsOf(c.Node, rank)
		if err != nil {
			return err
		}
		x, err := c.Rank(0, rank)
		if err != nil {
			return err
		}
		w, err := c.Rank(1, rank)
		if err != nil {
			return err
		}
		if in, f := x[a.channel()], w[rank-2]; in >= 0 && f > 0 && in%f != 0 {
			return tf.Errorf(tf.InvalidArgument, "Depth of input must be a multiple of depth of filter: %d channels and %d in the filter", in, f)
		}
		out, err := a.outPositions(a.positions(x), filterSizes(w))
		if err != nil {
			return err
		}
		c.Set(0, a.shape(x[0], w[rank-1], out))
		return nil
	}
}

// filterSizes returns depth, height and width of a filter.
func filterSizes(w tf.Shape) [3]int {
	return imageFormat{rank: len(w)}.positions(append(tf.Shape{1}, w[:len(w)-2]...))
}

// conv describes the convolution of images and filters of the given shapes.
func (a *windowAttrs) conv(x, w tf.Shape) (*conv.Conv, error) {
	v, err := a.filterGradient(x, w)
	if err == nil && v.OutC == 0 {
		return nil, noFilter()
	}
	if err == nil {
		v.Kept = a.kept
	}
	return v, err
}

func noFilter() error {
	return tf.Errorf(tf.InvalidArgument, "filter must not have zero elements (i.e. all dimensions must be non-zero)")
}

// filterGradient is conv for the gradient of the filter, which may be one of no
// outputs.
func (a *windowAttrs) filterGradient(x, w tf.Shape) (*conv.Conv, error) {
	if len(x) != a.rank {
		return nil, tf.Errorf(tf.InvalidArgument, "convolution input must be %d-dimensional: %s", a.rank, x.String())
	}
	if len(w) != a.rank {
		return nil, tf.Errorf(tf.InvalidArgument, "convolution filter must be %d-dimensional: %s", a.rank, w.String())
	}
	in, depth := x[a.channel()], w[a.rank-2]
	switch {
	case w[:a.rank-1].NumElements() == 0:
		return nil, noFilter()
	case in%depth != 0:
		return nil, tf.Errorf(tf.InvalidArgument, "input depth must be evenly divisible by filter depth: %d vs %d", in, depth)
	}
	v := &conv.Conv{Batch: x[0], InC: in, OutC: w[a.rank-1], Groups: max(1, in/depth)}
	if v.OutC%v.Groups != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "output depth must be evenly divisible by number of groups: %d vs %d", v.OutC, v.Groups)
	}
	var err error
	v.Window, err = a.window(a.positions(x), filterSizes(w))
	return v, err
}

func convolve[T numeric.Number](rank int) func(computedIn[T]) core.NewKernel {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			a, err := windowAttrsOf(n, rank)
			if err != nil {
				return nil, err
			}
			if n.Bool(core.ConstantFilter) && k.store == nil {
				a.kept = new(conv.KeptFilters)
			}
			whole := core.Compute(func(c *core.OpContext) error {
				a.use(c.Input(1))
				return convolveAs(c, a, k, k.operand(c, 0), k.operand(c, 1), itself, gemm.Epilogue[T]{})
			})
			if a.channelsFirst || k.store != nil {
				return whole, nil
			}
			return convolveParts[T](a, whole), nil
		}
	}
}

// use tells what is kept of filters which those of this step are. They are held by a reference: whoever
// writes the variable that they are the value of then gives it other memory.
func (a *windowAttrs) use(w *core.Tensor) {
	if a.kept == nil || w.Buffer() == nil || w.Len() == 0 {
		return
	}
	a.kept.Use(unsafe.Pointer(unsafe.SliceData(w.Buffer().Bytes())), func() any { return w.Share() })
}

// A describedConv is the convolution of images and filters of some shapes.
type describedConv struct {
	x, w tf.Shape
	conv *conv.Conv // which does not change
}

// convolveParts lets what follows a convolution be done to parts of it.
func convolveParts[T numeric.Number](a *windowAttrs, whole core.Compute) *core.PartsKernel {
	var last atomic.Pointer[describedConv]
	of := func(c *core.OpContext) (*conv.Conv, error) {
		x, w := c.Input(0).Shape(), c.Input(1).Shape()
		if l := last.Load(); l != nil && slices.Equal(l.x, x) && slices.Equal(l.w, w) {
			return l.conv, nil
		}
		v, err := a.conv(x, w)
		if err == nil {
			last.Store(&describedConv{slices.Clone(x), slices.Clone(w), v})
		}
		return v, err
	}
	return &core.PartsKernel{
		Compute: whole,
		Shape: func(c *core.OpContext) (core.Shape, error) {
			v, err := of(c)
			if err != nil {
				return nil, err
			}
			return a.shape(v.Batch, v.OutC, v.Out), nil
		},
		Into: func(c *core.OpContext, z *core.Tensor, done func(lo, hi int)) {
			if v, err := of(c); err == nil {
				a.use(c.Input(1))
				conv.Convolve(c.ParallelFor, v, core.Data[T](z), core.Data[T](c.Input(0)), core.Data[T](c.Input(1)), gemm.Epilogue[T]{Done: done})
			}
		},
	}
}

// itself leaves a shape as it is.
func itself(s tf.Shape) tf.Shape { return s }

// An operand is what a convolution is computed of, and its shape.
type operand[T any] struct {
	data  []T
	shape tf.Shape
}

// operand returns input i.
func (k computedIn[T]) operand(c *core.OpContext, i int) operand[T] {
	return operand[T]{k.load(c, c.Input(i)), c.Input(i).Shape()}
}

// convolveAs makes output 0 the convolution of images x with the filter w, in
// the shape that as makes of the results' own.
func convolveAs[T numeric.Number](c *core.OpContext, a *windowAttrs, k computedIn[T], x, w operand[T], as func(tf.Shape) tf.Shape, e gemm.Epilogue[T]) error {
	v, err := a.conv(x.shape, w.shape)
	if err != nil {
		return err
	}
	s := a.shape(v.Batch, v.OutC, v.Out)
	out, z, err := k.alloc(c, 0, c.Input(0).DType(), as(s))
	if err != nil {
		return err
	}
	images := channelsLast(c, a.imageFormat, x.data, x.shape)
	ownOrder(c, a.imageFormat, z, s, func(y []T) { conv.Convolve(c.ParallelFor, v, y, images, w.data, e) })
	k.finish(out, z)
	return nil
}
