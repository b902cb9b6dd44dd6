package special_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/special"
)

type function = func(x tf.Output, opts ...tf.Option) tf.Output

// grid holds numbers in every part of the line that is computed in its own way.
func grid() *core.Tensor {
	return vec64(1e-9, 0.03, 0.2, 0.5, 0.999, 1, 1.4, 1.6, 1.999, 2.1, 2.5, 3.7, 4.9, 5.1, 7.5, 8.5, 10, 15, 19.9, 20.1, 24, 31, 45, 88, 120, 400)
}

func init() {
	functions := map[string]function{
		"BesselI0": special.BesselI0, "BesselI1": special.BesselI1, "BesselI0e": special.BesselI0e, "BesselI1e": special.BesselI1e,
		"BesselK0": special.BesselK0, "BesselK1": special.BesselK1, "BesselK0e": special.BesselK0e, "BesselK1e": special.BesselK1e,
		"BesselJ0": special.BesselJ0, "BesselJ1": special.BesselJ1, "BesselY0": special.BesselY0, "BesselY1": special.BesselY1,
		"Dawsn": special.Dawsn, "Expint": special.Expint, "FresnelCos": special.FresnelCos, "FresnelSin": special.FresnelSin, "Spence": special.Spence,
	}
	for op, f := range functions {
		addSamples(
			sample{Op: op, In: tensors{vec(0.1, 0.7, 1.3, 1.9, 2.6, 3.3, 5.5, 9)}, F: unary(f), Tol: 2e-5},
			sample{Op: op, Name: "grid", In: tensors{grid()}, F: unary(f), Tol: 1e-11},
			sample{Op: op, Name: "ends", In: tensors{ends()}, F: unary(f), Rough: notThere})
	}
	for _, op := range []string{"BesselI0", "BesselI1", "BesselI0e", "BesselI1e", "BesselJ0", "BesselJ1", "Dawsn", "FresnelCos", "FresnelSin"} {
		addSamples(sample{Op: op, Name: "negative", In: tensors{vec(-0.1, -1.2, -2.7, -8, -12)}, F: unary(functions[op]), Tol: 2e-5})
	}
}
