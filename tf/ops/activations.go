package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	activation("Elu", eluGrad, floatMaps(elementwise.Elu, elementwise.Elu))
	activation("Selu", seluGrad, inFloat64(elementwise.Selu32, selu))
	activation("Softplus", softplusGrad, floatMaps(elementwise.Softplus, elementwise.Softplus))
	activation("Softsign", softsignGrad, laneMaps(elementwise.SoftsignLanes, elementwise.Softsign, elementwise.Softsign))
	activationGrad("EluGrad", "outputs", eluGradGrad, laneGates(elementwise.EluGradLanes, elementwise.EluGrad, elementwise.EluGrad))
	activationGrad("SeluGrad", "outputs", seluGradGrad, laneGates(elementwise.SeluGradLanes, elementwise.SeluGrad, elementwise.SeluGrad))
	activationGrad("SoftplusGrad", "features", softplusGradGrad, floatGates(elementwise.SoftplusGrad32, softplusGate))
	activationGrad("SoftsignGrad", "features", nil, laneGates(elementwise.SoftsignGradLanes, elementwise.SoftsignGrad, elementwise.SoftsignGrad))
}

// activation declares a function that layers apply to their results.
func activation(name string, grad tf.GradFunc, kernels byType) {
	core.Register(core.OpDef{
		Name: name, Traits: core.Elementwise, In: "features: T", Out: "activations: T", Attrs: "T: {half, bfloat16, float, double}",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels),
	})
}

// activationGrad declares the gradient of an activation as a function of dy
// and of what the activation got or gave.
func activationGrad(name, of string, grad tf.GradFunc, kernels byType) {
	d := core.OpDef{
		Name: name, Traits: core.Elementwise, In: "gradients: T; " + of + ": T", Out: "backprops: T", Attrs: "T: {half, bfloat16, float, double}",
		Shape: core.MergedShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels),
	}
	if grad == nil {
		d.NoGrad = core.NoGradientDefined
	}
	core.Register(d)
}

// Elu returns x where it is not negative, e^x - 1 elsewhere. The result has
// the shape and the type of x, which holds floating-point numbers (float16,
// bfloat16, float32, float64). Other types are refused with INVALID_ARGUMENT
// when the graph is built.
// It is the unit of Clevert, Unterthiner and Hochreiter (ICLR 2016,
// arXiv:1511.07289).
func Elu(x tf.Output, opts ...tf.Option) tf.Output { return apply("Elu", opts, x) }

// Selu returns Elu, scaled so that it keeps mean and variance. It is
// 1.7581·(e^x - 1) where x is negative and 1.0507·x elsewhere. The result has
// the shape and the type of x, which holds floating-point numbers (float16,
// bfloat16, float32, float64). Other types are refused with INVALID_ARGUMENT
// when the graph is built.
// It is the unit of Klambauer et al. (NIPS 2017, arXiv:1706.02515).
func Selu(x tf.Output, opts ...tf.Option) tf.Output { return apply("Selu", opts, x) }

// Softplus returns log(1 + e^x). The result has the shape and the type of x,
// which holds floating-point numbers (float16, bfloat16, float32, float64).
// Other types are refused with INVALID_ARGUMENT when the graph is built.
// It is the function of Dugas et al. (NIPS 2000).
func Softplus(x tf.Output, opts ...tf.Option) tf.Output { return apply("Softplus", opts, x) }

// Softsign returns x / (1 + |x|). The result has the shape and the type of x,
// which holds floating-point numbers (float16, bfloat16, float32, float64).
// Other types are refused with INVALID_ARGUMENT when the graph is built.
func Softsign(x tf.Output, opts ...tf.Option) tf.Output { return apply("Softsign", opts, x) }

func selu(x float64) float64 {
	if x < 0 {
		return elementwise.SeluAlpha * math.Expm1(x)
	}
	return elementwise.SeluScale * x
}

func softplusGate(dx, dy, x []float64) {
	kernel.Zip(dx, dy, x, func(d, x float64) float64 { return d / (math.Exp(-x) + 1) })
}

func eluGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("EluGrad", nil, dy[0], op.Output(0)))
}

func seluGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("SeluGrad", nil, dy[0], op.Output(0)))
}

func softplusGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Mul(dy[0], Sigmoid(op.Input(0))))
}

func softsignGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("SoftsignGrad", nil, dy[0], op.Input(0)))
}

// expGateGrad is the second derivative of Elu and Selu: both are exponential
// where their result y is negative and straight elsewhere.
func expGateGrad(op *tf.Operation, dy tf.Output) []tf.Gradient {
	d, y := op.Input(0), op.Input(1)
	curved := Less(y, numberLike(y, 0))
	return tf.Grads(apply(op.OpName(), nil, dy, y), Select(curved, Mul(dy, d), ZerosLike(y)))
}

func eluGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient { return expGateGrad(op, dy[0]) }

func seluGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient { return expGateGrad(op, dy[0]) }

func softplusGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return twice(op, dy[0], func(d, x, dy tf.Output) (_, _ tf.Output) {
		spread := AddV2(AddV2(Exp(Neg(x)), numberLike(x, 2)), Exp(x))
		return apply("SoftplusGrad", nil, dy, x), RealDiv(Mul(dy, d), spread)
	})
}
