package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "QuantizedBatchNormWithGlobalNormalization",
		In:   "t: Tinput; t_min: float; t_max: float; m: Tinput; m_min: float; m_max: float; v: Tinput; v_min: float; v_max: float; beta: Tinput; beta_min: float; beta_max: float; gamma: Tinput; gamma_min: float; gamma_max: float",
		Out:  "result: out_type; result_min: float; result_max: float", Attrs: "Tinput: " + quantizedTypes + "; out_type: " + quantizedTypes + "; variance_epsilon: float; scale_after_normalization: bool",
		Shape: batchNormShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tinput", byType{tf.QUint8: only(quantizedBatchNorm, map[string]tf.DType{"out_type": tf.QInt32})}),
	})
	core.Register(core.OpDef{
		Name: "QuantizedInstanceNorm", In: "x: T; x_min: float; x_max: float", Out: "y: T; y_min: float; y_max: float",
		Attrs: "T: " + quantizedTypes + "; output_range_given: bool = false; given_y_min: float = 0; given_y_max: float = 0; variance_epsilon: float = 1e-5; min_separation: float = 1e-3",
		Shape: withSpan(1, imagesShape), NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", byType{tf.QUint8: quantizedInstanceNorm}),
	})
}

// BatchNorm holds what QuantizedBatchNormWithGlobalNormalization normalizes by,
// vectors with a number for each channel.
type BatchNorm struct {
	Mean, Variance, Beta, Gamma Quantized
	Epsilon                     float32 // is added to variances
	Scale                       bool    // multiplies by Gamma
}

// QuantizedBatchNormWithGlobalNormalization returns images x of 8 bits without
// sign, less the mean and divided by the standard deviation of their channel,
// in 32 bits that stand for numbers up to 2 to the 20. The method is batch
// normalization (Ioffe and Szegedy, ICML 2015, arXiv:1502.03167). There must
// be two channels or more, as in TensorFlow. Values that are not quint8 are
// refused with NOT_FOUND in the step. Images of other than four dimensions,
// vectors of other lengths than the number of channels, and a single channel
// are refused with INVALID_ARGUMENT, when the graph is built if the shapes
// tell it, else in the step.
func QuantizedBatchNormWithGlobalNormalization(x Quantized, by BatchNorm, opts ...tf.Option) Quantized {
	var in []tf.Output
	for _, q := range []Quantized{x, by.Mean, by.Variance, by.Beta, by.Gamma} {
		in = append(in, q.Values, q.Min, q.Max)
	}
	own := []tf.Option{tf.Attr("out_type", tf.QInt32), tf.Attr("variance_epsilon", by.Epsilon), tf.Attr("scale_after_normalization", by.Scale)}
	return quantizedOf("QuantizedBatchNormWithGlobalNormalization", tf.Join(opts, own...), in...)
}

// InstanceNormOpts are the optional attributes of QuantizedInstanceNorm.
type InstanceNormOpts struct {
	// Min and Max, if not both 0, are the range of the result. It is that of
	// the normalized numbers else, at least MinSeparation wide.
	Min, Max               float32
	Epsilon, MinSeparation float32 // 0 stands for 1e-5 and 1e-3
}

// Apply sets the attributes.
func (o InstanceNormOpts) Apply(s *tf.Spec) {
	if o.Min != 0 || o.Max != 0 {
		s.Set("output_range_given", true)
		s.Set("given_y_min", o.Min)
		s.Set("given_y_max", o.Max)
	}
	if o.Epsilon != 0 {
		s.Set("variance_epsilon", o.Epsilon)
	}
	if o.MinSeparation != 0 {
		s.Set("min_separation", o.MinSeparation)
	}
}

// QuantizedInstanceNorm returns images of 8 bits without sign, each channel
// of each image less its mean and divided by its standard deviation. The
// method is that of Ulyanov, Vedaldi and Lempitsky (arXiv:1607.08022). Images
// have four dimensions. Values that are not quint8 are refused with NOT_FOUND
// in the step. Other shapes are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step; so is, in the step, a range
// whose min is not less than its max. Its options are [InstanceNormOpts].
func QuantizedInstanceNorm(x Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedInstanceNorm", opts, x.Values, x.Min, x.Max)
}

func imagesShape(c *core.Infer) error {
	if _, err := c.Rank(0, 4); err != nil {
		return err
	}
	c.Set(0, c.In(0))
	return nil
}

func batchNormShape(c *core.Infer) error {
	x, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	channels := tf.Shape{x[3]}
	for i := 3; i < c.NumIn(); i += 3 {
		v, err := c.Rank(i, 1)
		if err != nil {
			return err
		}
		both, ok := channels.Merge(v)
		if !ok {
			return invalid("Dimensions must be equal, but are %d and %d", channels[0], v[0])
		}
		channels = both
	}
	c.Set(0, tf.Shape{x[0], x[1], x[2], channels[0]})
	c.Set(1, tf.Shape{})
	c.Set(2, tf.Shape{})
	return nil
}

// batchNormSpan is the range of what QuantizedBatchNormWithGlobalNormalization
// computes.
var batchNormSpan = span{-(1 << 20), 1 << 20}

// batchNormArgs checks the inputs.
func batchNormArgs(c *core.OpContext) error {
	names := []string{"input", "mean", "var", "beta", "gamma"}
	for i := range c.Inputs() {
		if j := i % 3; j > 0 && c.Input(i).Len() != 1 {
			return invalid("%s_%s must have 1 element", names[i/3], []string{"", "min", "max"}[j])
		}
	}
	x, mean := c.Input(0).Shape(), c.Input(3).Shape()
	if len(x) != 4 {
		return invalid("input must be 4-dimensional%s", x.String())
	}
	for i, name := range names[1:] {
		if s := c.Input(3 * (i + 1)).Shape(); len(s) != 1 {
			return invalid("%s must be 1-dimensional%s", name, s.String())
		}
	}
	if mean[0] <= 1 {
		return invalid("Must have at least a mean value%s", c.Input(12).Shape().String())
	}
	if mean[0] != x[3] {
		return invalid("Must provide as many means as the last dimension of the input tensor: %s vs. %s", mean.String(), x.String())
	}
	for i, name := range []string{"variance", "beta", "gamma"} {
		if s := c.Input(6 + 3*i).Shape(); s[0] != mean[0] {
			return invalid("Mean and %s tensors must have the same shape: %s vs. %s", name, mean.String(), s.String())
		}
	}
	return nil
}

func quantizedBatchNorm(n *core.Node) (core.Kernel, error) {
	epsilon, scaled := n.Float("variance_epsilon"), n.Bool("scale_after_normalization")
	return core.Compute(func(c *core.OpContext) error {
		if err := batchNormArgs(c); err != nil {
			return err
		}
		x := c.Input(0)
		out, err := c.Alloc(0, tf.QInt32, x.Shape())
		if err != nil {
			return err
		}
		scale, offset := batchNormFactors(c, epsilon, scaled)
		from, one, own := core.Data[uint8](x), quantized[int32](1, batchNormSpan), requantizedEach(spanAt(c, 1), batchNormSpan)
		to := core.Data[int32](out)
		c.ParallelFor(len(to), grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				ch := i % len(scale)
				to[i] = own[from[i]]*scale[ch]/one + offset[ch]
			}
		})
		return setSpan(c, batchNormSpan)
	}), nil
}

// batchNormFactors returns what each channel is multiplied with and what is
// added then, in numbers of the result's range.
func batchNormFactors(c *core.OpContext, epsilon float32, scaled bool) (scale, offset []int32) {
	at := func(arg, channel int) float32 {
		return meaning(core.Data[uint8](c.Input(3 * arg))[channel], spanAt(c, 3*arg+1))
	}
	for i := range c.Input(3).Len() {
		factor := 1 / float32(math.Sqrt(float64(at(2, i)+epsilon)))
		if scaled {
			factor *= at(4, i)
		}
		scale = append(scale, quantized[int32](factor, batchNormSpan))
		offset = append(offset, quantized[int32](-at(1, i)*factor+at(3, i), batchNormSpan))
	}
	return scale, offset
}

// An instanceNorm holds the attributes of a QuantizedInstanceNorm.
type instanceNorm struct {
	given          bool
	to             span
	epsilon, least float32
}

func quantizedInstanceNorm(n *core.Node) (core.Kernel, error) {
	o := instanceNorm{n.Bool("output_range_given"), span{n.Float("given_y_min"), n.Float("given_y_max")}, n.Float("variance_epsilon"), n.Float("min_separation")}
	if o.given && !(o.to.lo < o.to.hi) {
		return nil, invalid("given_y_min must be less than given_y_max : %.6g >= %.6g", o.to.lo, o.to.hi)
	}
	scalars := inRank0(1, "x_min", "x_max")
	return core.Compute(func(c *core.OpContext) error {
		if err := scalars.check(c); err != nil {
			return err
		}
		x, r := c.Input(0), spanAt(c, 1)
		switch {
		case !(r.lo < r.hi):
			return invalid("input_min must be less than input_max : %.6g >= %.6g", r.lo, r.hi)
		case x.Rank() != 4: // ends the process in TensorFlow
			return invalid("x must be 4-dimensional, got shape %s", x.Shape().String())
		}
		out, err := c.Alloc(0, tf.QUint8, x.Shape())
		if err != nil {
			return err
		}
		normed := o.normalize(c, core.Data[uint8](x), x.Shape(), (r.hi-r.lo)/255)
		to := o.spanOf(normed)
		inQuanta(core.Data[uint8](out), normed, affine{0, 1}, to)
		return setSpan(c, to)
	}), nil
}

// normalize returns x, of shape s and with steps of the given size, normalized.
func (o *instanceNorm) normalize(c *core.OpContext, x []uint8, s tf.Shape, step float32) []float32 {
	if len(x) == 0 {
		return nil // any number of images may have no elements
	}
	y := core.Borrow[float32](c, len(x))
	pixels, channels := s[1]*s[2], s[3]
	c.ParallelFor(s[0], max(1, grain/max(1, pixels*channels)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := i * pixels * channels
			mean, factor := o.moments(x[at:][:pixels*channels], channels, step)
			for k := at; k < at+pixels*channels; k++ {
				ch := (k - at) % channels
				y[k] = step * (float32(x[k]) - mean[ch]) * factor[ch]
			}
		}
	})
	return y
}

// moments returns the mean of each channel of an image, in steps, and one
// divided by the standard deviation.
func (o *instanceNorm) moments(x []uint8, channels int, step float32) (mean, factor []float32) {
	mean, factor = core.Make[float32](channels), core.Make[float32](channels)
	for i, v := range x {
		mean[i%channels] += float32(v)
	}
	n := float32(len(x) / max(1, channels))
	for i := range mean {
		mean[i] /= n
	}
	for i, v := range x {
		d := step * (float32(v) - mean[i%channels])
		factor[i%channels] += d * d
	}
	for i, v := range factor {
		factor[i] = 1 / float32(math.Sqrt(float64(v/n+o.epsilon)))
	}
	return mean, factor
}

// spanOf returns the range for normalized numbers.
func (o *instanceNorm) spanOf(x []float32) span {
	r := o.to
	if !o.given {
		r = span{math.MaxFloat32, -math.MaxFloat32}
		for _, v := range x {
			r.lo, r.hi = min(r.lo, v), max(r.hi, v)
		}
	}
	if r.hi-r.lo < o.least {
		r.hi = r.lo + o.least
	}
	return r
}
