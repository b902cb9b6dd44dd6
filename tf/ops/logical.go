package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	logical("LogicalAnd", kernel.And)
	logical("LogicalOr", kernel.Or)
	tf.Register(tf.OpDef{
		Name: "LogicalNot", In: "x: bool", Out: "y: bool",
		Shape: sameShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(mapKernel(kernel.Not)),
	})
}

func logical(name string, f func(z, x, y []bool)) {
	tf.Register(tf.OpDef{
		Name: name, In: "x: bool; y: bool", Out: "z: bool",
		Shape: broadcastShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(zipKernel(zip(f))),
	})
}

// LogicalAnd reports where both x and y hold.
func LogicalAnd(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("LogicalAnd", opts, x, y) }

// LogicalOr reports where x or y holds.
func LogicalOr(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("LogicalOr", opts, x, y) }

// LogicalNot reports where x does not hold.
func LogicalNot(x tf.Output, opts ...tf.Option) tf.Output { return apply("LogicalNot", opts, x) }
