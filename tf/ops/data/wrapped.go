package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	op := func(name string, k core.NewKernel) {
		core.Register(core.OpDef{
			Name: name, In: "input_handle: variant", Out: "output_handle: variant", Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
		})
	}
	op("WrapDatasetVariant", wrap)
	op("UnwrapDatasetVariant", unwrap)
}

// wrapped is the tensor of a dataset in a form that copies between devices leave
// alone.
type wrapped struct{ t *core.Tensor }

var errNoScalar = tf.Errorf(tf.InvalidArgument, "Dataset tensor must be a scalar of dtype DT_VARIANT.")

func wrap(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		t := core.NewTensor(tf.Variant, tf.Shape{})
		t.Variants()[0].Value = wrapped{c.Input(0).Share()}
		c.Set(0, t)
		return nil
	}), nil
}

func unwrap(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if c.Input(0).Rank() != 0 {
			return errNoScalar
		}
		w, ok := c.Input(0).Variants()[0].Value.(wrapped)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Tensor must be a WrappedDataset variant object.")
		}
		c.Set(0, w.t.Share())
		return nil
	}), nil
}
