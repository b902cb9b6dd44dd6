package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	toBatch, toSpace := ternary(ops.SpaceToBatchND), ternary(ops.BatchToSpaceND)
	const ranks = "the rank of block_shape must be known"
	refused := func(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*tf.Tensor) sample {
		s := failing(op, name, f, in...)
		s.noGolden = "TensorFlow refuses to build the graph"
		return s
	}
	none := mat[int32](2, 0, 0, 0, 0)
	addSamples(
		sample{op: "SpaceToBatchND", in: []*tf.Tensor{seq(2, 3, 5, 2), i32(2, 3), mat[int32](2, 0, 1, 1, 0)}, f: toBatch, static: ranks},
		sample{op: "SpaceToBatchND", name: "line", in: []*tf.Tensor{seq(1, 4), vec[int64](2), mat[int64](2, 2, 0)}, f: toBatch},
		sample{op: "SpaceToBatchND", name: "nothing", in: []*tf.Tensor{seq(2, 3), i32(), arr[int32](tf.Shape{0, 2})}, f: toBatch},
		refused("SpaceToBatchND", "block", toBatch, seq(2, 3, 5, 2), i32(2, 3), none),
		refused("SpaceToBatchND", "rank", toBatch, seq(2, 3), i32(2, 3), none),
		refused("SpaceToBatchND", "paddings", toBatch, seq(2, 3, 5, 2), i32(2, 3), mat[int32](1, 0, 1)),
		refused("SpaceToBatchND", "zero", toBatch, seq(2, 4, 6, 2), i32(2, 0), none),
		refused("SpaceToBatchND", "matrix", toBatch, seq(2, 4, 6, 2), mat[int32](1, 2), none),
		refused("SpaceToBatchND", "negative", toBatch, seq(2, 4, 6, 2), i32(2, 2), mat[int32](2, 0, -2, 0, 0)),
		sample{op: "BatchToSpaceND", in: []*tf.Tensor{seq(6, 2, 3, 2), i32(3, 2), mat[int32](2, 1, 0, 0, 2)}, f: toSpace, static: ranks},
		sample{op: "BatchToSpaceND", name: "line", in: []*tf.Tensor{seq(4, 4), vec[int64](2), mat[int64](2, 2, 0)}, f: toSpace},
		refused("BatchToSpaceND", "batch", toSpace, seq(5, 2, 3, 2), i32(3, 2), none),
		refused("BatchToSpaceND", "crops", toSpace, seq(6, 2, 3, 2), i32(3, 2), mat[int32](2, 5, 6, 0, 0)),
		refused("BatchToSpaceND", "negative", toSpace, seq(6, 2, 3, 2), i32(3, 2), mat[int32](2, -1, 0, 0, 0)),
		refused("BatchToSpaceND", "rank", toSpace, seq(6, 2), i32(3, 2), none),
	)
	squareBatch := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.SpaceToBatch(in[0], in[1], 2)} }
	squareSpace := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.BatchToSpace(in[0], in[1], 2)} }
	toDepth := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.SpaceToDepth(in[0], 2)} }
	fromDepth := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.DepthToSpace(in[0], 2)} }
	addSamples(
		sample{op: "SpaceToBatch", in: []*tf.Tensor{seq(1, 3, 4, 2), mat[int32](2, 1, 0, 0, 2)}, f: squareBatch},
		sample{op: "BatchToSpace", in: []*tf.Tensor{seq(4, 2, 3, 1), mat[int32](2, 1, 0, 0, 2)}, f: squareSpace},
		sample{op: "SpaceToDepth", in: []*tf.Tensor{seq(2, 4, 6, 3)}, f: toDepth},
		failing("SpaceToDepth", "size", toDepth, seq(2, 4, 5, 3)),
		failing("SpaceToDepth", "rank", toDepth, seq(2, 4, 6)),
		sample{op: "DepthToSpace", in: []*tf.Tensor{seq(2, 2, 3, 12)}, f: fromDepth},
		failing("DepthToSpace", "depth", fromDepth, seq(2, 2, 3, 6)),
		failing("DepthToSpace", "rank", fromDepth, seq(2, 4, 6)),
	)
}
