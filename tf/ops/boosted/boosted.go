// Package boosted predicts with boosted trees: the operations of TensorFlow 1's
// and 2.4's BoostedTreesClassifier and BoostedTreesRegressor that models need once
// they are trained. TensorFlow 2.21 has their signatures but no kernels. What grows
// trees (statistics of gradients, splits, summaries of quantiles) is not here.
//
// A resource holds an ensemble of trees, another one the boundaries of buckets.
// Checkpoints keep both; the operations that restore them, and those that make them
// empty, come first.
package boosted

import (
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// HandleOpts are the optional attributes of handles: handles of equal container
// and shared name are of one resource.
type HandleOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o HandleOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// register declares an op, all of which have a state.
func register(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: shape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(k),
	})
}

// registerHandle declares an op that names a resource of type T.
func registerHandle[T comparable](name string) {
	core.Register(core.OpDef{
		Name: name, Out: "resource: resource", Attrs: "container: string = ''; shared_name: string = ''", Stateful: true, Traits: core.HoldsOther | core.Parameter,
		Shape: core.ScalarShape, NoGrad: core.NoGradientDefined,
		Kernels: core.AnyType(func(n *core.Node) (core.Kernel, error) { return handle.Name[T](n), nil }),
	})
}

func compute(f core.Compute) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return f, nil }
}

// uses makes the factory of kernels that do something with the resource which
// input 0 names.
func uses[T any](f func(*core.OpContext, T) error) core.NewKernel {
	return compute(func(c *core.OpContext) error {
		r, err := handle.Find[T](c, 0)
		if err != nil {
			return err
		}
		return f(c, r)
	})
}

// exists makes the factory of kernels that tell whether there is the resource
// which input 0 names.
func exists[T any]() core.NewKernel {
	return compute(func(c *core.OpContext) error {
		_, err := handle.Find[T](c, 0)
		if err != nil && tf.CodeOf(err) != tf.NotFound {
			return err
		}
		c.Set(0, core.Scalar(err == nil))
		return nil
	})
}

// single checks that input i is one value.
func single(c *core.OpContext, i int) error {
	if t := c.Input(i); t.Len() != 1 {
		return invalid("%s must be a scalar, got shape %v", c.Node.Def.Inputs[i].Name, t.Shape())
	}
	return nil
}

func noShape(*core.Infer) error { return nil }

func invalid(format string, args ...any) error { return tf.Errorf(tf.InvalidArgument, format, args...) }
