package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const reluTypes = "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"

func init() {
	core.Register(core.OpDef{
		Name: "Relu", Traits: core.Elementwise | core.Cheap, In: "features: T", Out: "activations: T", Attrs: "T: {" + reluTypes + ", qint8}",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(reluGrad),
		Kernels: core.ByType("T", merge(rectifiers(math.NaN(), inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Positive), floatMaps(elementwise.Relu, elementwise.Relu))),
			signedMaps(elementwise.Relu, elementwise.Relu, elementwise.Relu, elementwise.Relu), unsignedMaps(elementwise.Relu, elementwise.Relu, elementwise.Relu, elementwise.Relu))),
	})
	core.Register(core.OpDef{
		Name: "ReluGrad", Traits: core.Elementwise | core.Cheap, In: "gradients: T; features: T", Out: "backprops: T", Attrs: "T: {" + reluTypes + "}",
		Shape: core.MergedShape, Grad: tf.GradFunc(reluGradGrad),
		Kernels: core.ByType("T", merge(rectifiers(math.NaN(), inLanes(tf.Float32, elementwise.Lanes2((*machine.Code).WherePositive), floatGates(elementwise.ReluGrad, elementwise.ReluGrad))),
			intGates(elementwise.ReluGrad, elementwise.ReluGrad, elementwise.ReluGrad, elementwise.ReluGrad, elementwise.ReluGrad, elementwise.ReluGrad, elementwise.ReluGrad, elementwise.ReluGrad))),
	})
	core.Register(core.OpDef{
		Name: "Relu6", Traits: core.Elementwise | core.Cheap, In: "features: T", Out: "activations: T", Attrs: "T: {" + reluTypes + "}",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(relu6Grad),
		Kernels: core.ByType("T", merge(rectifiers(6, inLanes(tf.Float32, elementwise.Relu6Lanes, floatMaps(relu6[float32], relu6[float64]))),
			signedMaps(relu6[int8], relu6[int16], relu6[int32], relu6[int64]), unsignedMaps(relu6[uint8], relu6[uint16], relu6[uint32], relu6[uint64]))),
	})
	core.Register(core.OpDef{
		Name: "Relu6Grad", Traits: core.Elementwise | core.Cheap, In: "gradients: T; features: T", Out: "backprops: T", Attrs: "T: {" + reluTypes + "}",
		Shape: core.MergedShape, Grad: tf.GradFunc(relu6GradGrad),
		Kernels: core.ByType("T", merge(rectifiers(6, inLanes(tf.Float32, elementwise.Relu6GradLanes, floatGates(elementwise.Relu6Grad, elementwise.Relu6Grad[float64]))),
			intGates(elementwise.Relu6Grad[int8], elementwise.Relu6Grad[int16], elementwise.Relu6Grad[int32], elementwise.Relu6Grad[int64], elementwise.Relu6Grad[uint8], elementwise.Relu6Grad[uint16], elementwise.Relu6Grad[uint32], elementwise.Relu6Grad[uint64]))),
	})
}

// Relu returns x where it is positive, else 0. NaN stays NaN. The result has
// the shape and the type of x, which holds real numbers (floating-point
// numbers and integers of 8 to 64 bits). qint8 may stand in a graph but has no
// kernel, so the step fails with NOT_FOUND; other types are refused with
// INVALID_ARGUMENT when the graph is built.
// It is the rectifier of Nair and Hinton (ICML 2010).
func Relu(x tf.Output, opts ...tf.Option) tf.Output { return apply("Relu", opts, x) }

// ReluGrad returns dy where x, Relu's input or output, is positive, else 0.
// It is 0 where x is NaN. Both hold real numbers and have one type and shape,
// which the result has; shapes that differ are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step.
func ReluGrad(dy, x tf.Output, opts ...tf.Option) tf.Output { return apply("ReluGrad", opts, dy, x) }

// Relu6 returns x bounded to [0, 6]. NaN stays NaN. The result has the shape
// and the type of x, which holds real numbers (floating-point numbers and
// integers of 8 to 64 bits). Other types are refused with INVALID_ARGUMENT
// when the graph is built.
// It is the function of Krizhevsky (2010).
func Relu6(x tf.Output, opts ...tf.Option) tf.Output { return apply("Relu6", opts, x) }

// Relu6Grad returns dy where x, Relu6's input or output, is in (0, 6), else
// 0. Types, shapes and errors are those of ReluGrad.
func Relu6Grad(dy, x tf.Output, opts ...tf.Option) tf.Output { return apply("Relu6Grad", opts, dy, x) }

func relu6[T numeric.Real](y, x []T) {
	elementwise.Relu(y, x)
	elementwise.MinScalar(y, y, 6)
}

// gateKernel is pairKernel for ops that take tensors of the same shape.
func gateKernel[T tf.Elem](f func(z, x, y []T)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		k, err := pairKernel(f)(n)
		pair, _ := core.AsCompute(k)
		return &core.ElementKernel{Shape: core.SameShapes, Loop: core.ZipLoop(f), Compute: func(c *core.OpContext) error {
			if err := sameShapes(c, 0, 1); err != nil {
				return err
			}
			return pair(c)
		}}, err
	}
}

func floatGates(f32 func(z, x, y []float32), f64 func(z, x, y []float64)) byType {
	return byType{
		tf.Float32: gateKernel(f32), tf.Float64: gateKernel(f64),
		tf.Float16: gateKernel(inFloat32[tf.Half](f32)), tf.BFloat16: gateKernel(inFloat32[tf.BF16](f32)),
	}
}

func intGates(i8 func(z, x, y []int8), i16 func(z, x, y []int16), i32 func(z, x, y []int32), i64 func(z, x, y []int64),
	u8 func(z, x, y []uint8), u16 func(z, x, y []uint16), u32 func(z, x, y []uint32), u64 func(z, x, y []uint64)) byType {
	return byType{
		tf.Int8: gateKernel(i8), tf.Int16: gateKernel(i16), tf.Int32: gateKernel(i32), tf.Int64: gateKernel(i64),
		tf.Uint8: gateKernel(u8), tf.Uint16: gateKernel(u16), tf.Uint32: gateKernel(u32), tf.Uint64: gateKernel(u64),
	}
}

// reluGrad takes the result, which is positive where the input is, so that
// the input need not be kept.
func reluGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(ReluGrad(dy[0], op.Output(0)))
}

func reluGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x := op.Input(1)
	return tf.Grads(ReluGrad(dy[0], x), ZerosLike(x))
}

func relu6Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Relu6Grad(dy[0], op.Output(0)))
}

func relu6GradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x := op.Input(1)
	return tf.Grads(Relu6Grad(dy[0], x), ZerosLike(x))
}
