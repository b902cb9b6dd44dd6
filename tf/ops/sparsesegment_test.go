package ops_test

import "github.com/gorge-tf/gorge/tf"

func init() {
	for _, op := range []string{"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"} {
		f, counted, back := applied(op), applied(op+"WithNumSegments"), applied(op+"Grad")
		addSamples(
			sample{Op: op, In: []*tf.Tensor{seq(4, 3), i32(2, 0, 2, 1), i32(0, 0, 1, 1)}, F: f, Tol: 1e-5},
			sample{Op: op, Name: "gap", In: []*tf.Tensor{seq(4), vec[int64](2, 0, 3), vec[int64](0, 0, 2)}, F: f, Tol: 1e-5},
			failing(op, "index", f, seq(4, 3), i32(2, 4), i32(0, 1)),
			failing(op, "count", f, seq(4, 3), i32(2, 3), i32(0)),
			failing(op, "negative", f, seq(4, 3), i32(2, 3), i32(-1, 0)),
			sample{Op: op + "WithNumSegments", In: []*tf.Tensor{seq(4, 3), i32(2, 0, 2), i32(0, 0, 2), scalar[int32](4)}, F: counted, Tol: 1e-5},
			sample{Op: op + "Grad", In: []*tf.Tensor{seq(2, 3), i32(2, 0, 2, 1), i32(0, 0, 1, 1), scalar[int32](4)}, F: back, Tol: 1e-5},
			failing(op+"Grad", "index", back, seq(2, 3), i32(2, 4), i32(0, 1), scalar[int32](4)),
			failing(op+"Grad", "segment", back, seq(2, 3), i32(2, 3), i32(0, 2), scalar[int32](4)),
		)
	}
}
