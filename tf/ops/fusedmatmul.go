package ops

import (
	"math"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// _FusedMatMul is what TensorFlow's optimizer makes of MatMul, BiasAdd and an
// activation. No program writes it, but graphs that were optimized elsewhere
// contain it.
func init() {
	core.Register(core.OpDef{
		Name: "_FusedMatMul", In: "a: T; b: T; args: num_args * T", Out: "product: T",
		Attrs: "transpose_a: bool = false; transpose_b: bool = false; T: {bfloat16, half, float}; num_args: int >= 0; " +
			"fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
		Shape: matMulShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.Float32: fusedMatMul(dataOf[float32], nil),
			tf.Float16: fusedMatMul(wide[tf.Half], narrowTo[tf.Half]), tf.BFloat16: fusedMatMul(wide[tf.BF16], narrowTo[tf.BF16]),
		}),
	})
}

// fusedMatMul computes in float32; store, if not nil, rounds to the elements
// of the result.
func fusedMatMul(load func(*core.OpContext, *core.Tensor) []float32, store func(*core.Tensor, []float32)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		ta, tb := n.Bool("transpose_a"), n.Bool("transpose_b")
		activate, err := fusedActivation(n)
		if err != nil {
			return nil, err
		}
		return core.Compute(func(c *core.OpContext) error {
			g, err := matMulArgs(c, ta, tb)
			if err != nil {
				return err
			}
			if s := c.Input(2).Shape(); len(s) != 1 || s[0] != g.N {
				return tf.Errorf(tf.InvalidArgument, "bias must be 1-dimensional and match the columns of the product %s, got %s", tf.Shape{g.M, g.N}.String(), s.String())
			}
			out, err := c.Alloc(0, c.Input(0).DType(), tf.Shape{g.M, g.N})
			if err != nil {
				return err
			}
			z := outputOf(c, out, store)
			gemm.MatMul(c.ParallelFor, g, z, load(c, c.Input(0)), load(c, c.Input(1)), gemm.Epilogue[float32]{Bias: load(c, c.Input(2)), Activate: activate})
			if store != nil {
				store(out, z)
			}
			return nil
		}), nil
	}
}

// outputOf returns the memory to compute in.
func outputOf(c *core.OpContext, t *core.Tensor, store func(*core.Tensor, []float32)) []float32 {
	if store != nil {
		return core.Borrow[float32](c, t.Len())
	}
	return core.Data[float32](t)
}

func narrowTo[H interface {
	numeric.HalfFloat
	tf.Elem
}](t *core.Tensor, z []float32) {
	elementwise.Narrow(core.Data[H](t), z)
}

// fusedActivation returns the activation that follows BiasAdd, nil if none does.
func fusedActivation(n *core.Node) (func([]float32), error) {
	fused := n.Strs("fused_ops")
	switch {
	case len(fused) == 0 || len(fused) > 2 || fused[0] != "BiasAdd" || n.Int("num_args") != 1:
		return nil, tf.Errorf(tf.Unimplemented, "fused operations must be BiasAdd with one argument and at most one activation, got [%s] with %d", strings.Join(fused, ","), n.Int("num_args"))
	case len(fused) == 1:
		return nil, nil
	}
	if f := activations(n.Float("leakyrelu_alpha"))[fused[1]]; f != nil {
		return f, nil
	}
	return nil, tf.Errorf(tf.Unimplemented, "Unknown fused activation %q", fused[1])
}

// activations returns what can follow a product, by name.
func activations[T numeric.Float](alpha T) map[string]func([]T) {
	return map[string]func(x []T){
		"Relu":            func(x []T) { elementwise.Relu(x, x) },
		"Relu6":           func(x []T) { relu6(x, x) },
		"Elu":             func(x []T) { elementwise.Elu(x, x) },
		"LeakyRelu":       func(x []T) { kernel.Map(x, x, func(v T) T { return leaky(v, alpha) }) },
		"Tanh":            func(x []T) { elementwise.Tanh(x, x) },
		"Sigmoid":         func(x []T) { elementwise.Sigmoid(x, x) },
		"GeluExact":       func(x []T) { elementwise.MapFloat64(x, x, geluExact) },
		"GeluApproximate": func(x []T) { elementwise.MapFloat64(x, x, geluApproximate) },
	}
}

func leaky[T numeric.Float](v, alpha T) T {
	if v > 0 {
		return v
	}
	return alpha * v
}

func geluExact(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) }

func geluApproximate(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
