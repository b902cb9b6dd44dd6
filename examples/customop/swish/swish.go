// Package swish is an operation that Gorge does not have, in a package of its
// own: all that an operation needs is public. Importing the package is enough
// for graphs that others have built to use it.
package swish

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "ExampleSwish", In: "x: T", Out: "y: T", Attrs: "beta: float = 1; T: {float, double}",
		Shape:   core.UnchangedShape,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Float32: kernel[float32], tf.Float64: kernel[float64]}),
		Grad:    tf.GradFunc(gradient),
	})
}

// Swish returns x·σ(βx), element by element (Ramachandran, Zoph and Le,
// arXiv:1710.05941), for x of type Float32 or Float64. The shape is x's.
func Swish(x tf.Output, beta float64, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ExampleSwish", []tf.Output{x}, tf.Join(opts, tf.Attr("beta", beta))...).Output(0)
}

// kernel reads the attributes of a node once and returns what computes it.
func kernel[T float32 | float64](n *core.Node) (core.Kernel, error) {
	beta := float64(n.Float("beta"))
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		y, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		in, out := core.Data[T](x), core.Data[T](y)
		c.ParallelFor(len(in), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = T(float64(in[i]) / (1 + math.Exp(-beta*float64(in[i]))))
			}
		})
		return nil
	}), nil
}

// gradient builds dy·(βy + σ(βx)·(1-βy)) out of operations that are there, so
// that gradients of gradients come for free.
func gradient(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Output(0)
	beta, err := core.ScalarOf(x.DType(), float64(op.Float("beta")))
	if err != nil {
		return []tf.Gradient{tf.Dense(tf.Failed(x.Graph(), "ExampleSwish", err).Output(0))}
	}
	b := ops.ConstValue(x.Graph(), beta)
	by := ops.Mul(b, y)
	slope := ops.AddV2(by, ops.Mul(ops.Sigmoid(ops.Mul(b, x)), ops.Sub(ops.OnesLike(y), by)))
	return []tf.Gradient{tf.Dense(ops.Mul(dy[0], slope))}
}
