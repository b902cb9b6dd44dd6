package data

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "ComputeBatchSize", In: input, Out: "batch_size: int64", Shape: tf.ScalarShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(batchSizeOf),
	})
}

// Ops that say how large batches are, and ops that leave them as they are.
var (
	batches   = []string{"BatchDataset", "PaddedBatchDataset", "MapAndBatchDataset", "ExperimentalMapAndBatchDataset"}
	unchanged = []string{"AssertCardinalityDataset", "CacheDataset", "FilterDataset", "FinalizeDataset", "ModelDataset", "OptimizeDataset", "OptionsDataset",
		"ParseExampleDataset", "PrefetchDataset", "RepeatDataset", "ShardDataset", "ShuffleAndRepeatDataset", "ShuffleDataset", "SkipDataset", "TakeDataset"}
)

func batchSizeOf(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if _, err := dataset.Of(c.Input(0)); err != nil {
			return err
		}
		c.Set(0, tf.Scalar(batched(c.Input(0))))
		return nil
	}), nil
}

// batched returns the size of the batches that a dataset's elements are, -1 if
// that cannot be seen.
func batched(t *tf.Tensor) int64 {
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
		return tf.Data[int64](o.In[at])[0]
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
