package ops

import (
	"math"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// _FusedConv2D and its like are what TensorFlow's optimizer makes of
// convolutions and what follows them: BiasAdd or batch normalization, and an
// activation. No program writes them, but graphs that were optimized elsewhere
// contain them.
func init() {
	const fused = "; fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2"
	core.Register(core.OpDef{
		Name: "_FusedConv2D", In: "input: T; filter: T; args: TArgs; host_args: num_host_args * float", Out: "output: T",
		Attrs: "T: {half, float, double, int8, qint8}; TArgs: list(type) >= 1; num_args: int >= 0; num_host_args: int >= 0 = 0; strides: list(int); " +
			"padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'; " +
			"filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'; dilations: list(int) = [1, 1, 1, 1]; use_cudnn_on_gpu: bool = true" + fused,
		Shape: convShape(4), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", merge(only(convKernels(fusedConvolve[float32](4), fusedConvolve[float64](4)), tf.Float16, tf.Float32, tf.Float64), byType{tf.Int8: fusedConvBytes, tf.QInt8: fusedConvBytes})),
	})
	core.Register(core.OpDef{
		Name: "_FusedConv3D", In: "input: T; filter: T; args: num_args * T", Out: "output: T",
		Attrs: "T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; " +
			"data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]; padding_list: list(int) = []" + fused,
		Shape: convShape(5), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", only(convKernels(fusedConvolve[float32](5), fusedConvolve[float64](5)), tf.Float16, tf.BFloat16, tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "_FusedDepthwiseConv2dNative", In: "input: T; filter: T; args: num_args * T", Out: "output: T",
		Attrs: "T: {" + convTypes2D + "}; num_args: int >= 0; strides: list(int); padding: {'SAME', 'VALID'}; " +
			"data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]" + fused,
		Shape: depthwiseShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", only(convKernels(fusedDepthwise[float32], fusedDepthwise[float64]), tf.Float16, tf.BFloat16, tf.Float32)),
	})
}

// A fusion is what follows a convolution in one op: an affine map of each
// channel and perhaps an activation.
type fusion[T numeric.Float] struct {
	norm     bool // batch normalization by given moments, not the addition of a bias
	epsilon  T
	activate func([]T)
}

// fusionOf reads what follows a convolution, which messages call kind.
func fusionOf[T numeric.Float](n *core.Node, kind string) (*fusion[T], error) {
	fused, args := n.Strs("fused_ops"), n.Int("num_args")
	if len(fused) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Fused %s must have at least one fused op.", kind)
	}
	f := &fusion[T]{norm: fused[0] == "FusedBatchNorm", epsilon: T(n.Float("epsilon"))}
	if len(fused) == 2 {
		f.activate = activations(T(n.Float("leakyrelu_alpha")))[fused[1]]
	}
	switch {
	case !f.norm && fused[0] != "BiasAdd" || len(fused) > 2 || len(fused) == 2 && f.activate == nil:
		return nil, tf.Errorf(tf.Unimplemented, "Fusion is not implemented: [%s]", strings.Join(fused, ","))
	case !f.norm && args != 1:
		return nil, tf.Errorf(tf.InvalidArgument, "Fused %s with BiasAdd must have one extra argument: bias.", kind)
	case f.norm && args != 4:
		return nil, tf.Errorf(tf.InvalidArgument, "Fused %s with FusedBatchNorm must have four extra arguments: scale, offset, mean, variance.", kind)
	}
	return f, nil
}

// args returns the further inputs, each of which has a number for each channel.
func (f *fusion[T]) args(c *core.OpContext, k computedIn[T], channels int) ([][]T, error) {
	names := []string{"bias"}
	if f.norm {
		names = []string{"scale", "offset", "estimated_mean", "estimated_variance"}
	}
	if c.Inputs() < 2+len(names) {
		return nil, tf.Errorf(tf.InvalidArgument, "%d extra arguments expected, got %d", len(names), c.Inputs()-2)
	}
	out := make([][]T, len(names))
	for i, name := range names {
		t := c.Input(2 + i)
		switch {
		case t.DType() != c.Input(0).DType():
			return nil, tf.Errorf(tf.InvalidArgument, "%s must be of type %s, got %s", name, c.Input(0).DType().CName(), t.DType().CName())
		case t.Rank() != 1:
			return nil, tf.Errorf(tf.InvalidArgument, "%s must be 1-dimensional%s", name, t.Shape().String())
		case t.Len() != channels:
			return nil, tf.Errorf(tf.InvalidArgument, "%s must have an element for each of %d channels, got %d", name, channels, t.Len())
		}
		out[i] = k.load(c, t)
	}
	return out, nil
}

// apply returns the filter to convolve with and what to do to the results.
// Normalization is a factor and a bias for each channel: the filter takes the
// factor.
func (f *fusion[T]) apply(c *core.OpContext, k computedIn[T], channels int) (w []T, e gemm.Epilogue[T], err error) {
	args, err := f.args(c, k, channels)
	if err != nil {
		return nil, e, err
	}
	w, e.Activate = k.load(c, c.Input(1)), f.activate
	if !f.norm {
		e.Bias = args[0]
		return w, e, nil
	}
	factor, bias := core.Make[T](channels), core.Make[T](channels)
	for i := range factor {
		factor[i] = args[0][i] / T(math.Sqrt(float64(args[3][i]+f.epsilon)))
		bias[i] = args[1][i] - args[2][i]*factor[i]
	}
	scaled := make([]T, len(w))
	for lo := 0; lo < len(w); lo += channels {
		elementwise.Mul(scaled[lo:lo+channels], w[lo:lo+channels], factor)
	}
	e.Bias = bias
	return scaled, e, nil
}

func fusedConvolve[T numeric.Float](rank int) func(computedIn[T]) core.NewKernel {
	kind := map[int]string{4: "Conv2D", 5: "Conv3D"}[rank]
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			f, err := fusionOf[T](n, kind)
			if err != nil {
				return nil, err
			}
			if format := n.Str("filter_format"); format != "" && format != "HWIO" || n.Str("data_format") == "NCHW_VECT_C" {
				return nil, tf.Errorf(tf.Unimplemented, "Fused conv implementation only supports NHWC tensor format for now.")
			}
			a, err := windowAttrsOf(n, rank)
			if err != nil {
				return nil, err
			}
			return core.Compute(func(c *core.OpContext) error { return fusedInputs(c, a, k, f) }), nil
		}
	}
}

func fusedInputs[T numeric.Float](c *core.OpContext, a *windowAttrs, k computedIn[T], f *fusion[T]) error {
	x := c.Input(0).Shape()
	v, err := a.conv(x, c.Input(1).Shape())
	if err != nil {
		return err
	}
	if v.Groups != 1 {
		return tf.Errorf(tf.Unimplemented, "Fused conv implementation does not support grouped convolutions for now.")
	}
	w, e, err := f.apply(c, k, v.OutC)
	if err != nil {
		return err
	}
	return convolveAs(c, a, k, k.operand(c, 0), operand[T]{w, c.Input(1).Shape()}, itself, e)
}

func fusedDepthwise[T numeric.Float](k computedIn[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		f, err := fusionOf[T](n, "DepthwiseConv2dNative")
		if err != nil {
			return nil, err
		}
		a, err := depthwiseAttrs(n)
		if err != nil {
			return nil, err
		}
		return core.Compute(func(c *core.OpContext) error {
			s := c.Input(1).Shape()
			if len(s) != 4 {
				return tf.Errorf(tf.InvalidArgument, "filter must be 4-dimensional: %s", s.String())
			}
			w, e, err := f.apply(c, k, s[2]*s[3])
			if err != nil {
				return err
			}
			return depthwiseWith(c, a, k, w, e)
		}), nil
	}
}
