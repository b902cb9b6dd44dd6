package data

import (
	"runtime"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const keeps, threads = "; preserve_cardinality: bool = false", "; use_inter_op_parallelism: bool = true"
	registerBoth("MapDataset", captured, "f: func; "+captures+outputs+threads+keeps+"; force_synchronous: bool = false"+metadata, false, calling("f", 0, mapDataset))
	register("ParallelMapDataset", captured+"; num_parallel_calls: int32", "f: func; "+captures+outputs+threads+"; sloppy: bool = false"+keeps+metadata, false, calling("f", 1, parallelMap[int32]))
	register("ParallelMapDatasetV2", captured+"; num_parallel_calls: int64",
		"f: func; "+captures+outputs+threads+"; deterministic: string = 'default'"+keeps+"; use_unbounded_threadpool: bool = false"+metadata, false, calling("f", 1, parallelMap[int64]))
	register("FilterDataset", captured, "predicate: func; "+captures+plain, false, calling("predicate", 0, predicated(dataset.Filter)))
	registerBoth("TakeWhileDataset", captured, "predicate: func; "+captures+plain, false, calling("predicate", 0, predicated(dataset.TakeWhile)))
	register("FlatMapDataset", captured, "f: func; "+captures+plain, false, calling("f", 0, flatMap))
	const cycle = captured + "; cycle_length: int64; block_length: int64"
	register("InterleaveDataset", cycle, "f: func; "+captures+plain, false, calling("f", 2, interleave(2, 0)))
	const choice, sloppy = "f: func; deterministic: string = 'default'; ", "f: func; "
	register("ParallelInterleaveDatasetV2", cycle+"; num_parallel_calls: int64", sloppy+captures+outputs+"; sloppy: bool = false"+metadata, false, calling("f", 3, interleave(3, 1)))
	register("ParallelInterleaveDatasetV3", cycle+"; num_parallel_calls: int64", choice+captures+plain, false, calling("f", 3, interleave(3, 1)))
	const buffers = "; buffer_output_elements: int64; prefetch_input_elements: int64"
	registerBoth("ParallelInterleaveDataset", cycle+"; sloppy: bool"+buffers, sloppy+captures+plain, false, calling("f", 5, legacyInterleave))
	register("LegacyParallelInterleaveDatasetV2", cycle+buffers, choice+captures+plain, false, calling("f", 4, legacyInterleave))
	register("ParallelInterleaveDatasetV4", cycle+"; buffer_output_elements: int64; prefetch_input_elements: int64; num_parallel_calls: int64", choice+captures+plain, false, calling("f", 5, interleave(5, 1)))
}

func mapDataset(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
	return dataset.Map(in, f, spec(c), c.Node.Bool("preserve_cardinality")), nil
}

func parallelMap[T int32 | int64](c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
	n, err := scalar[T](c, c.Inputs()-1, "num_parallel_calls")
	if err != nil {
		return nil, err
	}
	if err := checkCalls(int64(n)); err != nil {
		return nil, err
	}
	return dataset.ParallelMap(in, f, spec(c), c.Node.Bool("preserve_cardinality"), int64(n), inOrder(c)), nil
}

func predicated(of func(dataset.Dataset, dataset.Func) dataset.Dataset) func(*core.OpContext, dataset.Dataset, dataset.Func) (dataset.Dataset, error) {
	return func(_ *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
		return of(in, f), nil
	}
}

func flatMap(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
	return dataset.FlatMap(in, f, spec(c)), nil
}

// lanes is how many datasets are gone around among by default. It depends
// on how many calls there may be at once; 0: one after the other.
func lanes(calls int64) int64 {
	cores := int64(runtime.GOMAXPROCS(0))
	switch {
	case calls < 0:
		return (cores + 2) / 3
	case calls > 0:
		return min(calls, cores)
	}
	return cores
}

// interleave makes the maker of interleaved datasets, of which the last few
// inputs are numbers.
func interleave(last int, ahead int64) func(*core.OpContext, dataset.Dataset, dataset.Func) (dataset.Dataset, error) {
	return func(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
		at := c.Inputs() - last
		cycle, err := scalar[int64](c, at, "cycle_length")
		if err != nil {
			return nil, err
		}
		block, err := scalar[int64](c, at+1, "block_length")
		if err != nil {
			return nil, err
		}
		n := int64(0)
		if ahead > 0 {
			if n, err = calls(c, c.Inputs()-1); err != nil {
				return nil, err
			}
		}
		if cycle == -1 {
			cycle = lanes(n)
		}
		if ahead > 0 && !inOrder(c) {
			return dataset.InterleaveAny(in, f, spec(c), cycle, block, ahead*block)
		}
		return dataset.Interleave(in, f, spec(c), cycle, block, ahead*block)
	}
}

// inOrder reports whether the node keeps elements in order.
func inOrder(c *core.OpContext) bool {
	return !c.Node.Bool("sloppy") && c.Node.Str("deterministic") != "false"
}

// legacyInterleave makes interleaved datasets whose elements are computed in
// advance.
func legacyInterleave(c *core.OpContext, in dataset.Dataset, f dataset.Func) (dataset.Dataset, error) {
	last, ordered := 4, inOrder(c)
	if c.Node.OpName() != "LegacyParallelInterleaveDatasetV2" {
		last = 5
		sloppy, err := scalar[bool](c, c.Inputs()-3, "sloppy")
		if err != nil {
			return nil, err
		}
		ordered = !sloppy
	}
	at := c.Inputs() - last
	cycle, err := scalar[int64](c, at, "cycle_length")
	if err != nil {
		return nil, err
	}
	block, err := scalar[int64](c, at+1, "block_length")
	if err != nil {
		return nil, err
	}
	ahead, err := scalar[int64](c, c.Inputs()-2, "buffer_output_elements")
	if err != nil {
		return nil, err
	}
	more, err := scalar[int64](c, c.Inputs()-1, "prefetch_input_elements")
	if err != nil {
		return nil, err
	}
	switch {
	case ahead != -1 && ahead <= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "`buffer_output_elements` must be > 0")
	case more < -1:
		return nil, tf.Errorf(tf.InvalidArgument, "`prefetch_input_elements` must be >= 0")
	case ahead == -1:
		ahead = block
	}
	if !ordered {
		return dataset.InterleaveAny(in, f, spec(c), cycle, block, ahead)
	}
	return dataset.Interleave(in, f, spec(c), cycle, block, ahead)
}
