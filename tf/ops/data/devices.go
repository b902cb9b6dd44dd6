package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	op := func(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	const devices, alone, it = "devices: list(string) >= 1; ", "handle: resource", "multi_device_iterator: resource"
	op("MultiDeviceIterator", "", alone, devices+"shared_name: string; container: string; "+outputs, scalars, newShards)
	op("AnonymousMultiDeviceIterator", "", alone+"; deleter: variant", devices+outputs, scalars, anonymousShards)
	op("AnonymousMultiDeviceIteratorV3", "", alone, devices+outputs, scalars, anonymousShards)
	op("DeleteMultiDeviceIterator", it+"; iterators: N * resource; deleter: variant", "", "N: int >= 0", noShape, deleted[*dataset.Shards])
	op("MultiDeviceIteratorInit", "dataset: variant; "+it+"; max_buffer_size: int64", "incarnation_id: int64", "", scalars, startShards)
	op("MultiDeviceIteratorGetNextFromShard", it+"; shard_num: int32; incarnation_id: int64", "components: output_types", outputs, declaredShapes, nextOfShard)
	op("MultiDeviceIteratorToStringHandle", it, "string_handle: string", "", scalars, toString[*dataset.Shards])
	op("MultiDeviceIteratorFromStringHandle", "string_handle: string", it, maybe, scalars, fromString[*dataset.Shards])
}

// consumers returns for how many devices a node deals out.
func consumers(n *core.Node) int {
	devices, _ := n.Attr("devices").([]string)
	return len(devices)
}

func newShards(n *core.Node) (core.Kernel, error) {
	want := declared(n)
	return handle.Kernel(n, handle.Maker[*dataset.Shards]{
		New:     func(string) (*dataset.Shards, error) { return dataset.NewShards(want, consumers(n)), nil },
		Matches: func(s *dataset.Shards) error { return want.Admits(s.Spec()) },
	}), nil
}

func anonymousShards(n *core.Node) (core.Kernel, error) {
	want := declared(n)
	return core.Compute(func(c *core.OpContext) error { return anonymous(c, dataset.NewShards(want, consumers(n))) }), nil
}

var startShards = async(1, func(c *core.OpContext, s *dataset.Shards) error {
	d, err := dataset.Of(c.Input(0))
	if err != nil {
		return err
	}
	most, err := scalar[int64](c, 2, "max_buffer_size")
	if err != nil {
		return err
	}
	n, err := s.Start(c.StepContext(), d, int(min(most, 1<<30)))
	if err == nil {
		c.Set(0, core.Scalar(n))
	}
	return err
})

var nextOfShard = async(0, func(c *core.OpContext, s *dataset.Shards) error {
	shard, err := scalar[int32](c, 1, "shard_num")
	if err != nil {
		return err
	}
	incarnation, err := scalar[int64](c, 2, "incarnation_id")
	if err != nil {
		return err
	}
	e, err := s.Next(c.StepContext(), int(shard), incarnation)
	if err != nil {
		return err
	}
	return give(c, e)
})
