package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("WindowDataset", input+"; size: int64; shift: int64; stride: int64; drop_remainder: bool", plain, false, on(window))
	registerBoth("GroupByWindowDataset",
		input+"; key_func_other_arguments: Tkey_func_other_arguments; reduce_func_other_arguments: Treduce_func_other_arguments; window_size_func_other_arguments: Twindow_size_func_other_arguments",
		"key_func: func; reduce_func: func; window_size_func: func; Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; Twindow_size_func_other_arguments: list(type) >= 0; "+plain,
		false, on(groupByWindow))
	const states, scans = input + "; initial_state: Tstate; other_arguments: Targuments", "f: func; Tstate: list(type) >= 1; " + captures + outputs + "; preserve_cardinality: bool = false"
	register("ScanDataset", states, scans+"; use_default_device: bool = true"+metadata, false, on(scan))
	register("ExperimentalScanDataset", states, scans, false, on(scan))
	register("CacheDataset", input+"; filename: string", plain, false, on(cache))
	register("CacheDatasetV2", input+"; filename: string; cache: resource", plain, true, on(cache))
	register("AssertCardinalityDataset", input+"; cardinality: int64", outputs, false, sized("cardinality", dataset.Sized))
	register("OptionsDataset", input, "serialized_options: string; "+plain, false, same)
	register("ModelDataset", input, "algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0; "+outputs, false, same)
	register("FinalizeDataset", input, "has_captured_ref: bool = false; "+outputs, false, same)
	register("OptimizeDataset", input+"; optimizations: string", outputs+"; optimization_configs: list(string) = []", false, same)
	register("OptimizeDatasetV2", input+"; optimizations_enabled: string; optimizations_disabled: string; optimizations_default: string", outputs+"; optimization_configs: list(string) = []", false, same)
	register("RewriteDataset", input+"; rewrite_name: string", outputs, false, same)
	registerBoth("PrivateThreadPoolDataset", input+"; num_threads: int64", outputs, false, same)
	registerBoth("MaxIntraOpParallelismDataset", input+"; max_intra_op_parallelism: int64", outputs, false, same)
	registerBoth("NonSerializableDataset", input, outputs, false, same)
}

func window(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	var v [3]int64
	for i, name := range []string{"size", "shift", "stride"} {
		n, err := scalar[int64](c, 1+i, name)
		if err != nil {
			return nil, err
		}
		v[i] = n
	}
	drop, err := scalar[bool](c, 4, "drop_remainder")
	if err != nil {
		return nil, err
	}
	return dataset.Window(in, v[0], v[1], v[2], drop)
}

func groupByWindow(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	f, err := functions(c, "key_func", "reduce_func", "window_size_func")
	if err != nil {
		return nil, err
	}
	return dataset.GroupByWindow(in, f[0], f[1], f[2], spec(c)), nil
}

func scan(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	end := 1 + len(c.Node.TypesAttr("Tstate"))
	f, err := function(c, "f", end, c.Inputs())
	if err != nil {
		return nil, err
	}
	return dataset.Scan(in, kept(c, 1, end), f, spec(c), c.Node.Bool("preserve_cardinality")), nil
}

func cache(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	name, err := scalar[string](c, 1, "filename")
	if err != nil {
		return nil, err
	}
	if name != "" {
		return dataset.CacheFile(in, name), nil
	}
	return dataset.Cache(in), nil
}
