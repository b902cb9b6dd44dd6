package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for _, op := range []string{"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"} {
		f := applied(op)
		addSamples(
			sample{op: op, in: []*tf.Tensor{positive(4, 3), i32(0, 0, 2, 2)}, f: f, tol: 1e-5},
			sample{op: op, name: "vector", in: []*tf.Tensor{seq(5), vec[int64](1, 1, 1, 2, 3)}, f: f, tol: 1e-5},
			failing(op, "order", f, seq(3, 2), i32(1, 0, 2)),
			failing(op, "count", f, seq(3, 2), i32(1, 2)),
			failing(op, "matrix", f, seq(3, 2), mat[int32](1, 0, 0, 1)),
		)
	}
	for _, op := range []string{"UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"} {
		f, n := applied(op), scalar[int32](3)
		addSamples(
			sample{op: op, in: []*tf.Tensor{positive(4, 3), i32(2, 0, -1, 1), n}, f: f, tol: 1e-5},
			sample{op: op, name: "matrix", in: []*tf.Tensor{seq(2, 2, 3), mat[int64](2, 1, 0, 1, 1), scalar[int64](2)}, f: f, tol: 1e-5},
			failing(op, "id", f, seq(3, 2), i32(1, 0, 7), n),
			failing(op, "negative", f, seq(3, 2), i32(1, 0, 7), scalar[int32](-1)),
		)
	}
	addSamples(
		sample{op: "SegmentProd", name: "zeros", in: []*tf.Tensor{vec[float32](0, 3, 0, 0, 5), i32(0, 0, 1, 1, 1)}, f: binary(ops.SegmentProd)},
		sample{op: "SegmentMax", name: "ties", in: []*tf.Tensor{vec[float32](3, 3, 1, 2, 5), i32(0, 0, 0, 1, 1)}, f: binary(ops.SegmentMax), rough: "ties"},
	)
}
