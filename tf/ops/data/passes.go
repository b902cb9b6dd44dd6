package data

import (
	"slices"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
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
	for name, attrs := range map[string]string{"ThreadPoolHandle": "num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; ", "StatsAggregatorHandle": "", "StatsAggregatorHandleV2": ""} {
		names := []string{name, "Experimental" + name}
		if strings.HasSuffix(name, "V2") {
			names = names[:1]
		}
		for _, name := range names {
			core.Register(core.OpDef{
				Name: name, Out: "handle: resource", Attrs: attrs + "container: string = ''; shared_name: string = ''", Stateful: true,
				Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(helper),
			})
		}
	}
}

func init() {
	const captures = "Targuments: list(type) >= 0; num_elements_per_branch: int >= 1; branches: list(func) >= 1; other_arguments_lengths: list(int) >= 1; "
	register("ChooseFastestBranchDataset", input+"; ratio_numerator: int64; ratio_denominator: int64; other_arguments: Targuments", captures+outputs, false, on(firstBranch))
	op := func(name, in, out string, shape func(*core.Infer) error, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Stateful: true, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	op("StatsAggregatorSetSummaryWriter", "stats_aggregator: resource; summary: resource", "", noShape, aggregator)
	op("StatsAggregatorSummary", "iterator: resource", "summary: string", core.ScalarShape, aggregator)
	op("ExperimentalStatsAggregatorSummary", "iterator: resource", "summary: string", core.ScalarShape, aggregator)
	op("IteratorGetModelProto", "iterator: resource", "model_proto: string", core.ScalarShape, noModel)
}

// firstBranch makes a dataset by the first of several functions: the elements are
// the same, whichever is taken.
func firstBranch(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	lengths, branches := c.Node.Ints("other_arguments_lengths"), c.Node.Attr("branches").([]core.Func)
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	if len(lengths) != len(branches) || sum != c.Inputs()-3 || slices.Min(lengths) < 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "branches_ and other_arguments_lengths_ must have the same length, and there must be as many other arguments as these say")
	}
	f, err := functionOf(c, branches[0], 3, 3+lengths[0], func(err error) error { return err })
	if err != nil {
		return nil, err
	}
	one := dataset.List(&dataset.Spec{Types: []tf.DType{tf.Variant}, Shapes: []tf.Shape{{}}}, []dataset.Element{{dataset.Value(in)}})
	return dataset.FlatMap(one, f, spec(c)), nil
}

// aggregator is the kernel of what is asked of statistics: there are none.
func aggregator(n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if _, err := handle.Find[*help](c, 0); err != nil {
			return err
		}
		if len(n.OutTypes) > 0 {
			c.Set(0, core.Scalar(""))
		}
		return nil
	}), nil
}

// noModel answers what asks how an iterator tunes itself, which none does.
var noModel = async(0, func(_ *core.OpContext, it *dataset.Cursor) error {
	if !it.Started() {
		return tf.Errorf(tf.FailedPrecondition, "GetModelProto() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator before getting the next element.")
	}
	return tf.Errorf(tf.NotFound, "Cannot find this iterator's analytical model. Did you disable autotune for the dataset used to create this iterator? See more information at https://www.tensorflow.org/api_docs/python/tf/data/experimental/AutotuneOptions .")
})

// A help is what datasets compute or are measured with elsewhere: nothing here.
type help struct{}

var _ = resource.Declare[*help]("tensorflow::data::ThreadPoolResource")

func helper(n *core.Node) (core.Kernel, error) {
	return handle.Kernel(n, handle.Maker[*help]{New: func(string) (*help, error) { return &help{}, nil }}), nil
}

func sleep(in dataset.Dataset, micros int64) dataset.Dataset {
	const most = int64(1) << 50
	return dataset.Sleep(in, time.Duration(max(0, min(micros, most)))*time.Microsecond)
}
