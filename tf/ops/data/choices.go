package data

import (
	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	registerBoth("IgnoreErrorsDataset", input, outputs+"; log_warning: bool = false", false, on(func(_ *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		return dataset.IgnoreErrors(in), nil
	}))
	registerBoth("UniqueDataset", input, plain, false, on(func(_ *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
		return dataset.Unique(in)
	}))
	const several = "selector_input_dataset: variant; data_input_datasets: N * variant"
	register("DirectedInterleaveDataset", several, outputs+"; N: int >= 1; stop_on_empty_dataset: bool = false", false, on(choose))
	register("ExperimentalDirectedInterleaveDataset", several, outputs+"; N: int >= 1", false, on(choose))
	core.Register(core.OpDef{
		Name: "FilterByLastComponentDataset", In: input, Out: "output: variant", Attrs: outputs, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable,
		Kernels: core.AnyType(kernel(on(func(_ *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) { return dataset.FilterByLast(in) }))),
	})
	register("ParallelFilterDataset", captured+"; num_parallel_calls: int64", "predicate: func; deterministic: string = 'default'; "+captures+plain, false, calling("predicate", 1, parallelFilter))
	registerBoth("MapAndBatchDataset", captured+"; batch_size: int64; num_parallel_calls: int64; drop_remainder: bool",
		"f: func; "+captures+outputs+"; preserve_cardinality: bool = false"+metadata, false, calling("f", 3, mapAndBatch))
	registerBoth("DenseToSparseBatchDataset", input+"; batch_size: int64; row_shape: int64", outputs, false, on(sparseBatch))
	register("SparseTensorSliceDataset", "indices: int64; values: Tvalues; dense_shape: int64", "Tvalues: type", true, func(c *core.OpContext) (dataset.Dataset, error) {
		in := kept(c, 0, 3)
		return dataset.SparseSlices(in[0], in[1], in[2])
	})
	registerBoth("RebatchDataset", input+"; num_replicas: int64", outputs+"; use_fallback: bool = true", false, on(split))
	register("RebatchDatasetV2", input+"; batch_sizes: int64; drop_remainder: bool", outputs, false, on(rebatch))
	const slide = input + "; window_size: int64; window_shift: int64; window_stride: int64"
	register("SlidingWindowDataset", slide, "drop_remainder: bool = true; "+outputs, false, on(slidingWindow))
	register("ExperimentalSlidingWindowDataset", slide, outputs, false, on(slidingWindow))
	register("ListDataset", "tensors: Tinput_types", "Tinput_types: list(type) >= 1; "+plain, true, list)
	register("IndexFlatMapDataset", input+"; map_func_other_args: Tmap_func_args; index_map_func_other_args: Tindex_map_func_args; output_cardinality: int64",
		"map_func: func; index_map_func: func; Tmap_func_args: list(type) >= 0; Tindex_map_func_args: list(type) >= 0; "+plain, false, on(indexFlatMap))
	register("WeightedFlatMapDataset", "input_datasets: N * variant; weights: M * double", "N: int >= 2; M: int >= 2; "+plain, false, weightedFlatMap)
	const others = "_other_arguments: T"
	registerBoth("GroupByReducerDataset",
		input+"; key_func"+others+"key_func_other_arguments; init_func"+others+"init_func_other_arguments; reduce_func"+others+"reduce_func_other_arguments; finalize_func"+others+"finalize_func_other_arguments",
		"key_func: func; init_func: func; reduce_func: func; finalize_func: func; Tkey_func_other_arguments: list(type) >= 0; Tinit_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; Tfinalize_func_other_arguments: list(type) >= 0; "+outputs,
		true, on(groupByReducer))
}

func choose(c *core.OpContext, selector dataset.Dataset) (dataset.Dataset, error) {
	inputs := make([]dataset.Dataset, c.Inputs()-1)
	for i := range inputs {
		d, err := dataset.Of(c.Input(1 + i))
		if err != nil {
			return nil, err
		}
		inputs[i] = d
	}
	return dataset.Choose(selector, inputs, c.Node.Bool("stop_on_empty_dataset"))
}

// calls returns how many calls the input asks for at once.
func calls(c *core.OpContext, at int) (int64, error) {
	n, err := scalar[int64](c, at, "num_parallel_calls")
	if err == nil {
		err = checkCalls(n)
	}
	return n, err
}

func checkCalls(n int64) error {
	if n == 0 || n < -1 {
		return tf.Errorf(tf.InvalidArgument, "num_parallel_calls must be greater than zero. Got %d.", n)
	}
	return nil
}

func parallelFilter(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
	n, err := calls(c, c.Inputs()-1)
	if err != nil {
		return nil, err
	}
	return dataset.ParallelFilter(in, f, n, c.Node.Str("deterministic") != "false")
}

func mapAndBatch(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
	at := c.Inputs() - 3
	size, err := scalar[int64](c, at, "batch_size")
	if err != nil {
		return nil, err
	}
	if size <= 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "batch_size must be greater than zero. Got %d.", size)
	}
	n, err := calls(c, at+1)
	if err != nil {
		return nil, err
	}
	drop, err := scalar[bool](c, at+2, "drop_remainder")
	if err != nil {
		return nil, err
	}
	one := &dataset.Spec{Types: c.Node.TypesAttr("output_types")}
	for _, s := range declared(c.Node).Shapes {
		if len(s) > 0 {
			s = s[1:]
		}
		one.Shapes = append(one.Shapes, s)
	}
	return dataset.Batch(dataset.ParallelMap(in, f, one, c.Node.Bool("preserve_cardinality"), n, true), size, drop)
}

func sparseBatch(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := scalar[int64](c, 1, "batch_size")
	if err != nil {
		return nil, err
	}
	if c.Input(2).Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "row_shape must be a vector")
	}
	row, err := paddedShape(c.Input(2))
	if err != nil {
		return nil, err
	}
	return dataset.SparseBatch(in, n, row, spec(c))
}

func split(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	n, err := scalar[int64](c, 1, "num_replicas")
	if err != nil {
		return nil, err
	}
	return dataset.Split(in, n, spec(c))
}

func rebatch(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	if c.Input(1).Rank() > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "batch_sizes must be a scalar or a vector.")
	}
	drop, err := scalar[bool](c, 2, "drop_remainder")
	if err != nil {
		return nil, err
	}
	return dataset.Rebatch(in, append([]int64{}, core.Data[int64](c.Input(1))...), drop, spec(c))
}

func slidingWindow(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	var v [3]int64
	for i, name := range []string{"window_size", "window_shift", "window_stride"} {
		n, err := scalar[int64](c, 1+i, name)
		if err != nil {
			return nil, err
		}
		v[i] = n
	}
	drop := c.Node.OpName() != "SlidingWindowDataset" || c.Node.Bool("drop_remainder")
	return dataset.Slide(in, v[0], v[1], v[2], drop)
}

// list makes the dataset of elements whose components lie one after the other
// in the inputs.
func list(c *core.OpContext) (dataset.Dataset, error) {
	s := spec(c)
	n := len(s.Types)
	if c.Inputs()%n != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "the number of tensors must be a multiple of that of components, got %d and %d", c.Inputs(), n)
	}
	var elements []dataset.Element
	for i := 0; i < c.Inputs(); i += n {
		e := kept(c, i, i+n)
		if err := s.Check(e); err != nil {
			return nil, err
		}
		elements = append(elements, e)
	}
	return dataset.List(s, elements), nil
}

// functions returns the functions of attributes, whose captured inputs come one
// list after the other from the second input on.
func functions(c *core.OpContext, names ...string) ([]dataset.Func, error) {
	var fs []dataset.Func
	at := 1
	for _, name := range names {
		end := at + len(c.Node.TypesAttr("T"+name+"_other_arguments"))
		f, err := function(c, name, at, end)
		if err != nil {
			return nil, err
		}
		fs, at = append(fs, f), end
	}
	return fs, nil
}

func groupByReducer(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	f, err := functions(c, "key_func", "init_func", "reduce_func", "finalize_func")
	if err != nil {
		return nil, err
	}
	return dataset.GroupByReducer(in, dataset.Reducer{Key: f[0], First: f[1], Next: f[2], Last: f[3]}, spec(c)), nil
}

func indexFlatMap(c *core.OpContext, in dataset.Dataset) (dataset.Dataset, error) {
	at := 1 + len(c.Node.TypesAttr("Tmap_func_args"))
	f, err := function(c, "map_func", 1, at)
	if err != nil {
		return nil, err
	}
	index, err := function(c, "index_map_func", at, c.Inputs()-1)
	if err != nil {
		return nil, err
	}
	n, err := scalar[int64](c, c.Inputs()-1, "output_cardinality")
	if err != nil {
		return nil, err
	}
	return dataset.IndexFlatMap(in, f, index, n, spec(c)), nil
}

func weightedFlatMap(c *core.OpContext) (dataset.Dataset, error) {
	n := c.Node.Int("N")
	var inputs []dataset.Dataset
	var weights []float64
	for i := range n {
		d, err := dataset.Of(c.Input(i))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, d)
	}
	for i := n; i < c.Inputs(); i++ {
		w, err := scalar[float64](c, i, "weights")
		if err != nil {
			return nil, err
		}
		weights = append(weights, w)
	}
	return dataset.WeightedFlatMap(inputs, weights, spec(c))
}
