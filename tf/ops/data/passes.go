package data

import (
	"time"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	// What differs from the input only in how it is computed, measured, or
	// what is expected of it.
	for name, more := range map[string]string{"AssertNextDataset": "; transformations: string", "LatencyStatsDataset": "; tag: string", "BytesProducedStatsDataset": "; tag: string"} {
		registerBoth(name, input+more, outputs, false, same)
	}
	register("AssertPrevDataset", input+"; transformations: string", outputs, false, same)
	registerBoth("ThreadPoolDataset", input+"; thread_pool: resource", outputs, true, same)
	registerBoth("SetStatsAggregatorDataset", input+"; stats_aggregator: resource; tag: string; counter_prefix: string", outputs, true, same)
	registerBoth("SleepDataset", input+"; sleep_microseconds: int64", outputs, false, sized("sleep_microseconds", sleep))
	registerBoth("ChooseFastestDataset", "input_datasets: N * variant", "N: int >= 2; num_experiments: int; "+outputs, false, same)
	const workers, policy = input + "; num_workers: int64; index: int64", "auto_shard_policy: int = 0; " + outputs
	register("AutoShardDataset", workers, policy+"; num_replicas: int = 0", false, on(autoShard))
	register("ExperimentalAutoShardDataset", workers, policy, false, on(autoShard))
	for name, attrs := range map[string]string{"ThreadPoolHandle": "num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; ", "StatsAggregatorHandle": ""} {
		for _, name := range []string{name, "Experimental" + name} {
			tf.Register(tf.OpDef{
				Name: name, Out: "handle: resource", Attrs: attrs + "container: string = ''; shared_name: string = ''", Stateful: true,
				Shape: tf.ScalarShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(helper),
			})
		}
	}
}

// A help is what datasets compute or are measured with elsewhere: nothing here.
type help struct{}

var _ = resource.Declare[*help]("tensorflow::data::ThreadPoolResource")

func helper(n *tf.Node) (tf.Kernel, error) {
	return handle.Kernel(n, handle.Maker[*help]{New: func(string) (*help, error) { return &help{}, nil }}), nil
}

func sleep(in dataset.Dataset, micros int64) dataset.Dataset {
	const most = int64(1) << 50
	return dataset.Sleep(in, time.Duration(max(0, min(micros, most)))*time.Microsecond)
}

// Policies of AutoShardDataset.
const (
	shardOff  = -1
	shardHint = 3
)

// autoShard gives each worker a part of the elements. Whole files are not given
// to workers: that makes no difference in what all of them have together.
func autoShard(c *tf.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := scalar[int64](c, 1, "num_workers")
	if err != nil {
		return nil, err
	}
	index, err := scalar[int64](c, 2, "index")
	if err != nil {
		return nil, err
	}
	switch {
	case n < 1:
		return nil, tf.Errorf(tf.InvalidArgument, "num_workers must be greater than zero.")
	case index < 0 || index >= n:
		return nil, tf.Errorf(tf.InvalidArgument, "index must be between 0 and %d", n-1)
	}
	if p := c.Node.Int("auto_shard_policy"); p == shardOff || p == shardHint || n == 1 {
		return in, nil
	}
	return dataset.Shard(in, n, index)
}
