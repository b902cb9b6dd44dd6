package data_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

// both adds a sample of an op under its two names.
func both(op string, f func(op string) optest.Sample) {
	optest.Add(f(op), f("Experimental"+op))
}

// over is a sample of an op with numbers besides its input.
func over(op string, n ...int64) optest.Sample {
	return made(op, "", func(g *tf.Graph, x tf.Output) pipe { return slices(x).then(op, ints(g, n...)) })
}

// refused is over for numbers that TensorFlow refuses.
func refused(op, name string, n ...int64) optest.Sample {
	return broken(op, name, func(g *tf.Graph, x tf.Output) pipe { return slices(x).then(op, ints(g, n...)) })
}

// unlike is a sample of an op for which TensorFlow has no kernel.
func unlike(s optest.Sample) optest.Sample {
	s.NoGolden = "TensorFlow has no kernel of it"
	return s
}

// pairs is a dataset of batches of two.
func pairs(g *tf.Graph, x tf.Output) pipe {
	return slices(x).of(tf.Shape{2}).then("BatchDatasetV2", append(ints(g, 2), ops.Scalar(g, true)))
}

func init() {
	both("UniqueDataset", func(op string) optest.Sample { return over(op) })
	both("MaxIntraOpParallelismDataset", func(op string) optest.Sample { return over(op, 2) })
	both("PrivateThreadPoolDataset", func(op string) optest.Sample { return over(op, 2) })
	both("NonSerializableDataset", func(op string) optest.Sample { return over(op) })
	both("SleepDataset", func(op string) optest.Sample { return over(op, 3) })
	both("AutoShardDataset", func(op string) optest.Sample { return over(op, 1, 0) })
	both("RebatchDataset", func(op string) optest.Sample {
		return made(op, "", func(g *tf.Graph, x tf.Output) pipe { return pairs(g, x).of(tf.Shape{-1}).then(op, ints(g, 2)) })
	})
	both("SlidingWindowDataset", func(op string) optest.Sample {
		return made(op, "", func(g *tf.Graph, x tf.Output) pipe { return slices(x).of(tf.Shape{3}).then(op, ints(g, 3, 2, 1)) })
	})
	both("DirectedInterleaveDataset", func(op string) optest.Sample {
		return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
			choice := slices(ops.Const(g, []int64{1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}))
			p := slices(x)
			p.d = tf.Apply(nil, op, []tf.Output{choice.d, p.d, numbers(g, 3).d}, append(p.about(), tf.Attr("N", 2))...).Output(0)
			return p
		})
	})
	both("ChooseFastestDataset", func(op string) optest.Sample {
		return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x)
			p.d = tf.Apply(nil, op, []tf.Output{p.d, p.d}, append(p.about(), tf.Attr("N", 2), tf.Attr("num_experiments", 1))...).Output(0)
			return p
		})
	})
	for _, op := range []string{"LatencyStatsDataset", "BytesProducedStatsDataset"} {
		both(op, func(op string) optest.Sample {
			return made(op, "", func(g *tf.Graph, x tf.Output) pipe { return slices(x).then(op, []tf.Output{ops.Scalar(g, "tag")}) })
		})
	}
	both("RandomDataset", func(op string) optest.Sample {
		return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
			p := numbers(g, 1)
			p.d = tf.Apply(g, op, ints(g, 3, 4), p.about()...).Output(0)
			return p.then("TakeDataset", ints(g, 9))
		})
	})
	optest.Add(
		refused("AutoShardDataset", "index", 2, 2), refused("AutoShardDataset", "workers", 0, 0),
		made("SlidingWindowDataset", "remainder", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).of(tf.Shape{2}).then("SlidingWindowDataset", ints(g, 2, 2, 1), tf.Attr("drop_remainder", false))
		}),
		made("DirectedInterleaveDataset", "stop", func(g *tf.Graph, x tf.Output) pipe {
			choice := slices(ops.Const(g, []int64{1, 0, 1, 1, 0, 0, 1, 0}))
			p := slices(x)
			p.d = tf.Apply(nil, "DirectedInterleaveDataset", []tf.Output{choice.d, p.d, numbers(g, 2).d}, append(p.about(), tf.Attr("N", 2), tf.Attr("stop_on_empty_dataset", true))...).Output(0)
			return p
		}),
		broken("DirectedInterleaveDataset", "number", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x)
			p.d = tf.Apply(nil, "DirectedInterleaveDataset", []tf.Output{p.d, p.d}, append(p.about(), tf.Attr("N", 1))...).Output(0)
			return p
		}),
		made("RebatchDatasetV2", "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x).of(tf.Shape{4}).then("BatchDataset", ints(g, 4)).of(tf.Shape{-1})
			p = p.then("RebatchDatasetV2", []tf.Output{ops.Const(g, []int64{1, 0, 3}), ops.Scalar(g, false)})
			return p.of(tf.Shape{}).then("UnbatchDataset", nil)
		}),
		made("RebatchDatasetV2", "drop", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x).of(tf.Shape{4}).then("BatchDataset", ints(g, 4)).of(tf.Shape{3})
			return p.then("RebatchDatasetV2", []tf.Output{ops.Const(g, []int64{3}), ops.Scalar(g, true)})
		}),
		made("ListDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x).of(x.Shape())
			p.d = tf.Apply(nil, "ListDataset", []tf.Output{x, ops.Add(x, x)}, append(p.about(), tf.Attr("Tinput_types", []tf.DType{tf.Int64, tf.Int64}))...).Output(0)
			return p
		}),
		made("SamplingDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).then("SamplingDataset", append([]tf.Output{ops.Scalar(g, float32(0.5))}, ints(g, 3, 4)...))
		}),
		unlike(made("FilterByLastComponentDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			two := slices(x).as([]tf.DType{tf.Int64, tf.Bool}, tf.Shape{}, tf.Shape{})
			in := []tf.Output{x, ops.Less(x, ops.Scalar(g, int64(5)))}
			two.d = tf.Apply(nil, "TensorSliceDataset", in, tf.Attr("Toutput_types", two.types), tf.Attr("output_shapes", two.shapes)).Output(0)
			p := slices(x)
			p.d = tf.Apply(nil, "FilterByLastComponentDataset", []tf.Output{two.d}, p.about()...).Output(0)
			return p
		})),
		optest.Sample{Op: "GetElementAtIndex", In: []*core.Tensor{optest.Vec[int64](5, 3, 4)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0]).then("SkipDataset", ints(g, 1))
			return p.taken(tf.Apply(nil, "GetElementAtIndex", []tf.Output{p.d, ops.Scalar(g, int64(1))}, p.about()...))
		}},
		optest.Failing("GetElementAtIndex", "beyond", func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0])
			return p.taken(tf.Apply(nil, "GetElementAtIndex", []tf.Output{p.d, ops.Scalar(g, int64(2))}, p.about()...))
		}, optest.Vec[int64](5, 3)),
	)
	sparseSamples()
	optest.Unsampled("RandomDatasetV2", "it takes a handle of what only eager programs have")
	for _, op := range []string{"IgnoreErrorsDataset", "AssertNextDataset"} {
		for _, op := range []string{op, "Experimental" + op} {
			optest.Unsampled(op, "it differs from its input where that fails, see TestIgnoreErrors and TestAssertNext")
		}
	}
	optest.Unsampled("AssertPrevDataset", "TensorFlow's own rewriting is what it asks about")
	for _, op := range []string{"ThreadPoolDataset", "ThreadPoolHandle", "SetStatsAggregatorDataset", "StatsAggregatorHandle"} {
		for _, op := range []string{op, "Experimental" + op} {
			optest.Unsampled(op, "it takes what a dataset is computed with, which does not change what comes, see TestPassedOn")
		}
	}
	for _, op := range []string{"StatsAggregatorHandleV2", "StatsAggregatorSetSummaryWriter", "StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"} {
		optest.Unsampled(op, "no dataset is measured, see TestNothingIsMeasured")
	}
	optest.Add(oneOf("ChooseFastestBranchDataset", func(g *tf.Graph, p pipe) []tf.Output {
		f := p.as([]tf.DType{tf.Variant}, tf.Shape{}).function("branch", func(x []tf.Output) []tf.Output {
			q := p
			q.d = x[0]
			return []tf.Output{q.then("PrefetchDataset", ints(x[0].Graph(), 2)).d}
		})
		// Of nodes that are not run the function's name is taken, by which it is known.
		known, _ := author.CallLater("FlatMapDataset", []tf.Output{p.d}, function1("f", f), nil, p.about()...).Attr("f").(core.Func)
		one := ops.Scalar(g, int64(1))
		attrs := append(p.about(), tf.Attr("branches", []core.Func{known}), tf.Attr("other_arguments_lengths", []int64{0}), tf.Attr("num_elements_per_branch", 1), tf.Attr("Targuments", []tf.DType{}))
		p.d = tf.Apply(nil, "ChooseFastestBranchDataset", []tf.Output{p.d, one, one}, attrs...).Output(0)
		return p.all()
	}), optest.Failing("IteratorGetModelProto", "none", func(g *tf.Graph, in []tf.Output) []tf.Output {
		p := slices(in[0])
		it := p.named("AnonymousIteratorV3")
		return []tf.Output{tf.Apply(nil, "IteratorGetModelProto", []tf.Output{it}).Output(0)}
	}, optest.Vec[int64](5, 3)))
}

// TestNothingIsMeasured: what asks for statistics gets a summary of none.
func TestNothingIsMeasured(t *testing.T) {
	g := tf.NewGraph()
	h := tf.Apply(g, "StatsAggregatorHandleV2", nil).Output(0)
	set := tf.Apply(nil, "StatsAggregatorSetSummaryWriter", []tf.Output{h, h})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range []string{"StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"} {
		v, err := s.Run(t.Context(), nil, tf.Apply(nil, op, []tf.Output{h}).Output(0), set)
		if err != nil || tf.Data[string](v[0])[0] != "" {
			t.Errorf("%s: %v (%v)", op, v, err)
		}
	}
}

// sparseSamples have datasets that have to do with sparse tensors.
func sparseSamples() {
	rows := func(g *tf.Graph, op string) tf.Output {
		at := ops.ConstValue(g, optest.Mat[int64](2, 0, 1, 0, 3, 2, 0))
		return tf.Apply(g, op, []tf.Output{at, ops.Const(g, []int64{5, 6, 7}), ops.Const(g, []int64{3, 4})}).Output(0)
	}
	optest.Add(made("SparseTensorSliceDataset", "", func(g *tf.Graph, x tf.Output) pipe {
		three := slices(x).as([]tf.DType{tf.Int64, tf.Int64, tf.Int64}, tf.Shape{-1, 1}, tf.Shape{-1}, tf.Shape{1})
		three.d = rows(g, "SparseTensorSliceDataset")
		// Rows differ in size: they are padded, one after the other.
		sizes := []tf.Output{ops.Const(g, []int64{2, 1}), ops.Const(g, []int64{2}), ops.Const(g, []int64{1})}
		in := append(append(append([]tf.Output{three.d}, ints(g, 1)...), sizes...), ints(g, -1, -1, -1)...)
		p := three.of(tf.Shape{-1, 2, 1}, tf.Shape{-1, 2}, tf.Shape{-1, 1})
		p.d = tf.Apply(nil, "PaddedBatchDataset", in, tf.Attr("Toutput_types", p.types), tf.Attr("output_shapes", p.shapes), tf.Attr("N", 3)).Output(0)
		return p.of(tf.Shape{2, 1}, tf.Shape{2}, tf.Shape{1}).then("UnbatchDataset", nil)
	}))
	both("DenseToSparseBatchDataset", func(op string) optest.Sample {
		return optest.Sample{Op: op, In: []*core.Tensor{optest.Vec[int64](5, 3, 4, 5, 1, 9)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := pairs(g, in[0]).as([]tf.DType{tf.Variant}, tf.Shape{3}).then(op, append(ints(g, 3), ops.Const(g, []int64{-1})))
			v := tf.Apply(nil, "DatasetToSingleElement", []tf.Output{p.d}, p.about()...).Output(0)
			parts := tf.Apply(nil, "DeserializeSparse", []tf.Output{v}, tf.Attr("dtype", tf.Int64))
			return []tf.Output{parts.Output(0), parts.Output(1), parts.Output(2)}
		}}
	})
}
