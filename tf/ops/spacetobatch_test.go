package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	toBatch, toSpace := ternary(ops.SpaceToBatchND), ternary(ops.BatchToSpaceND)
	const ranks = "the rank of block_shape must be known"
	refused := func(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) sample {
		s := failing(op, name, f, in...)
		s.NoGolden = "TensorFlow refuses to build the graph"
		return s
	}
	none := mat[int32](2, 0, 0, 0, 0)
	addSamples(
		sample{Op: "SpaceToBatchND", In: []*core.Tensor{seq(2, 3, 5, 2), i32(2, 3), mat[int32](2, 0, 1, 1, 0)}, F: toBatch, Static: ranks},
		sample{Op: "SpaceToBatchND", Name: "line", In: []*core.Tensor{seq(1, 4), vec[int64](2), mat[int64](2, 2, 0)}, F: toBatch},
		sample{Op: "SpaceToBatchND", Name: "nothing", In: []*core.Tensor{seq(2, 3), i32(), arr[int32](tf.Shape{0, 2})}, F: toBatch},
		refused("SpaceToBatchND", "block", toBatch, seq(2, 3, 5, 2), i32(2, 3), none),
		refused("SpaceToBatchND", "rank", toBatch, seq(2, 3), i32(2, 3), none),
		refused("SpaceToBatchND", "paddings", toBatch, seq(2, 3, 5, 2), i32(2, 3), mat[int32](1, 0, 1)),
		refused("SpaceToBatchND", "zero", toBatch, seq(2, 4, 6, 2), i32(2, 0), none),
		refused("SpaceToBatchND", "matrix", toBatch, seq(2, 4, 6, 2), mat[int32](1, 2), none),
		refused("SpaceToBatchND", "negative", toBatch, seq(2, 4, 6, 2), i32(2, 2), mat[int32](2, 0, -2, 0, 0)),
		sample{Op: "BatchToSpaceND", In: []*core.Tensor{seq(6, 2, 3, 2), i32(3, 2), mat[int32](2, 1, 0, 0, 2)}, F: toSpace, Static: ranks},
		sample{Op: "BatchToSpaceND", Name: "line", In: []*core.Tensor{seq(4, 4), vec[int64](2), mat[int64](2, 2, 0)}, F: toSpace},
		refused("BatchToSpaceND", "batch", toSpace, seq(5, 2, 3, 2), i32(3, 2), none),
		refused("BatchToSpaceND", "crops", toSpace, seq(6, 2, 3, 2), i32(3, 2), mat[int32](2, 5, 6, 0, 0)),
		refused("BatchToSpaceND", "negative", toSpace, seq(6, 2, 3, 2), i32(3, 2), mat[int32](2, -1, 0, 0, 0)),
		refused("BatchToSpaceND", "rank", toSpace, seq(6, 2), i32(3, 2), none),
	)
	squareBatch := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.SpaceToBatch(in[0], in[1], 2)} }
	squareSpace := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.BatchToSpace(in[0], in[1], 2)} }
	toDepth := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.SpaceToDepth(in[0], 2)} }
	fromDepth := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.DepthToSpace(in[0], 2)} }
	channelsFirst := ops.SpaceToDepthOpts{DataFormat: "NCHW"} // needs a GPU
	firstToDepth := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.SpaceToDepth(in[0], 2, channelsFirst)}
	}
	firstFromDepth := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.DepthToSpace(in[0], 2, channelsFirst)}
	}
	const placed = "TensorFlow's text lists every kernel"
	addSamples(
		sample{Op: "SpaceToBatch", In: []*core.Tensor{seq(1, 3, 4, 2), mat[int32](2, 1, 0, 0, 2)}, F: squareBatch},
		sample{Op: "BatchToSpace", In: []*core.Tensor{seq(4, 2, 3, 1), mat[int32](2, 1, 0, 0, 2)}, F: squareSpace},
		sample{Op: "SpaceToDepth", In: []*core.Tensor{seq(2, 4, 6, 3)}, F: toDepth},
		failing("SpaceToDepth", "size", toDepth, seq(2, 4, 5, 3)),
		failing("SpaceToDepth", "rank", toDepth, seq(2, 4, 6)),
		sample{Op: "DepthToSpace", In: []*core.Tensor{seq(2, 2, 3, 12)}, F: fromDepth},
		sample{Op: "SpaceToDepth", Name: "channels first", In: []*core.Tensor{seq(2, 4, 4, 2)}, F: firstToDepth, Fails: true, NoGolden: placed},
		sample{Op: "DepthToSpace", Name: "channels first", In: []*core.Tensor{seq(2, 4, 4, 2)}, F: firstFromDepth, Fails: true, NoGolden: placed},
		failing("DepthToSpace", "depth", fromDepth, seq(2, 2, 3, 6)),
		failing("DepthToSpace", "rank", fromDepth, seq(2, 4, 6)),
	)
}
