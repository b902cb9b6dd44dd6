package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// derivative declares an op that computes the gradient of a function from its
// result y and the gradient dy of that. lanes is its form in machine code for float32, or nil.
func derivative(name string, grad tf.GradFunc, lanes machine.Lanes, f32 func(z, y, dy []float32), f64 func(z, y, dy []float64),
	c64 func(z, y, dy []complex64), c128 func(z, y, dy []complex128)) {
	core.Register(core.OpDef{
		Name: name, Traits: core.Elementwise, In: "y: T; dy: T", Out: "z: T", Attrs: "T: {" + inexactTypes + "}",
		Shape: core.MergedShape, Grad: tf.GradFunc(grad),
		Kernels: core.ByType("T", byType{
			tf.Float32: withLanes(lanes, pairKernel(f32)), tf.Float64: pairKernel(f64),
			tf.Float16: pairKernel(inFloat32[tf.Half](f32)), tf.BFloat16: pairKernel(inFloat32[tf.BF16](f32)),
			tf.Complex64: pairKernel(c64), tf.Complex128: pairKernel(c128),
		}),
	})
}

func init() {
	derivative("TanhGrad", tanhGradGrad, elementwise.TanhGradLanes, elementwise.TanhGrad, elementwise.TanhGrad, complexTanhGrad, complexTanhGrad)
	derivative("SigmoidGrad", sigmoidGradGrad, elementwise.SigmoidGradLanes, elementwise.SigmoidGrad, elementwise.SigmoidGrad, complexSigmoidGrad, complexSigmoidGrad)
	derivative("SqrtGrad", sqrtGradGrad, nil, sqrtGradLoop, sqrtGradLoop, complexSqrtGrad, complexSqrtGrad)
	derivative("RsqrtGrad", rsqrtGradGrad, nil, rsqrtGradLoop, rsqrtGradLoop, complexRsqrtGrad, complexRsqrtGrad)
	derivative("ReciprocalGrad", reciprocalGradGrad, nil, reciprocalGradLoop, reciprocalGradLoop, complexReciprocalGrad, complexReciprocalGrad)
	derivative("InvGrad", reciprocalGradGrad, nil, reciprocalGradLoop, reciprocalGradLoop, complexReciprocalGrad, complexReciprocalGrad)
}

// pairKernel computes output 0 from inputs 0 and 1 of equal length.
func pairKernel[T tf.Elem](f func(z, x, y []T)) core.NewKernel {
	return perElement(func(c *core.OpContext) error {
		x, y := core.Data[T](c.Input(0)), core.Data[T](c.Input(1))
		if len(x) != len(y) {
			return tf.Errorf(tf.InvalidArgument, "The two arguments to a cwise op must have same number of elements, got %d and %d", len(x), len(y))
		}
		out, err := c.AllocFrom(0, 0, c.Input(0).DType(), c.Input(0).Shape())
		if err != nil {
			return err
		}
		z := core.Data[T](out)
		c.ParallelFor(len(z), elementGrain, func(lo, hi int) { f(z[lo:hi], x[lo:hi], y[lo:hi]) })
		return nil
	}, samesize, core.ZipLoop(f))
}

// samesize is the shape of what pairKernel computes.
func samesize(_ *core.Node, in []tf.Shape) (tf.Shape, error) {
	if x, y := in[0].NumElements(), in[1].NumElements(); x != y {
		return nil, tf.Errorf(tf.InvalidArgument, "The two arguments to a cwise op must have same number of elements, got %d and %d", x, y)
	}
	in[1] = in[0]
	return in[0], nil
}

// What follows is 0 where dy is, also at poles and where y is not a number: what
// a mask keeps out has no say in the gradient.

func sqrtGradLoop[T numeric.Float](z, y, dy []T) {
	kernel.Zip(z, y, dy, func(y, d T) T {
		if d == 0 {
			return 0
		}
		return d * 0.5 / y
	})
}

func rsqrtGradLoop[T numeric.Float](z, y, dy []T) {
	kernel.Zip(z, y, dy, func(y, d T) T {
		if d == 0 {
			return 0
		}
		return -0.5 * (y * y) * (y * d)
	})
}

func reciprocalGradLoop[T numeric.Float](z, y, dy []T) {
	kernel.Zip(z, y, dy, func(y, d T) T {
		if d == 0 {
			return 0
		}
		return -(y * y) * d
	})
}

func complexTanhGrad[T numeric.Complex](z, y, dy []T) {
	elementwise.ZipComplex128(z, y, dy, func(y, d complex128) complex128 { return d * (1 - y*y) })
}

func complexSigmoidGrad[T numeric.Complex](z, y, dy []T) {
	elementwise.ZipComplex128(z, y, dy, func(y, d complex128) complex128 { return d * y * (1 - y) })
}

// TensorFlow takes the conjugate of y here for these three, and where they are used for
// the others.

func complexSqrtGrad[T numeric.Complex](z, y, dy []T) {
	complexUnlessZero(z, y, dy, func(y, d complex128) complex128 { return d * 0.5 / y })
}

func complexRsqrtGrad[T numeric.Complex](z, y, dy []T) {
	complexUnlessZero(z, y, dy, func(y, d complex128) complex128 { return d * -0.5 * (y * y * y) })
}

func complexReciprocalGrad[T numeric.Complex](z, y, dy []T) {
	complexUnlessZero(z, y, dy, func(y, d complex128) complex128 { return -y * d * y })
}

// complexUnlessZero sets z to f of the conjugate of y and of dy, and to 0 where dy
// is 0.
func complexUnlessZero[T numeric.Complex](z, y, dy []T, f func(y, d complex128) complex128) {
	elementwise.ZipComplex128(z, y, dy, func(y, d complex128) complex128 {
		if d == 0 {
			return 0
		}
		return f(conjugate(y), d)
	})
}

func conjugate(v complex128) complex128 { return complex(real(v), -imag(v)) }

// twice computes the two gradients of a derivative op with inputs a and b
// once dy is there.
func twice(op *tf.Operation, dy tf.Output, f func(a, b, dy tf.Output) (da, db tf.Output)) (g []tf.Gradient) {
	after(dy, func() { g = tf.Grads(f(op.Input(0), op.Input(1), dy)) })
	return g
}

func tanhGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return twice(op, dy[0], func(a, b, dy tf.Output) (_, _ tf.Output) {
		a, b = conj(a), conj(b)
		return Mul(Mul(Mul(dy, numberLike(dy, -2)), b), a), apply("TanhGrad", nil, a, dy)
	})
}

func sigmoidGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return twice(op, dy[0], func(a, b, dy tf.Output) (_, _ tf.Output) {
		a, b = conj(a), conj(b)
		gb := Mul(dy, b)
		return Sub(gb, Mul(Mul(numberLike(gb, 2), gb), a)), apply("SigmoidGrad", nil, a, dy)
	})
}

func sqrtGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return twice(op, dy[0], func(a, _, dy tf.Output) (_, _ tf.Output) {
		ga := RealDiv(dy, a)
		return Mul(Neg(conj(ga)), op.Output(0)), Mul(numberLike(ga, 0.5), ga)
	})
}

func rsqrtGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return twice(op, dy[0], func(a, b, dy tf.Output) (_, _ tf.Output) {
		ca, cg := conj(a), conj(dy)
		return Mul(Mul(Mul(numberLike(cg, -1.5), cg), b), Square(ca)), apply("RsqrtGrad", nil, ca, dy)
	})
}

func reciprocalGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return twice(op, dy[0], func(a, b, dy tf.Output) (_, _ tf.Output) {
		ca, cg := conj(a), conj(dy)
		return Mul(Mul(Mul(cg, numberLike(cg, -2)), b), ca), apply("ReciprocalGrad", nil, ca, dy)
	})
}
