package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	reverse, dims, roll := binary(ops.ReverseV2), applied("Reverse"), ternary(ops.Roll)
	addSamples(
		sample{op: "ReverseV2", in: []*tf.Tensor{seq(2, 3, 2), i32(1, 0)}, f: reverse},
		sample{op: "ReverseV2", name: "last", in: []*tf.Tensor{seq(2, 3), vec[int64](-1)}, f: reverse},
		sample{op: "ReverseV2", name: "none", in: []*tf.Tensor{seq(2, 3), i32()}, f: reverse},
		failing("ReverseV2", "twice", reverse, seq(2, 3), i32(1, -1)),
		sample{op: "Reverse", in: []*tf.Tensor{seq(2, 3, 2), vec(true, false, true)}, f: dims},
		failing("Reverse", "count", dims, seq(2, 3, 2), vec(true, false)),
		sample{op: "Roll", in: []*tf.Tensor{seq(3, 4), scalar[int32](5), scalar[int32](1)}, f: roll},
		sample{op: "Roll", name: "two", in: []*tf.Tensor{seq(3, 4, 2), vec[int64](-1, 2), i32(0, -2)}, f: roll},
		sample{op: "Roll", name: "twice", in: []*tf.Tensor{seq(5), i32(1, 2), i32(0, 0)}, f: roll},
		failing("Roll", "axis", roll, seq(3, 4), scalar[int32](1), scalar[int32](2)),
		failing("Roll", "size", roll, seq(3, 4), i32(1), i32(0, 1)),
		failing("Roll", "scalar", roll, seq(), scalar[int32](1), scalar[int32](0)),
		failing("Roll", "matrix", roll, seq(3), mat[int32](1, 1), mat[int32](1, 0)),
	)
	sequence := func(seq, batch int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.ReverseSequence(in[0], in[1], seq, ops.ReverseSequenceOpts{BatchDim: batch})}
		}
	}
	addSamples(
		sample{op: "ReverseSequence", in: []*tf.Tensor{seq(3, 4, 2), vec[int64](2, 4, 0)}, f: sequence(1, 0)},
		sample{op: "ReverseSequence", name: "before", in: []*tf.Tensor{seq(3, 2, 2), i32(2, 3)}, f: sequence(0, 2)},
		failing("ReverseSequence", "length", sequence(1, 0), seq(3, 4, 2), i32(2, 5, 0)),
		failing("ReverseSequence", "negative", sequence(1, 0), seq(3, 4, 2), i32(2, -5, 0)),
		failing("ReverseSequence", "count", sequence(1, 0), seq(3, 4, 2), i32(2, 0)),
		failing("ReverseSequence", "matrix", sequence(1, 0), seq(3, 4, 2), mat[int32](1, 2, 0, 1)),
	)
	split := func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.DynamicPartition(in[0], in[1], 3) }
	addSamples(
		sample{op: "DynamicPartition", in: []*tf.Tensor{seq(4, 2), i32(2, 0, 2, 0)}, f: split},
		sample{op: "DynamicPartition", name: "matrix", in: []*tf.Tensor{seq(2, 2, 3), mat[int32](2, 2, 1, 0, 1)}, f: split},
		sample{op: "DynamicPartition", name: "scalar", in: []*tf.Tensor{seq(2), scalar[int32](1)}, f: split},
		failing("DynamicPartition", "number", split, seq(3, 2), i32(0, 3, 1)),
		failing("DynamicPartition", "shape", split, seq(3, 2), i32(0, 1)),
	)
	addUniqueSamples()
}

func addUniqueSamples() {
	unique, counts := applied("Unique"), applied("UniqueWithCounts")
	along, countsAlong := applied("UniqueV2"), applied("UniqueWithCountsV2", tf.Attr("out_idx", tf.Int64))
	x := vec[float32](3, 1, 3, 2, 1)
	m := mat[float32](3, 1, 2, 1, 0, 4, 0, 1, 2, 1)
	addSamples(
		sample{op: "Unique", in: []*tf.Tensor{x}, f: unique},
		sample{op: "Unique", name: "nothing", in: []*tf.Tensor{seq(0)}, f: unique},
		failing("Unique", "matrix", unique, seq(2, 2)),
		sample{op: "UniqueWithCounts", in: []*tf.Tensor{x}, f: counts},
		sample{op: "UniqueV2", in: []*tf.Tensor{m, vec[int64](0)}, f: along},
		sample{op: "UniqueV2", name: "columns", in: []*tf.Tensor{m, i32(1)}, f: along},
		sample{op: "UniqueV2", name: "vector", in: []*tf.Tensor{x, i32()}, f: along},
		failing("UniqueV2", "matrix", along, m, i32()),
		failing("UniqueV2", "axis", along, m, i32(2)),
		failing("UniqueV2", "axes", along, m, i32(0, 1)),
		sample{op: "UniqueWithCountsV2", in: []*tf.Tensor{m, vec[int64](-1)}, f: countsAlong},
	)
}
