package data

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ComputeBatchSize", In: input, Out: "batch_size: int64", Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(batchSizeOf),
	})
}

// Ops that say how large batches are, and ops that leave them as they are.
var (
	batches   = []string{"BatchDataset", "PaddedBatchDataset", "MapAndBatchDataset", "ExperimentalMapAndBatchDataset"}
	unchanged = []string{"AssertCardinalityDataset", "CacheDataset", "FilterDataset", "FinalizeDataset", "ModelDataset", "OptimizeDataset", "OptionsDataset",
		"ParseExampleDataset", "PrefetchDataset", "RepeatDataset", "ShardDataset", "ShuffleAndRepeatDataset", "ShuffleDataset", "SkipDataset", "TakeDataset"}
)

func batchSizeOf(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		c.Set(0, core.Scalar(batched(c.Input(0))))
		return nil
	}), nil
}

// batched returns the size of the batches that a dataset's elements are, -1 if
// that cannot be seen.
func batched(t *core.Tensor) int64 {
	const unknown = int64(-1)
	o := dataset.OriginOf(t)
	switch {
	case o == nil:
		return unknown
	case isAny(o, batches):
		at := 1
		if slices.Contains(batches[2:], o.Node.OpName()) {
			at = len(o.In) - 3
		}
		return core.Data[int64](o.In[at])[0]
	case isAny(o, severalOf):
		n := batched(o.In[0])
		for _, x := range o.In[1:] {
			if batched(x) != n {
				return unknown
			}
		}
		return n
	case isAny(o, unchanged):
		return batched(o.In[0])
	}
	return unknown
}
