package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	makes := func(name, in, out, attrs string, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: scalars, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	deletes := func(name string, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: "handle: resource; deleter: variant", Stateful: true, Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	const alone, deletable = "handle: resource", "handle: resource; deleter: variant"
	makes("AnonymousIterator", "", alone, outputs, anonymousIterator)
	makes("AnonymousIteratorV2", "", deletable, outputs, anonymousIterator)
	makes("AnonymousIteratorV3", "", alone, outputs, anonymousIterator)
	deletes("DeleteIterator", deleted[*dataset.Cursor])
	makes("AnonymousSeedGenerator", "seed: int64; seed2: int64; reshuffle: bool", deletable, "", anonymousSeeds)
	makes("AnonymousRandomSeedGenerator", "seed: int64; seed2: int64", deletable, "", anonymousSeeds)
	deletes("DeleteSeedGenerator", deleted[*dataset.Seeds])
	deletes("DeleteRandomSeedGenerator", deleted[*dataset.Seeds])
	makes("AnonymousMemoryCache", "", deletable, "", anonymousCache)
	deletes("DeleteMemoryCache", deleted[*memoryCache])
	core.Register(core.OpDef{
		Name: "IteratorGetDevice", In: "resource: resource", Out: "device: string", Stateful: true, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(deviceOf),
	})
	core.Register(core.OpDef{
		Name: "ExperimentalIteratorGetDevice", In: "resource: resource", Out: "device: string", Stateful: true, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(deviceOf),
	})
}

// A memoryCache stands for the elements that a dataset keeps in memory, which
// are the dataset's own here.
type memoryCache struct{}

var _ = resource.Declare[*memoryCache]("tensorflow::data::MemoryCacheManager")

func scalars(c *core.Infer) error {
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{})
	}
	return nil
}

// anonymous keeps a resource without a name, which goes with its handle. What comes with
// that, if anything does, says only that it may be deleted before.
func anonymous[T any](c *core.OpContext, v T) error {
	keep := handle.Counted[T]
	if c.Node.OpName() == "AnonymousIterator" { // whose handle may live on as a string
		keep = handle.Anonymous[T]
	}
	h, err := keep(c, c.Node.OpName(), v)
	if err != nil {
		return err
	}
	c.Set(0, h)
	if len(c.Out) > 1 {
		c.Set(1, core.NewTensor(tf.Variant, tf.Shape{}))
	}
	return nil
}

func anonymousIterator(n *core.Node) (core.Kernel, error) {
	want := declared(n)
	return core.Compute(func(c *core.OpContext) error { return anonymous(c, dataset.NewCursor(want)) }), nil
}

func anonymousSeeds(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		seed, err := scalar[int64](c, 0, "seed")
		if err != nil {
			return err
		}
		seed2, err := scalar[int64](c, 1, "seed2")
		if err != nil {
			return err
		}
		renew := true
		if c.Inputs() > 2 {
			if renew, err = scalar[bool](c, 2, "reshuffle"); err != nil {
				return err
			}
		}
		return anonymous(c, dataset.NewSeeds(seed, seed2, renew))
	}), nil
}

func anonymousCache(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error { return anonymous(c, &memoryCache{}) }), nil
}

// deleted is the kernel that ends a resource without a name.
func deleted[T any](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error { return handle.Delete[T](c, 0) }), nil
}

func deviceOf(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := handle.Find[*dataset.Cursor](c, 0); err != nil {
			return err
		}
		c.Set(0, core.Scalar(c.Input(0).Handles()[0].Device))
		return nil
	}), nil
}
