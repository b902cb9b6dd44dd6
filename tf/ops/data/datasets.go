package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const split = "; replicate_on_split: bool = false"
	register("RangeDataset", "start: int64; stop: int64; step: int64", plain+split, true, rangeDataset)
	register("TensorDataset", "components: Toutput_types", of+metadata, true, func(c *core.OpContext) (dataset.Dataset, error) {
		return dataset.Tensors(kept(c, 0, c.Inputs())), nil
	})
	register("TensorSliceDataset", "components: Toutput_types", of+"; is_files: bool = false"+metadata+split, true, func(c *core.OpContext) (dataset.Dataset, error) {
		return dataset.Slices(kept(c, 0, c.Inputs()))
	})
	register("BatchDataset", input+"; batch_size: int64", plain, false, batch(-1))
	register("BatchDatasetV2", input+"; batch_size: int64; drop_remainder: bool", "parallel_copy: bool = false; "+plain, false, batch(2))
	register("ParallelBatchDataset", input+"; batch_size: int64; num_parallel_calls: int64; drop_remainder: bool",
		"parallel_copy: bool = false; "+outputs+"; deterministic: string = 'default'"+metadata, false, batch(3))
	const padded = input + "; batch_size: int64; padded_shapes: N * int64; padding_values: Toutput_types"
	register("PaddedBatchDataset", padded, of+"; N: int >= 1"+metadata, false, paddedBatch(false))
	register("PaddedBatchDatasetV2", padded+"; drop_remainder: bool", "parallel_copy: bool = false; "+of+"; N: int >= 1"+metadata, false, paddedBatch(true))
	unbatch := on(func(_ *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) { return dataset.Unbatch(in), nil })
	register("UnbatchDataset", input, plain, false, unbatch)
	register("ExperimentalUnbatchDataset", input, outputs, false, unbatch)
	register("RepeatDataset", input+"; count: int64", plain, false, sized("count", dataset.Repeat))
	register("TakeDataset", input+"; count: int64", plain, false, sized("count", dataset.Take))
	register("SkipDataset", input+"; count: int64", plain, false, sized("count", dataset.Skip))
	register("PrefetchDataset", input+"; buffer_size: int64", outputs+"; slack_period: int = 0; legacy_autotune: bool = true; buffer_size_min: int = 0"+metadata, false, on(prefetch))
	register("ShardDataset", input+"; num_shards: int64; index: int64", "require_non_empty: bool = false; "+plain, false, on(shard))
	register("ZipDataset", "input_datasets: N * variant", outputs+"; N: int >= 1"+metadata, false, zip)
	register("ConcatenateDataset", input+"; another_dataset: variant", plain, false, on(concatenate))
}

func rangeDataset(c *core.OpContext) (dataset.Dataset, error) {
	var v [3]int64
	for i, name := range []string{"start", "stop", "step"} {
		x, err := scalar[int64](c, i, name)
		if err != nil {
			return nil, err
		}
		v[i] = x
	}
	return dataset.Range(v[0], v[1], v[2], c.Node.TypesAttr("output_types")[0])
}

// batch makes the maker of batches. Whether the last one is dropped is in input
// drop, if there is one.
func batch(drop int) maker {
	return on(func(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		n, dropped, err := batchSize(c, drop)
		if err != nil {
			return nil, err
		}
		return dataset.Batch(in, n, dropped)
	})
}

func batchSize(c *core.OpContext, drop int) (n int64, dropped bool, err error) {
	if n, err = scalar[int64](c, 1, "batch_size"); err != nil || drop < 0 {
		return n, false, err
	}
	dropped, err = scalar[bool](c, drop, "drop_remainder")
	return n, dropped, err
}

func paddedBatch(drops bool) maker {
	return on(func(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		drop := -1
		if drops {
			drop = c.Inputs() - 1
		}
		n, dropped, err := batchSize(c, drop)
		if err != nil {
			return nil, err
		}
		count := c.Node.Int("N")
		var shapes []tf.Shape
		for i := range count {
			s, err := paddedShape(c.Input(2 + i))
			if err != nil {
				return nil, err
			}
			shapes = append(shapes, s)
		}
		end := c.Inputs()
		if drops {
			end--
		}
		return dataset.PaddedBatch(in, n, shapes, kept(c, 2+count, end), dropped)
	})
}

func paddedShape(t *core.Tensor) (tf.Shape, error) {
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "All padded shapes must be vectors")
	}
	dims, err := t.Ints()
	if err != nil {
		return nil, err
	}
	s := append(tf.Shape{}, dims...)
	for _, d := range s {
		if d < -1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= -1", d)
		}
	}
	return s, nil
}

func prefetch(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := scalar[int64](c, 1, "buffer_size")
	if err != nil {
		return nil, err
	}
	if n < -1 {
		return nil, tf.Errorf(tf.InvalidArgument, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
	}
	return dataset.Prefetch(in, n), nil
}

func shard(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := scalar[int64](c, 1, "num_shards")
	if err != nil {
		return nil, err
	}
	index, err := scalar[int64](c, 2, "index")
	if err != nil {
		return nil, err
	}
	if c.Node.Bool("require_non_empty") {
		return dataset.ShardFiles(in, n, index)
	}
	return dataset.Shard(in, n, index)
}

func zip(c *core.OpContext) (dataset.Dataset, error) {
	inputs := make([]dataset.Dataset, c.Inputs())
	for i := range inputs {
		d, err := dataset.Of(c.Input(i))
		if err != nil {
			return nil, err
		}
		inputs[i] = d
	}
	return dataset.Zip(inputs), nil
}

func concatenate(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	other, err := dataset.Of(c.Input(1))
	if err != nil {
		return nil, err
	}
	return dataset.Concatenate(in, other)
}
