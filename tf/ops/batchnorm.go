package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	normTypes   = "T: {half, bfloat16, float}; "
	normEpsilon = "epsilon: float = 0.0001; "
	normFactor  = normEpsilon + "exponential_avg_factor: float = 1.0; "
	training    = "; is_training: bool = true"
	anyOrders   = "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"
)

func init() {
	const in, out = "x: T; scale: U; offset: U; mean: U; variance: U", "y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U"
	core.Register(core.OpDef{
		Name: "FusedBatchNorm", Traits: core.NormalizesChannels, In: "x: T; scale: T; offset: T; mean: T; variance: T", Out: "y: T; batch_mean: T; batch_variance: T; reserve_space_1: T; reserve_space_2: T",
		Attrs: "T: {float}; " + normFactor + imageOrders + training,
		Shape: batchNormShape, Grad: tf.GradFunc(batchNormGrad), Kernels: core.ByType("T", only(normKernels(), tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "FusedBatchNormV2", Traits: core.NormalizesChannels, In: in, Out: out, Attrs: normTypes + "U: {float}; " + normFactor + imageOrders + training,
		Shape: batchNormShape, Grad: tf.GradFunc(batchNormV2Grad), Kernels: core.ByType("T", normKernels()),
	})
	core.Register(core.OpDef{
		Name: "FusedBatchNormV3", Traits: core.NormalizesChannels, In: in, Out: out + "; reserve_space_3: U", Attrs: normTypes + "U: {bfloat16, float}; " + normFactor + anyOrders + training,
		Shape: batchNormShape, Grad: tf.GradFunc(batchNormV3Grad), Kernels: core.ByType("T", normKernels()),
	})
}

// BatchNormOpts are the optional attributes of FusedBatchNormV3. Its zero
// value trains with TensorFlow's defaults.
type BatchNormOpts struct {
	Epsilon float32 // 0 stands for 0.0001
	// AverageFactor is the share of the batch in the averages that training
	// returns; 0 stands for 1, the batch alone.
	AverageFactor float32
	DataFormat    string
	// Inference normalizes by the given mean and variance.
	Inference bool
}

// Apply sets the attributes.
func (o BatchNormOpts) Apply(s *tf.Spec) {
	if o.Epsilon != 0 {
		s.Set("epsilon", o.Epsilon)
	}
	if o.AverageFactor != 0 {
		s.Set("exponential_avg_factor", o.AverageFactor)
	}
	if o.DataFormat != "" {
		s.Set("data_format", o.DataFormat)
	}
	s.Set("is_training", !o.Inference)
}

// FusedBatchNormV3 normalizes each channel of x to mean 0 and variance 1,
// then scales and shifts it. The method is batch normalization (Ioffe and
// Szegedy, ICML 2015, arXiv:1502.03167). In training mean and variance are
// those of x, and come back as outputs 1 and 2, averaged with the given ones
// if so asked. x has four or five dimensions and holds float16, bfloat16 or
// float32 numbers; scale, offset, mean and variance are float32 vectors with
// an element for each channel. Training reads mean and variance only if
// AverageFactor is not 1. There are six outputs: y, of the shape and type of
// x, the mean, the variance, estimated for what the batch was drawn from, the
// mean and the variance that y was made with, and a scalar 0. Other shapes
// are refused with INVALID_ARGUMENT, those of mean and variance in the step,
// and vectors of bfloat16 with NOT_FOUND in the step.
// Its options are [BatchNormOpts].
func FusedBatchNormV3(x, scale, offset, mean, variance tf.Output, opts ...tf.Option) []tf.Output {
	return tf.Apply(nil, "FusedBatchNormV3", []tf.Output{x, scale, offset, mean, variance}, opts...).Outputs()
}

// batchNormShape serves the forward ops.
func batchNormShape(c *core.Infer) error {
	x := c.In(0).Clone()
	channels := -1
	if x != nil {
		if len(x) != 4 && len(x) != 5 {
			return tf.Errorf(tf.InvalidArgument, "Shape must be rank 4 or 5: x has shape %v", x)
		}
		axis := imageFormatOf(c.Node, len(x)).channel()
		for i := 1; i < 3; i++ {
			s, err := c.Rank(i, 1)
			if err != nil {
				return err
			}
			n, ok := mergedDim(x[axis], s[0])
			if !ok {
				return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal: x has %d channels, input %d has %d", x[axis], i, s[0])
			}
			x[axis] = n
		}
		channels = x[axis]
	}
	c.Set(0, x)
	for i := 1; i < min(c.NumOut(), 5); i++ {
		c.Set(i, tf.Shape{channels})
	}
	return nil
}

// batchNormKernels returns the kernels of the types of images. Everything is
// computed in float32.
func batchNormKernels(run func(c *core.OpContext, k computedIn[float32]) error) byType {
	with := func(k computedIn[float32]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			if u := n.Type("U"); u != tf.Invalid && u != tf.Float32 {
				return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with attr U = %v; types supported: float32", n.OpName(), u)
			}
			return core.Compute(func(c *core.OpContext) error { return run(c, k) }), nil
		}
	}
	return byType{tf.Float32: with(asItself[float32]()), tf.Float16: with(asFloat32[tf.Half]()), tf.BFloat16: with(asFloat32[tf.BF16]())}
}

// normKernels returns the kernels of normalization. What normalizes float32 images with the
// channels last can be joined with what reads it, by given moments also with what it reads.
func normKernels() byType {
	all := batchNormKernels(batchNorm)
	whole := all[tf.Float32]
	all[tf.Float32] = func(n *core.Node) (core.Kernel, error) {
		k, err := whole(n)
		run, ok := core.AsCompute(k)
		if err != nil || !ok || n.Str("data_format")[1] == 'C' {
			return k, err
		}
		var of core.Compute
		if n.Bool("is_training") {
			of = momentsOfNorm
		}
		return &core.ChannelKernel{Compute: run, Moments: of, Factor: factorOfNorm, Apply: &core.ElementKernel{Compute: applyNorm, Shape: appliedShape, Loop: normLoop, Lanes: normLanes}}, nil
	}
	return all
}

// momentsOfNorm is the kernel of all that training computes beside its result.
func momentsOfNorm(c *core.OpContext) error {
	x := c.Input(0)
	_, b, err := normOf(c.Node, x.Shape())
	if err != nil {
		return err
	}
	a, err := normArgsOf(c, b.C)
	if err != nil {
		return err
	}
	m, err := momentOutputs(c, 0, b.C)
	if err != nil {
		return err
	}
	m.train(c, b, a, core.Data[float32](x))
	return nil
}

// factorOfNorm is the kernel of what images are scaled by.
func factorOfNorm(c *core.OpContext) error {
	scale, offset, mean, variance := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	for _, v := range []*core.Tensor{scale, offset, mean, variance} {
		if v.Rank() != 1 || v.Len() != scale.Len() {
			return tf.Errorf(tf.InvalidArgument, "scale, offset, mean and variance must be vectors of the same length, got %v, %v, %v and %v", scale.Shape(), offset.Shape(), mean.Shape(), variance.Shape())
		}
	}
	z, err := c.Alloc(0, tf.Float32, scale.Shape())
	if err != nil {
		return err
	}
	b := normalization.BatchNorm{C: scale.Len(), Epsilon: c.Node.Float("epsilon")}
	b.Factors(core.Data[float32](z), core.Data[float32](scale), core.Data[float32](variance))
	return nil
}

// appliedShape is the shape of images that are moved and scaled by vectors, which have equally many
// elements: so says factorOfNorm. Images may contradict the graph: what the op says of them by
// itself is said here.
func appliedShape(_ *core.Node, in []core.Shape) (core.Shape, error) {
	x := in[0]
	if err := checkImages(x); err != nil {
		return nil, err
	}
	for _, v := range in[1:] {
		if channels := x[len(x)-1]; len(v) != 1 || v[0] != channels {
			return nil, otherChannels("", "scale", v.NumElements(), channels)
		}
	}
	return x, nil
}

// checkImages refuses what are no images, or volumes.
func checkImages(s tf.Shape) error {
	if len(s) != 4 && len(s) != 5 {
		return tf.Errorf(tf.InvalidArgument, "input must be 4 or 5-dimensional%s", s.String())
	}
	return nil
}

// otherChannels is the error of a vector that has not an element for each channel.
func otherChannels(when, name string, n, channels int) error {
	return tf.Errorf(tf.InvalidArgument, "%s%s must have the same number of elements as the channels of x, got %d and %d", when, name, n, channels)
}

func applyNorm(c *core.OpContext) error {
	x := c.Input(0)
	if _, err := appliedShape(c.Node, []core.Shape{x.Shape(), c.Input(1).Shape(), c.Input(2).Shape(), c.Input(3).Shape()}); err != nil {
		return err
	}
	z, err := c.AllocFrom(0, 0, tf.Float32, x.Shape())
	if err != nil {
		return err
	}
	channels := c.Input(1).Len()
	b := normalization.BatchNorm{Rows: x.Len() / max(1, channels), C: channels}
	b.Apply(c.ParallelFor, core.Data[float32](z), core.Data[float32](x), core.Data[float32](c.Input(1)), core.Data[float32](c.Input(2)), core.Data[float32](c.Input(3)))
	return nil
}

func normLoop(z []byte, in []core.Operand) {
	f := core.Elements[float32]
	normalization.Apply(f(z), f(in[0].Data), f(in[1].Data), f(in[2].Data), f(in[3].Data))
}

func normLanes(c *core.LaneCode, in []core.LaneValue) (core.LaneValue, bool) {
	return c.Add(c.Mul(c.Sub(in[0], in[1]), in[2]), in[3]), true
}

// normOf checks the images and describes their normalization.
func normOf(n *core.Node, s tf.Shape) (imageFormat, *normalization.BatchNorm, error) {
	f := imageFormatOf(n, len(s))
	if err := checkImages(s); err != nil {
		return f, nil, err
	}
	c := s[f.channel()]
	return f, &normalization.BatchNorm{Rows: product(s) / max(1, c), C: c, Epsilon: n.Float("epsilon")}, nil
}

// channelVector returns input i, which has to hold a number for each of the
// channels; when says under which circumstances.
func channelVector(c *core.OpContext, i int, name, when string, channels int) ([]float32, error) {
	t := c.Input(i)
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "%s must be 1-dimensional%s", name, t.Shape().String())
	}
	if t.Len() != channels {
		return nil, otherChannels(when, name, t.Len(), channels)
	}
	return core.Data[float32](t), nil
}

// normArgs are the vectors that normalization takes.
type normArgs struct{ scale, offset, mean, variance []float32 }

func normArgsOf(c *core.OpContext, channels int) (a normArgs, err error) {
	if a.scale, err = channelVector(c, 1, "scale", "", channels); err != nil {
		return a, err
	}
	if a.offset, err = channelVector(c, 2, "offset", "", channels); err != nil {
		return a, err
	}
	when := "When is_training=false, "
	if c.Node.Bool("is_training") {
		if c.Node.Float("exponential_avg_factor") == 1 {
			return a, nil
		}
		when = "When exponential_avg_factor != 1, "
	}
	if a.mean, err = channelVector(c, 3, "mean", when, channels); err != nil {
		return a, err
	}
	a.variance, err = channelVector(c, 4, "variance", when, channels)
	return a, err
}

func batchNorm(c *core.OpContext, k computedIn[float32]) error {
	return batchNormThen(c, k, func([]float32) {})
}

// batchNormThen lets then change what has been normalized.
func batchNormThen(c *core.OpContext, k computedIn[float32], then func(y []float32)) error {
	x := c.Input(0)
	f, b, err := normOf(c.Node, x.Shape())
	if err != nil {
		return err
	}
	a, err := normArgsOf(c, b.C)
	if err != nil {
		return err
	}
	out, z, err := k.alloc(c, 0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	m, err := momentOutputs(c, 1, b.C)
	if err != nil {
		return err
	}
	images := channelsLast(c, f, k.load(c, x), x.Shape())
	if c.Node.Bool("is_training") {
		m.train(c, b, a, images)
	} else {
		copy(m.mean, a.mean)
		copy(m.variance, a.variance)
		copy(m.savedMean, a.mean)
		copy(m.savedVariance, a.variance)
	}
	ownOrder(c, f, z, x.Shape(), func(y []float32) {
		b.Normalize(c.ParallelFor, y, images, a.scale, a.offset, m.savedMean, m.savedVariance)
	})
	then(z)
	k.finish(out, z)
	return nil
}

// moments are what normalization returns beside its result.
type moments struct{ mean, variance, savedMean, savedVariance []float32 }

// momentOutputs allocates them, from the given output on.
func momentOutputs(c *core.OpContext, first, channels int) (m moments, err error) {
	for i, dst := range []*[]float32{&m.mean, &m.variance, &m.savedMean, &m.savedVariance} {
		t, err := c.Alloc(first+i, tf.Float32, tf.Shape{channels})
		if err != nil {
			return m, err
		}
		*dst = core.Data[float32](t)
	}
	if last := first + 4; len(c.Out) > last {
		t, err := c.Alloc(last, tf.Float32, tf.Shape{})
		if err != nil {
			return m, err
		}
		clear(core.Data[float32](t))
	}
	return m, nil
}

// train computes the moments of the batch and what becomes of the averages:
// those estimate the variance of what the batch was drawn from.
func (m moments) train(c *core.OpContext, b *normalization.BatchNorm, a normArgs, x []float32) {
	b.Moments(c.ParallelFor, m.savedMean, m.savedVariance, x)
	copy(m.mean, m.savedMean)
	if b.Rows == 0 { // no averages follow from nothing
		nan := float32(math.NaN())
		for i := range m.mean {
			m.mean[i], m.variance[i] = nan, nan
		}
		return
	}
	elementwise.MulScalar(m.variance, m.savedVariance, float32(b.Rows)/float32(max(1, b.Rows-1)))
	if f := c.Node.Float("exponential_avg_factor"); f != 1 {
		for i := range m.mean {
			m.mean[i] = (1-f)*a.mean[i] + f*m.mean[i]
			m.variance[i] = (1-f)*a.variance[i] + f*m.variance[i]
		}
	}
}
