package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "SdcaFprint", In: "input: string", Out: "output: int64", Shape: fprintShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(fprint),
	})
}

// SdcaFprint returns fingerprints of 128 bits of the strings in vector x: two
// numbers each, the first of which is neither 0 nor 1.
func SdcaFprint(x tf.Output, opts ...tf.Option) tf.Output { return apply("SdcaFprint", opts, x) }

func fprintShape(c *tf.Infer) error {
	s, err := c.Rank(0, 1)
	if err == nil {
		c.Set(0, tf.Shape{s[0], 2})
	}
	return err
}

func fprint(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if c.Input(0).Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "Input must be a vector, got shape %s", c.Input(0).Shape().Text())
		}
		x := tf.Data[string](c.Input(0))
		out, err := c.Alloc(0, tf.Int64, tf.Shape{len(x), 2})
		if err != nil {
			return err
		}
		y := tf.Data[int64](out)
		c.ParallelFor(len(x), hashGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				low, high := kernel.Fingerprint128(x[i])
				if low < 2 {
					low -= 2
				}
				y[2*i], y[2*i+1] = int64(low), int64(high)
			}
		})
		return nil
	}), nil
}
