package ops

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
)

func init() {
	kernels := func() tf.KernelSet {
		return tf.ByType("T", byType{tf.Int32: countUpTo[int32], tf.Int64: countUpTo[int64]})
	}
	tf.Register(tf.OpDef{
		Name: "CountUpTo", In: "ref: Ref(T)", Out: "output: T", Attrs: "limit: int; T: {int32, int64}",
		Shape: scalarInput, NoGrad: tf.NoGradientDefined, Kernels: kernels(),
	})
	tf.Register(tf.OpDef{
		Name: "ResourceCountUpTo", In: "resource: resource", Out: "output: T", Attrs: "limit: int; T: {int32, int64}", Stateful: true,
		Shape: tf.ScalarShape, NoGrad: tf.NoGradientDefined, Kernels: kernels(),
	})
}

// CountUpTo returns the value of the integer reference variable ref and adds 1
// to it. It is an error, OutOfRange, once limit is reached.
func CountUpTo(ref tf.Output, limit int, opts ...tf.Option) tf.Output {
	return apply("CountUpTo", attrs(opts, tf.Attr("limit", limit)), ref)
}

// ResourceCountUpTo is CountUpTo for the variable, of type d, behind handle.
func ResourceCountUpTo(handle tf.Output, limit int, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ResourceCountUpTo", attrs(opts, tf.Attr("limit", limit), tf.Attr("T", d)), handle)
}

func scalarInput(c *tf.Infer) error {
	s, err := c.Rank(0, 0)
	c.Set(0, s)
	return err
}

func countUpTo[T int32 | int64](n *tf.Node) (tf.Kernel, error) {
	limit, d := n.Int("limit"), n.Type("T")
	return tf.Compute(func(c *tf.OpContext) error {
		refs, err := variableRefs(c, 1)
		if err != nil {
			return err
		}
		return refs[0].Update(func(t *tf.Tensor) error {
			switch {
			case t == nil:
				return uninitialized(c, 0)
			case t.Rank() != 0:
				return tf.Errorf(tf.InvalidArgument, "input is not a scalar: %s", t.Shape().Text())
			case t.DType() != d:
				return tf.Errorf(tf.InvalidArgument, "DType of variable handle and value does not match.")
			}
			v := tf.Data[T](t)
			if int(v[0]) >= limit || int64(v[0]) == math.MaxInt64 {
				return tf.Errorf(tf.OutOfRange, "Reached limit of %d", limit)
			}
			out, err := c.Alloc(0, d, tf.Shape{})
			if err != nil {
				return err
			}
			tf.Data[T](out)[0] = v[0]
			v[0]++
			return nil
		})
	}), nil
}
