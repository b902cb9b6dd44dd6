package training

import (
	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SdcaFprint", In: "input: string", Out: "output: int64", Shape: fprintShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(fprint),
	})
}

// SdcaFprint returns fingerprints of 128 bits of the strings in vector x: two
// numbers each, the first of which is neither 0 nor 1. The hash is
// Fingerprint128 of FarmHash (Pike, 2014). The result is an int64 matrix of
// two columns. An x that is no vector is refused with INVALID_ARGUMENT, when
// the graph is built if its shape is known, else in the step.
func SdcaFprint(x tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "SdcaFprint", []tf.Output{x}, opts...).Output(0)
}

func fprintShape(c *core.Infer) error {
	s, err := c.Rank(0, 1)
	if err == nil {
		c.Set(0, tf.Shape{s[0], 2})
	}
	return err
}

func fprint(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if c.Input(0).Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "Input must be a vector, got shape %s", c.Input(0).Shape().String())
		}
		x := core.Data[string](c.Input(0))
		out, err := c.Alloc(0, tf.Int64, tf.Shape{len(x), 2})
		if err != nil {
			return err
		}
		y := core.Data[int64](out)
		c.ParallelFor(len(x), stringGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				low, high := hash.Fingerprint128(x[i])
				if low < 2 {
					low -= 2
				}
				y[2*i], y[2*i+1] = int64(low), int64(high)
			}
		})
		return nil
	}), nil
}

// stringGrain is the least number of strings worth a task of their own.
const stringGrain = 1 << 10
