package optest

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// tolerances are relative to numbers greater than 1 and absolute for others:
// about ten times what the type can hold.
var tolerances = map[tf.DType]float64{
	tf.Float32: 2e-6, tf.Complex64: 2e-6, tf.Float64: 1e-12, tf.Complex128: 1e-12, tf.Float16: 2e-3, tf.BFloat16: 2e-2,
}

// Differ says how got differs from want by more than tol (0: the tolerance of
// the type), "" if it does not.
func Differ(got, want *core.Tensor, tol float64) string {
	switch {
	case got.DType() != want.DType():
		return fmt.Sprintf("type is %v, want %v", got.DType(), want.DType())
	case !slices.Equal(got.Shape(), want.Shape()):
		return fmt.Sprintf("shape is %v, want %v", got.Shape(), want.Shape())
	}
	if tol == 0 {
		tol = tolerances[want.DType()]
	}
	if tolerances[want.DType()] == 0 {
		if core.TensorsEqual(got, want) {
			return ""
		}
		return fmt.Sprintf("got %v, want %v", got, want)
	}
	x, y := complexOf(got), complexOf(want)
	for i := range x {
		if !near(real(x[i]), real(y[i]), tol, cmplx.Abs(y[i])) || !near(imag(x[i]), imag(y[i]), tol, cmplx.Abs(y[i])) {
			return fmt.Sprintf("element %d is %v, want %v\n got %v\nwant %v", i, x[i], y[i], got, want)
		}
	}
	return ""
}

// near compares one part of a number of size scale.
func near(x, y, tol, scale float64) bool {
	switch {
	case math.IsNaN(y):
		return math.IsNaN(x)
	case math.IsInf(y, 0):
		return x == y
	case math.IsInf(scale, 0) || math.IsNaN(scale):
		scale = math.Abs(y)
	}
	return math.Abs(x-y) <= tol*max(1, scale)
}

func complexOf(t *core.Tensor) []complex128 {
	out := make([]complex128, t.Len())
	elementwise.Cast(out, elements(t))
	return out
}
