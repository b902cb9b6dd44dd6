package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "alpha: float = 0.2; T: {half, bfloat16, float, double} = float"
	core.Register(core.OpDef{
		Name: "LeakyRelu", Traits: core.Elementwise | core.Cheap, In: "features: T", Out: "activations: T", Attrs: attrs,
		Shape: core.UnchangedShape, Grad: tf.GradFunc(leakyReluGrad),
		Kernels: leakyKernels(elementwise.LeakyReluLanes, func(n *core.Node) byType {
			return floatMaps(elementwise.CompiledMap(elementwise.LeakyReluLanes(n.Float("alpha")), leakyMap[float32](n.Float("alpha"))), leakyMap[float64](n.Float("alpha")))
		}),
	})
	core.Register(core.OpDef{
		Name: "LeakyReluGrad", Traits: core.Elementwise | core.Cheap, In: "gradients: T; features: T", Out: "backprops: T", Attrs: attrs,
		Shape: core.MergedShape, Grad: tf.GradFunc(leakyReluGradGrad),
		Kernels: leakyKernels(elementwise.LeakyReluGradLanes, func(n *core.Node) byType {
			return floatGates(elementwise.CompiledZip(elementwise.LeakyReluGradLanes(n.Float("alpha")), leakyGate[float32](n.Float("alpha"))), leakyGate[float64](n.Float("alpha")))
		}),
	})
}

// leakyKernels returns kernels that depend on attributes other than the type.
func leakyKernels(lanes func(alpha float32) machine.Lanes, of func(n *core.Node) byType) core.KernelSet {
	k := func(n *core.Node) (core.Kernel, error) {
		kernels, alpha := of(n), n.Float("alpha")
		if alpha == alpha {
			kernels = inLanes(tf.Float32, lanes(alpha), kernels)
		}
		return kernels[n.Type("T")](n)
	}
	return core.ByType("T", byType{tf.Float32: k, tf.Float64: k, tf.Float16: k, tf.BFloat16: k})
}

// LeakyReluOpts are the optional attributes of LeakyRelu and LeakyReluGrad.
type LeakyReluOpts struct{ Alpha float32 }

// Apply sets the attributes.
func (o LeakyReluOpts) Apply(s *tf.Spec) { s.Set("alpha", o.Alpha) }

// LeakyRelu returns x where it is positive, alpha·x elsewhere; alpha is 0.2 if
// not given. Its options are [LeakyReluOpts]. x holds floating-point numbers
// (float16, bfloat16, float32, float64); the result has its shape and type.
// NaN stays NaN. Other types are refused with INVALID_ARGUMENT when the graph
// is built.
// It is the function of Maas, Hannun and Ng (ICML 2013).
func LeakyRelu(x tf.Output, opts ...tf.Option) tf.Output { return apply("LeakyRelu", opts, x) }

func leakyMap[T numeric.Float](alpha float32) func(y, x []T) {
	return func(y, x []T) { kernel.Map(y, x, func(v T) T { return leaky(v, T(alpha)) }) }
}

func leakyGate[T numeric.Float](alpha float32) func(dx, dy, x []T) {
	return func(dx, dy, x []T) {
		kernel.Zip(dx, dy, x, func(d, v T) T {
			if v > 0 {
				return d
			}
			return d * T(alpha)
		})
	}
}

func leakyReluGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("LeakyReluGrad", []tf.Option{LeakyReluOpts{op.Float("alpha")}}, dy[0], op.Input(0)))
}

func leakyReluGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x := op.Input(1)
	return tf.Grads(apply("LeakyReluGrad", []tf.Option{LeakyReluOpts{op.Float("alpha")}}, dy[0], x), ZerosLike(x))
}
