package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	makes := func(name, in, out, attrs string, k tf.NewKernel) {
		tf.Register(tf.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: scalars, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(k)})
	}
	deletes := func(name string, k tf.NewKernel) {
		tf.Register(tf.OpDef{Name: name, In: "handle: resource; deleter: variant", Stateful: true, Shape: noShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(k)})
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
	tf.Register(tf.OpDef{
		Name: "IteratorGetDevice", In: "resource: resource", Out: "device: string", Stateful: true, Shape: tf.ScalarShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(deviceOf),
	})
	tf.Register(tf.OpDef{
		Name: "ExperimentalIteratorGetDevice", In: "resource: resource", Out: "device: string", Stateful: true, Shape: tf.ScalarShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(deviceOf),
	})
}

// A memoryCache stands for the elements that a dataset keeps in memory, which
// are the dataset's own here.
type memoryCache struct{}

var _ = resource.Declare[*memoryCache]("tensorflow::data::MemoryCacheManager")

func scalars(c *tf.Infer) error {
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{})
	}
	return nil
}

// anonymous keeps a resource without a name. What comes with the handle, if
// anything does, says only that it may be deleted.
func anonymous[T any](c *tf.OpContext, v T) error {
	h, err := handle.Anonymous(c, c.Node.OpName(), v)
	if err != nil {
		return err
	}
	c.Set(0, h)
	if len(c.Out) > 1 {
		c.Set(1, tf.NewTensor(tf.Variant, tf.Shape{}))
	}
	return nil
}

func anonymousIterator(n *tf.Node) (tf.Kernel, error) {
	want := declared(n)
	return tf.Compute(func(c *tf.OpContext) error { return anonymous(c, dataset.NewCursor(want)) }), nil
}

func anonymousSeeds(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
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

func anonymousCache(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error { return anonymous(c, &memoryCache{}) }), nil
}

// deleted is the kernel that ends a resource without a name.
func deleted[T any](*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error { return handle.Delete[T](c, 0) }), nil
}

func deviceOf(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if _, err := handle.Find[*dataset.Cursor](c, 0); err != nil {
			return err
		}
		c.Set(0, tf.Scalar(c.Input(0).Handles()[0].Device))
		return nil
	}), nil
}
