package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	reverse, dims, roll := binary(ops.ReverseV2), applied("Reverse"), ternary(ops.Roll[tf.Output, tf.Output])
	addSamples(
		sample{Op: "ReverseV2", In: []*core.Tensor{seq(2, 3, 2), i32(1, 0)}, F: reverse},
		sample{Op: "ReverseV2", Name: "last", In: []*core.Tensor{seq(2, 3), vec[int64](-1)}, F: reverse},
		sample{Op: "ReverseV2", Name: "none", In: []*core.Tensor{seq(2, 3), i32()}, F: reverse},
		failing("ReverseV2", "twice", reverse, seq(2, 3), i32(1, -1)),
		sample{Op: "Reverse", In: []*core.Tensor{seq(2, 3, 2), vec(true, false, true)}, F: dims},
		failing("Reverse", "count", dims, seq(2, 3, 2), vec(true, false)),
		sample{Op: "Roll", In: []*core.Tensor{seq(3, 4), scalar[int32](5), scalar[int32](1)}, F: roll},
		sample{Op: "Roll", Name: "two", In: []*core.Tensor{seq(3, 4, 2), vec[int64](-1, 2), i32(0, -2)}, F: roll},
		sample{Op: "Roll", Name: "twice", In: []*core.Tensor{seq(5), i32(1, 2), i32(0, 0)}, F: roll},
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
		sample{Op: "ReverseSequence", In: []*core.Tensor{seq(3, 4, 2), vec[int64](2, 4, 0)}, F: sequence(1, 0)},
		sample{Op: "ReverseSequence", Name: "before", In: []*core.Tensor{seq(3, 2, 2), i32(2, 3)}, F: sequence(0, 2)},
		failing("ReverseSequence", "length", sequence(1, 0), seq(3, 4, 2), i32(2, 5, 0)),
		failing("ReverseSequence", "negative", sequence(1, 0), seq(3, 4, 2), i32(2, -5, 0)),
		failing("ReverseSequence", "count", sequence(1, 0), seq(3, 4, 2), i32(2, 0)),
		failing("ReverseSequence", "matrix", sequence(1, 0), seq(3, 4, 2), mat[int32](1, 2, 0, 1)),
	)
	split := func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.DynamicPartition(in[0], in[1], 3) }
	addSamples(
		sample{Op: "DynamicPartition", In: []*core.Tensor{seq(4, 2), i32(2, 0, 2, 0)}, F: split},
		sample{Op: "DynamicPartition", Name: "matrix", In: []*core.Tensor{seq(2, 2, 3), mat[int32](2, 2, 1, 0, 1)}, F: split},
		sample{Op: "DynamicPartition", Name: "scalar", In: []*core.Tensor{seq(2), scalar[int32](1)}, F: split},
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
		sample{Op: "Unique", In: []*core.Tensor{x}, F: unique},
		sample{Op: "Unique", Name: "nothing", In: []*core.Tensor{seq(0)}, F: unique},
		failing("Unique", "matrix", unique, seq(2, 2)),
		sample{Op: "UniqueWithCounts", In: []*core.Tensor{x}, F: counts},
		sample{Op: "UniqueV2", In: []*core.Tensor{m, vec[int64](0)}, F: along},
		sample{Op: "UniqueV2", Name: "columns", In: []*core.Tensor{m, i32(1)}, F: along},
		sample{Op: "UniqueV2", Name: "vector", In: []*core.Tensor{x, i32()}, F: along},
		failing("UniqueV2", "matrix", along, m, i32()),
		failing("UniqueV2", "axis", along, m, i32(2)),
		failing("UniqueV2", "axes", along, m, i32(0, 1)),
		sample{Op: "UniqueWithCountsV2", In: []*core.Tensor{m, vec[int64](-1)}, F: countsAlong},
	)
}
