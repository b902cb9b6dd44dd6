package ops_test

import (
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for _, op := range []string{"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"} {
		f := applied(op)
		addSamples(
			sample{Op: op, In: []*core.Tensor{positive(4, 3), i32(0, 0, 2, 2)}, F: f, Tol: 1e-5},
			sample{Op: op, Name: "vector", In: []*core.Tensor{seq(5), vec[int64](1, 1, 1, 2, 3)}, F: f, Tol: 1e-5},
			failing(op, "order", f, seq(3, 2), i32(1, 0, 2)),
			failing(op, "count", f, seq(3, 2), i32(1, 2)),
			failing(op, "matrix", f, seq(3, 2), mat[int32](1, 0, 0, 1)),
			failing(op, "first negative", f, seq(4, 2), i32(-1, -1, 0, 0)),
			failing(op, "last negative", f, seq(4, 2), i32(0, 0, 0, -2)),
			failing(op, "last is lower", f, seq(4, 2), i32(0, 1, 2, 0)),
			failing(op, "down and up", f, seq(4, 2), i32(0, 1, 0, 1)),
			failing(op, "overflow", f, seq(1, 4), vec[int64](1<<62-1)),
		)
	}
	for _, op := range []string{"UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"} {
		f, n := applied(op), scalar[int32](3)
		addSamples(
			sample{Op: op, In: []*core.Tensor{positive(4, 3), i32(2, 0, -1, 1), n}, F: f, Tol: 1e-5},
			sample{Op: op, Name: "matrix", In: []*core.Tensor{seq(2, 2, 3), mat[int64](2, 1, 0, 1, 1), scalar[int64](2)}, F: f, Tol: 1e-5},
			failing(op, "id", f, seq(3, 2), i32(1, 0, 7), n),
			failing(op, "negative", f, seq(3, 2), i32(1, 0, 7), scalar[int32](-1)),
			failing(op, "overflow", f, seq(3), scalar[int64](1), scalar[int64](8327099846119777499)),
		)
	}
	addSamples(
		sample{Op: "SegmentProd", Name: "zeros", In: []*core.Tensor{vec[float32](0, 3, 0, 0, 5), i32(0, 0, 1, 1, 1)}, F: binary(ops.SegmentProd)},
		sample{Op: "SegmentMax", Name: "ties", In: []*core.Tensor{vec[float32](3, 3, 1, 2, 5), i32(0, 0, 0, 1, 1)}, F: binary(ops.SegmentMax), Rough: "ties"},
	)
}
