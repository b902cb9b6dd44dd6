package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register := func(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	register("SerializeIterator", "resource_handle: resource", "serialized: variant", "external_state_policy: int = 0", vectorShape, serialize)
	register("DeserializeIterator", "resource_handle: resource; serialized: variant", "", "", noShape, deserialize)
}

func vectorShape(c *core.Infer) error {
	c.Set(0, tf.Shape{-1})
	return nil
}

// serialize makes a variant of where an iterator is, which checkpoints hold. What
// else its dataset's functions depend on is not saved: the node says whether that
// is an error.
var serialize = async(0, func(c *core.OpContext, it *dataset.Cursor) error {
	source, err := it.Source(c.StepContext())
	if err == nil && source != nil {
		err = external(source, c.Node.Int("external_state_policy"))
	}
	if err != nil {
		return err
	}
	s, err := it.Save(c.StepContext())
	if err == nil {
		c.Set(0, s.Tensor())
	}
	return err
})

// deserialize brings an iterator over an equal dataset there.
var deserialize = async(0, func(c *core.OpContext, it *dataset.Cursor) error {
	s, err := dataset.StateOf(c.Input(1))
	if err != nil {
		return err
	}
	return it.Restore(c.StepContext(), s)
})
