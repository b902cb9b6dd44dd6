package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// nary adds an op by name, on inputs in order.
func nary(op string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{tf.Apply(nil, op, in, opts...).Output(0)}
	}
}

// lines is why the words of some errors are not compared.
const lines = "only the last of several lines of an error is recorded"

func init() {
	n := func(v int32) *core.Tensor { return scalar(v) }
	addSamples(
		sample{Op: "Diag", In: []*core.Tensor{seq(3)}, F: unary(ops.Diag)},
		sample{Op: "Diag", Name: "matrix", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.Diag)},
		sample{Op: "Diag", Name: "nothing", In: []*core.Tensor{seq(0)}, F: unary(ops.Diag)},
		sample{Op: "DiagPart", In: []*core.Tensor{seq(3, 3)}, F: unary(ops.DiagPart)},
		sample{Op: "DiagPart", Name: "rank 4", In: []*core.Tensor{seq(2, 3, 2, 3)}, F: unary(ops.DiagPart)},
		failing("DiagPart", "odd", unary(ops.DiagPart), seq(3, 3, 3)),
		failing("DiagPart", "sizes", unary(ops.DiagPart), seq(2, 3)),
		sample{Op: "MatrixDiag", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.MatrixDiag)},
		sample{Op: "MatrixDiagPart", In: []*core.Tensor{seq(2, 3, 4)}, F: unary(ops.MatrixDiagPart)},
		sample{Op: "MatrixDiagPart", Name: "square", In: []*core.Tensor{seq(3, 3)}, F: unary(ops.MatrixDiagPart)},
		sample{Op: "MatrixSetDiag", In: []*core.Tensor{seq(2, 3, 4), positive(2, 3)}, F: binary(ops.MatrixSetDiag)},
		sample{Op: "MatrixSetDiag", Name: "sizes", In: []*core.Tensor{seq(2, 3, 4), positive(2, 4)}, F: binary(ops.MatrixSetDiag), Fails: true, NoGolden: lines},
		failing("MatrixDiagPart", "vector", unary(ops.MatrixDiagPart), seq(3)),
	)
	band := func(op string) func(*tf.Graph, []tf.Output) []tf.Output { return nary(op) }
	addSamples(
		sample{Op: "MatrixBandPart", In: []*core.Tensor{seq(2, 4, 5), scalar[int64](1), scalar[int64](2)}, F: band("MatrixBandPart")},
		sample{Op: "MatrixBandPart", Name: "lower", In: []*core.Tensor{seq(4, 3), n(-1), n(0)}, F: band("MatrixBandPart")},
		failing("MatrixBandPart", "rows", band("MatrixBandPart"), seq(4, 3), n(5), n(0)),
		failing("MatrixBandPart", "columns", band("MatrixBandPart"), seq(4, 3), n(0), n(4)),
		failing("MatrixBandPart", "vector width", band("MatrixBandPart"), seq(4, 3), i32(0, 1), n(4)),
		failing("MatrixBandPart", "vector", band("MatrixBandPart"), seq(4), n(0), n(0)),
	)
	addDiagonalSamples()
}

func addDiagonalSamples() {
	n := func(v int32) *core.Tensor { return scalar(v) }
	pad := scalar(float32(0.25))
	const constant = "TensorFlow takes the padding for a constant"
	for _, v := range []struct {
		suffix string
		aligns []string
	}{{"V2", []string{""}}, {"V3", []string{"RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"}}} {
		for _, align := range v.aligns {
			var opts []tf.Option
			if align != "" {
				opts = append(opts, ops.DiagAlignOpts{Align: align})
			}
			diag, part, set := nary("MatrixDiag"+v.suffix, opts...), nary("MatrixDiagPart"+v.suffix, opts...), nary("MatrixSetDiag"+v.suffix, opts...)
			name := func(s string) string { return (align + " " + s) }
			addSamples(
				sample{Op: "MatrixDiag" + v.suffix, Name: name("band"), In: []*core.Tensor{seq(2, 3, 3), i32(-1, 1), n(-1), n(-1), pad}, F: diag, Rough: constant},
				sample{Op: "MatrixDiag" + v.suffix, Name: name("above"), In: []*core.Tensor{seq(2, 3), n(1), n(3), n(-1), pad}, F: diag, Rough: constant},
				sample{Op: "MatrixDiagPart" + v.suffix, Name: name("band"), In: []*core.Tensor{seq(2, 3, 4), i32(-2, 1), pad}, F: part, Rough: constant},
				sample{Op: "MatrixDiagPart" + v.suffix, Name: name("below"), In: []*core.Tensor{seq(4, 3), n(-1), pad}, F: part, Rough: constant},
				sample{Op: "MatrixSetDiag" + v.suffix, Name: name("band"), In: []*core.Tensor{seq(2, 3, 4), positive(2, 4, 3), i32(-2, 1)}, F: set, Rough: "elements that are not used"},
				sample{Op: "MatrixSetDiag" + v.suffix, Name: name("above"), In: []*core.Tensor{seq(2, 3, 4), positive(2, 2), n(2)}, F: set},
			)
		}
		diag, part, set := nary("MatrixDiag"+v.suffix), nary("MatrixDiagPart"+v.suffix), nary("MatrixSetDiag"+v.suffix)
		addSamples(
			failing("MatrixDiag"+v.suffix, "rows", diag, seq(3), n(0), n(2), n(-1), pad),
			failing("MatrixDiag"+v.suffix, "columns", diag, seq(3), n(0), n(-1), n(2), pad),
			failing("MatrixDiag"+v.suffix, "both", diag, seq(3), n(0), n(4), n(4), pad),
			failing("MatrixDiag"+v.suffix, "count", diag, seq(2, 3), i32(0, 2), n(-1), n(-1), pad),
			failing("MatrixDiag"+v.suffix, "order", diag, seq(2, 3), i32(2, 0), n(-1), n(-1), pad),
			failing("MatrixDiagPart"+v.suffix, "lower", part, seq(3, 4), i32(-3, 0), pad),
			failing("MatrixDiagPart"+v.suffix, "upper", part, seq(3, 4), i32(0, 4), pad),
			failing("MatrixDiagPart"+v.suffix, "three", part, seq(3, 4), i32(0, 1, 2), pad),
			failing("MatrixSetDiag"+v.suffix, "lower", set, seq(3, 4), seq(2, 3), i32(-3, 0)),
			sample{Op: "MatrixSetDiag" + v.suffix, Name: "diagonals", In: []*core.Tensor{seq(3, 4), seq(2, 2), i32(0, 1)}, F: set, Fails: true, NoGolden: lines},
		)
	}
}
