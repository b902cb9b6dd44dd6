package ops

import "github.com/gorge-tf/gorge/tf/core"

// The names that operations on batches of matrices had before those without
// Batch took batches too. TensorFlow reads them in old graphs only.
func init() {
	const matrices = "T: type"
	for _, d := range []core.OpDef{
		{
			Name: "BatchMatrixBandPart", In: "input: T; num_lower: int64; num_upper: int64", Out: "band: T",
			Shape: core.UnchangedShape, Kernels: core.ByType("T", sameFor(bandPart, plainTypes...)),
		},
		{
			Name: "BatchMatrixDiag", In: "diagonal: T", Out: "output: T", Shape: matrixDiagShape,
			Kernels: plainCells(matrixDiag[uint8], matrixDiag[uint16], matrixDiag[uint32], matrixDiag[uint64], matrixDiag[complex128]),
		},
		{
			Name: "BatchMatrixDiagPart", In: "input: T", Out: "diagonal: T", Shape: matrixDiagPartShape,
			Kernels: plainCells(matrixDiagPart[uint8], matrixDiagPart[uint16], matrixDiagPart[uint32], matrixDiagPart[uint64], matrixDiagPart[complex128]),
		},
		{
			Name: "BatchMatrixSetDiag", In: "input: T; diagonal: T", Out: "output: T", Shape: matrixSetDiagShape,
			Kernels: plainCells(matrixSetDiag[uint8], matrixSetDiag[uint16], matrixSetDiag[uint32], matrixSetDiag[uint64], matrixSetDiag[complex128]),
		},
	} {
		d.Attrs, d.NoGrad = matrices, core.NoGradientDefined
		core.Register(d)
	}
}
