package ops_test

import "github.com/gorge-tf/gorge/tf/core"

func init() {
	const removed = "TensorFlow knows the op in old graphs only"
	x := seq(2, 3, 3)
	for op, in := range map[string][]*core.Tensor{
		"BatchMatrixBandPart": {x, scalar[int64](1), scalar[int64](0)}, "BatchMatrixDiag": {seq(2, 3)}, "BatchMatrixDiagPart": {x}, "BatchMatrixSetDiag": {x, seq(2, 3)},
	} {
		addSamples(sample{Op: op, In: in, F: nary(op), Types: onlyOwn, NoGolden: removed})
	}
}
