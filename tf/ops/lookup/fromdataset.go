package lookup

import (
	"errors"
	"math"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "InitializeTableFromDataset", In: "table_handle: resource; dataset: variant", Stateful: true,
		Shape: noOutputs, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(fromDataset),
	})
}

// fromDataset is the kernel that fills a table with the pairs of keys and values
// that a dataset has, on a goroutine that ends with it.
func fromDataset(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		t, err := tableOf(c)
		if err != nil {
			done(err)
			return
		}
		d, err := dataset.Of(c.Input(1))
		if err != nil {
			done(err)
			return
		}
		c.Apart(func() error { return fillFrom(c, t, d) }, done)
	}), nil
}

func fillFrom(c *core.OpContext, t table, d dataset.Dataset) error {
	in, err := toInitialize(c, t)
	if err != nil {
		return err
	}
	s, types := t.about(), d.Spec().Types
	switch {
	case len(types) != 2:
		return tf.Errorf(tf.InvalidArgument, "Dataset should have two output types only")
	case types[0] != s.key:
		return tf.Errorf(tf.InvalidArgument, "Key dtype expected: %s obtained: %s from the dataset", s.key.CName(), types[0].CName())
	case types[1] != s.value:
		return tf.Errorf(tf.InvalidArgument, "Value dtype expected: %s obtained: %s from the dataset", s.value.CName(), types[1].CName())
	}
	all, err := dataset.Batch(d, math.MaxInt32, false)
	if err != nil {
		return err
	}
	it, err := all.Iterate()
	if err != nil {
		return err
	}
	defer it.Close()
	e, err := it.Next(c.StepContext())
	switch {
	case errors.Is(err, dataset.End):
		e = dataset.Element{core.NewTensor(s.key, tf.Shape{0}), core.NewTensor(s.value, tf.Shape{0})}
	case err != nil:
		return err
	case e[0].Rank() != 1 || e[1].Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "Keys and values of a dataset must be scalars, got shapes%s and%s", e[0].Shape()[1:].String(), e[1].Shape()[1:].String())
	}
	return in.initialize(e[0], e[1])
}
