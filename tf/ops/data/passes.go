package data

import (
	"time"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	// What differs from the input only in how it is computed or measured.
	for _, name := range []string{"LatencyStatsDataset", "BytesProducedStatsDataset"} {
		registerBoth(name, input+"; tag: string", outputs, false, same)
	}
	registerBoth("ThreadPoolDataset", input+"; thread_pool: resource", outputs, true, same)
	registerBoth("SetStatsAggregatorDataset", input+"; stats_aggregator: resource; tag: string; counter_prefix: string", outputs, true, same)
	registerBoth("SleepDataset", input+"; sleep_microseconds: int64", outputs, false, sized("sleep_microseconds", sleep))
	registerBoth("ChooseFastestDataset", "input_datasets: N * variant", "N: int >= 2; num_experiments: int; "+outputs, false, same)
	register("WindowOp", "inputs: Tinputs", outputs+"; Tinputs: list(type) >= 1", false, list)
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
