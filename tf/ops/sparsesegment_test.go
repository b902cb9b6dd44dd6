package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, op := range []string{"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"} {
		f, counted, back := applied(op), applied(op+"WithNumSegments"), applied(op+"Grad")
		addSamples(
			sample{Op: op, In: []*core.Tensor{seq(4, 3), i32(2, 0, 2, 1), i32(0, 0, 1, 1)}, F: f, Tol: 1e-5},
			sample{Op: op, Name: "gap", In: []*core.Tensor{seq(4), vec[int64](2, 0, 3), vec[int64](0, 0, 2)}, F: f, Tol: 1e-5},
			failing(op, "index", f, seq(4, 3), i32(2, 4), i32(0, 1)),
			failing(op, "count", f, seq(4, 3), i32(2, 3), i32(0)),
			failing(op, "negative", f, seq(4, 3), i32(2, 3), i32(-1, 0)),
			failing(op, "last negative", f, seq(4, 3), i32(2, 3), i32(0, -1)),
			failing(op, "last is lower", f, seq(4, 3), i32(2, 3, 0), i32(0, 2, 0)),
			failing(op, "down and up", f, seq(4, 3), i32(2, 3, 0), i32(1, 0, 1)),
			failing(op, "overflow", f, seq(4, 3), vec[int64](1<<62-1), vec[int64](1<<62-1)),
			sample{Op: op + "WithNumSegments", In: []*core.Tensor{seq(4, 3), i32(2, 0, 2), i32(0, 0, 2), scalar[int32](4)}, F: counted, Tol: 1e-5},
			sample{Op: op + "Grad", In: []*core.Tensor{seq(2, 3), i32(2, 0, 2, 1), i32(0, 0, 1, 1), scalar[int32](4)}, F: back, Tol: 1e-5},
			sample{Op: op, Name: "sparse gradient", In: []*core.Tensor{seq(5, 2), vec[int64](3, 0, 3, 1), i32(0, 0, 1, 1)}, F: applied(op, tf.Attr("sparse_gradient", true)), Tol: 1e-5},
			sample{Op: op + "GradV2", In: []*core.Tensor{seq(2, 3), i32(5, 0, 5, 1), i32(0, 0, 1, 1), scalar[int32](7)}, F: applied(op + "GradV2"), Tol: 1e-5},
			sample{Op: op + "GradV2", Name: "none", In: []*core.Tensor{seq(0, 3), i32(), i32(), scalar[int32](7)}, F: applied(op + "GradV2"), Types: onlyOwn},
			failing(op+"GradV2", "index", applied(op+"GradV2"), seq(2, 3), i32(2, 4), i32(0, 1), scalar[int32](4)),
			failing(op+"GradV2", "segment", applied(op+"GradV2"), seq(2, 3), i32(2, 3), i32(0, 2), scalar[int32](4)),
			failing(op+"WithNumSegments", "segment", counted, seq(4, 3), i32(2, 0), i32(0, 4), scalar[int32](4)),
			failing(op+"Grad", "inner segment", back, seq(1, 3), i32(2, 3, 0), i32(0, 1, 0), scalar[int32](4)),
			failing(op+"GradV2", "negative", applied(op+"GradV2"), seq(2, 3), i32(2, 3), i32(-1, 0), scalar[int32](4)),
			failing(op+"GradV2", "count", applied(op+"GradV2"), seq(2, 3), i32(2, 3), i32(0), scalar[int32](4)),
			failing(op+"GradV2", "rows", applied(op+"GradV2"), seq(2, 3), i32(2, 3), i32(0, 1), i32(4)),
			failing(op+"Grad", "index", back, seq(2, 3), i32(2, 4), i32(0, 1), scalar[int32](4)),
			failing(op+"Grad", "segment", back, seq(2, 3), i32(2, 3), i32(0, 2), scalar[int32](4)),
		)
	}
}
