package data_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	no, yes := func(g *tf.Graph) tf.Output { return ops.Scalar(g, false) }, func(g *tf.Graph) tf.Output { return ops.Scalar(g, true) }
	optest.Add(
		made("RangeDataset", "", func(g *tf.Graph, x tf.Output) pipe { return numbers(g, 7) }),
		made("TensorSliceDataset", "", func(g *tf.Graph, x tf.Output) pipe { return slices(x) }),
		made("TensorDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x).of(x.Shape())
			p.d = tf.Apply(nil, "TensorDataset", []tf.Output{x}, tf.Attr("Toutput_types", p.types), tf.Attr("output_shapes", p.shapes)).Output(0)
			return p
		}),
		over("RepeatDataset", 3), over("TakeDataset", 3), over("SkipDataset", 3), over("PrefetchDataset", 2), over("ShardDataset", 3, 1),
		over("ShuffleDataset", 4, 2, 3), over("ShuffleAndRepeatDataset", 4, 2, 3, 3), over("AssertCardinalityDataset", 8),
		refused("ShardDataset", "index", 3, 3), refused("ShardDataset", "none", 0, 0), refused("ShuffleDataset", "buffer", 0, 1, 2),
		refused("ShuffleAndRepeatDataset", "count", 2, 1, 2, 0), refused("BatchDataset", "size", 0), refused("AssertCardinalityDataset", "more", 1),
		refused("AssertCardinalityDataset", "fewer", 3),
		made("ConcatenateDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).then("ConcatenateDataset", []tf.Output{numbers(g, 3).d})
		}),
		made("ZipDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x).as([]tf.DType{tf.Int64, tf.Int64}, tf.Shape{}, tf.Shape{})
			p.d = tf.Apply(nil, "ZipDataset", []tf.Output{p.d, numbers(g, 5).d}, p.about()...).Output(0)
			return p
		}),
		made("BatchDataset", "", func(g *tf.Graph, x tf.Output) pipe { return slices(x).of(tf.Shape{4}).then("BatchDataset", ints(g, 4)) }),
		made("BatchDatasetV2", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).of(tf.Shape{3}).then("BatchDatasetV2", append(ints(g, 3), yes(g)))
		}),
		made("ParallelBatchDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).of(tf.Shape{3}).then("ParallelBatchDataset", append(ints(g, 3, 2), yes(g)))
		}),
		made("UnbatchDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(ops.Reshape(x, ops.ConstValue(g, optest.I32(2, 4)))).of(tf.Shape{}).then("UnbatchDataset", nil)
		}),
		made("ExperimentalUnbatchDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(ops.Reshape(x, ops.ConstValue(g, optest.I32(4, 2)))).of(tf.Shape{}).then("ExperimentalUnbatchDataset", nil)
		}),
		made("CacheDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).then("CacheDataset", []tf.Output{ops.Scalar(g, "")}).then("RepeatDataset", ints(g, 2))
		}),
	)
	for _, op := range []string{"PaddedBatchDataset", "PaddedBatchDatasetV2"} {
		optest.Add(made(op, "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(ops.Reshape(x, ops.ConstValue(g, optest.I32(4, 2)))).of(tf.Shape{2, 3})
			in := []tf.Output{p.d, ops.Scalar(g, int64(2)), ops.ConstValue(g, optest.Vec[int64](3)), ops.Scalar(g, int64(-7))}
			if op == "PaddedBatchDatasetV2" {
				in = append(in, no(g))
			}
			p.d = tf.Apply(nil, op, in, tf.Attr("Toutput_types", p.types), tf.Attr("output_shapes", p.shapes), tf.Attr("N", 1)).Output(0)
			return p
		}))
	}
	optest.Add(
		optest.Sample{Op: "DatasetCardinality", In: []*core.Tensor{optest.Vec[int64](1, 2, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			var out []tf.Output
			p := slices(in[0])
			for _, d := range []pipe{p, p.then("TakeDataset", ints(g, 2)), p.then("RepeatDataset", ints(g, -1)), p.then("BatchDataset", ints(g, 2))} {
				out = append(out, tf.Apply(nil, "DatasetCardinality", []tf.Output{d.d}).Output(0))
			}
			return out
		}},
		optest.Sample{Op: "ExperimentalDatasetCardinality", In: []*core.Tensor{optest.Vec[int64](1, 2, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{tf.Apply(nil, "ExperimentalDatasetCardinality", []tf.Output{slices(in[0]).d}).Output(0)}
		}},
		broken("DatasetToSingleElement", "empty", func(g *tf.Graph, x tf.Output) pipe { return slices(x).then("TakeDataset", ints(g, 0)) }),
	)
	for op, attr := range map[string][]tf.Option{"OptionsDataset": {tf.Attr("serialized_options", "")}, "ModelDataset": nil} {
		optest.Add(made(op, "", func(g *tf.Graph, x tf.Output) pipe { return slices(x).then(op, nil, attr...) }))
	}
	optest.Add(made("RewriteDataset", "", func(g *tf.Graph, x tf.Output) pipe {
		return slices(x).then("RewriteDataset", []tf.Output{ops.Scalar(g, "replicate_on_split")})
	}))
	none := func(g *tf.Graph) tf.Output { return ops.ConstValue(g, optest.Arr[string](tf.Shape{0})) }
	optest.Add(
		made("OptimizeDataset", "", func(g *tf.Graph, x tf.Output) pipe { return slices(x).then("OptimizeDataset", []tf.Output{none(g)}) }),
		made("OptimizeDatasetV2", "", func(g *tf.Graph, x tf.Output) pipe {
			return slices(x).then("OptimizeDatasetV2", []tf.Output{none(g), none(g), none(g)})
		}),
	)
}
