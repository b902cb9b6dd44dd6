package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/raw"
)

func init() {
	gather := func(o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output { return ternary(ops.GatherV2, o...) }
	rows, batched := gather(), gather(ops.GatherOpts{BatchDims: 1})
	axis := func(v int32) *core.Tensor { return scalar(v) }
	x := seq(4, 3)
	addSamples(
		sample{Op: "GatherV2", In: []*core.Tensor{x, i32(2, 0, 2), axis(0)}, F: rows},
		sample{Op: "GatherV2", Name: "indices int16", In: []*core.Tensor{x, vec[int16](2, 0, 2), axis(0)}, F: rows},
		sample{Op: "GatherV2", Name: "scalar", In: []*core.Tensor{x, scalar[int64](3), scalar[int64](0)}, F: rows},
		sample{Op: "GatherV2", Name: "matrix", In: []*core.Tensor{x, mat[int32](2, 0, 1, 1, 3), axis(0)}, F: rows},
		sample{Op: "GatherV2", Name: "columns", In: []*core.Tensor{x, i32(2, 0, 2), axis(1)}, F: rows},
		sample{Op: "GatherV2", Name: "inside", In: []*core.Tensor{seq(2, 3, 4), mat[int64](2, 0, 2, 1, 1), axis(-2)}, F: rows},
		sample{Op: "GatherV2", Name: "batch", In: []*core.Tensor{seq(2, 3, 4), mat[int32](2, 0, 2, 1, 1), axis(1)}, F: batched},
		sample{Op: "GatherV2", Name: "batch, last axis", In: []*core.Tensor{seq(2, 3, 4), mat[int32](2, 3, 2, 1, 1), axis(2)}, F: batched},
		sample{Op: "GatherV2", Name: "two batch dimensions", In: []*core.Tensor{seq(2, 2, 4), arr(tf.Shape{2, 2, 1}, int32(3), 2, 1, 0), axis(2)}, F: gather(ops.GatherOpts{BatchDims: 2})},
		sample{Op: "GatherV2", Name: "nothing", In: []*core.Tensor{x, i32(), axis(0)}, F: rows},
		failing("GatherV2", "index", rows, seq(2, 3), scalar[int32](5), axis(0)),
		failing("GatherV2", "index in matrix", rows, seq(2, 3), mat[int32](2, 0, 5), axis(0)),
		failing("GatherV2", "negative index", rows, seq(2, 3), i32(0, -1), axis(0)),
		failing("GatherV2", "batch dims", gather(ops.GatherOpts{BatchDims: 3}), seq(2, 3), mat[int32](1, 0, 1), axis(1)),
		failing("GatherV2", "batch size", batched, seq(2, 3), mat[int32](1, 0, 1, 1), axis(1)),
		failing("GatherV2", "batch index", batched, seq(2, 3), mat[int32](1, 0, 5), axis(1)),
		failing("GatherV2", "batch after axis", batched, seq(2, 3), mat[int32](1, 0, 1), axis(0)),
		failing("GatherV2", "scalar", rows, scalar(float32(1)), i32(0), axis(0)),
		failing("GatherV2", "axes", rows, seq(2, 3), i32(0), i32(0, 1)),
		failing("GatherV2", "empty", rows, seq(0, 3), i32(0), axis(0)),
		sample{Op: "Gather", In: []*core.Tensor{x, i32(2, 0, 2)}, F: binary(raw.Gather)},
		failing("Gather", "index", binary(raw.Gather), x, i32(4)),
	)
	addSegmentSamples()
	addOneHotSamples()
}

func addSegmentSamples() {
	sum := ternary(ops.UnsortedSegmentSum)
	n := func(v int32) *core.Tensor { return scalar(v) }
	addSamples(
		sample{Op: "UnsortedSegmentSum", In: []*core.Tensor{seq(4, 3), i32(2, 0, -1, 2), n(3)}, F: sum},
		sample{Op: "UnsortedSegmentSum", Name: "matrix", In: []*core.Tensor{seq(2, 2, 3), mat[int64](2, 1, 0, 1, 1), scalar[int64](2)}, F: sum},
		sample{Op: "UnsortedSegmentSum", Name: "vector", In: []*core.Tensor{seq(4), vec[int16](1, 1, 3, 1), n(5)}, F: sum},
		failing("UnsortedSegmentSum", "id", sum, seq(2, 3), i32(0, 5), n(3)),
		failing("UnsortedSegmentSum", "ids", sum, seq(2, 3), i32(0, 1, 2), n(3)),
		failing("UnsortedSegmentSum", "negative", sum, seq(2, 3), i32(0, 1), n(-3)),
		failing("UnsortedSegmentSum", "count", sum, seq(2, 3), i32(0, 1), i32(3)),
		failing("UnsortedSegmentSum", "id in matrix", sum, seq(2, 3), mat[int32](3, 0, 1, 5, 1, 1, 7), n(3)),
	)
}

func addOneHotSamples() {
	hot := func(axis int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.OneHot(in[2], in[3], in[0], in[1], ops.OneHotOpts{Axis: axis})}
		}
	}
	on, off := scalar(float32(2)), scalar(float32(-1))
	addSamples(
		sample{Op: "OneHot", In: []*core.Tensor{on, off, vec[int64](1, 3, -1, 0), scalar[int32](3)}, F: hot(-1)},
		sample{Op: "OneHot", Name: "first", In: []*core.Tensor{on, off, mat[int32](2, 1, 0, 2, 2), scalar[int32](3)}, F: hot(0)},
		sample{Op: "OneHot", Name: "inside", In: []*core.Tensor{on, off, mat[uint8](2, 1, 0, 2, 2), scalar[int32](3)}, F: hot(1)},
		sample{Op: "OneHot", Name: "scalar", In: []*core.Tensor{on, off, scalar[int8](2), scalar[int32](3)}, F: hot(-1)},
		failing("OneHot", "depth", hot(-1), on, off, i32(0), scalar[int32](-1)),
		failing("OneHot", "axis", hot(4), on, off, i32(0), scalar[int32](3)),
		failing("OneHot", "depths", hot(-1), on, off, i32(0), i32(3)),
		failing("OneHot", "on", hot(-1), vec[float32](1), off, i32(0), scalar[int32](3)),
	)
}
