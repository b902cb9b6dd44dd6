package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "half, bfloat16, float, double, " + complexTypes
	binary("Xlogy", types, xlogyGrad, timesLogs(xlogy, math.Log, elementwise.Log[float32]), complexZipFunc(zeroAtZero(func(x, y complex128) complex128 { return x * elementwise.LogOfComplex(y) })))
	binary("Xlog1py", types, xlog1pyGrad, timesLogs(xlog1py, math.Log1p, elementwise.Log1p[float32]), complexZipFunc(zeroAtZero(func(x, y complex128) complex128 { return x * elementwise.Log1pOfComplex(y) })))
	binary("Xdivy", types, xdivyGrad, inLanes(tf.Float32, elementwise.XdivyLanes, inFloat64s(elementwise.Xdivy32, xdivy)), complexZipFunc(zeroAtZero(func(x, y complex128) complex128 { return x / y })))
	unary("Erfc", floatTypes, erfcGrad, floatMaps(elementwise.Erfc, elementwise.Erfc))
	unary("Erfinv", floatTypes, erfinvGrad, inFloat64(elementwise.Erfinv, math.Erfinv))
	unary("Ndtri", floatTypes, ndtriGrad, inFloat64(elementwise.Ndtri, normalQuantile))
}

// inFloat64s returns broadcasting kernels that compute f in float64, with a loop for float32,
// and for what is computed in it.
func inFloat64s(f32 func(z, x, y []float32), f func(x, y float64) float64) byType {
	return floatZips(zip(f32), zip(func(z, x, y []float64) { elementwise.ZipFloat64(z, x, y, f) }))
}

// timesLogs returns broadcasting kernels of f, the product of x and a logarithm
// of y. Of 16-bit floats TensorFlow rounds the logarithm before it multiplies.
func timesLogs(f func(x, y float64) float64, log func(float64) float64, log32 func(y, x []float32)) byType {
	by := inFloat64s(func(z, x, y []float32) { elementwise.TimesLog(log32, z, x, y) }, f)
	by[tf.Float16], by[tf.BFloat16] = zipKernel(zip(timesRounded[tf.Half](log))), zipKernel(zip(timesRounded[tf.BF16](log)))
	return by
}

func timesRounded[H numeric.HalfFloat](log func(float64) float64) func(z, x, y []H) {
	return func(z, x, y []H) {
		logs := core.Make[H](len(y))
		elementwise.Widen1(logs, y, func(z, y []float32) { elementwise.MapFloat64(z, y, log) })
		elementwise.Widen2(z, x, logs, func(z, x, y []float32) {
			kernel.Zip(z, x, y, func(x, y float32) float32 {
				if x == 0 {
					return 0
				}
				return x * y
			})
		})
	}
}

// complexZipFunc returns broadcasting kernels that compute f in complex128.
func complexZipFunc(f func(x, y complex128) complex128) byType {
	return complexZips(
		zip(func(z, x, y []complex64) { elementwise.ZipComplex128(z, x, y, f) }),
		zip(func(z, x, y []complex128) { elementwise.ZipComplex128(z, x, y, f) }))
}

// zeroAtZero makes f 0 where x is, whatever y is.
func zeroAtZero(f func(x, y complex128) complex128) func(x, y complex128) complex128 {
	return func(x, y complex128) complex128 {
		if x == 0 {
			return 0
		}
		return f(x, y)
	}
}

func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * elementwise.LogOf(y)
}

func xlog1py(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log1p(y)
}

func xdivy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x / y
}

// Xlogy returns x·log y, and 0 where x is 0 even if y is too. x and y are
// floating-point or complex numbers of one type, which the result keeps. They
// broadcast; shapes that do not are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step. A negative y gives NaN
// unless it is complex.
func Xlogy(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Xlogy", opts, x, y) }

// Xlog1py returns x·log(1+y), and 0 where x is 0 even if y is -1. x and y are
// floating-point or complex numbers of one type, which the result keeps. They
// broadcast; shapes that do not are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step. A y below -1 gives NaN
// unless it is complex.
func Xlog1py(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Xlog1py", opts, x, y) }

// Xdivy returns x/y, and 0 where x is 0 even if y is too. x and y are
// floating-point or complex numbers of one type, which the result keeps. They
// broadcast; shapes that do not are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step.
func Xdivy(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Xdivy", opts, x, y) }

// Erfc returns 1 - Erf(x), exact for great x. x holds floating-point numbers
// (float16, bfloat16, float32, float64), and the result has its shape and
// type. Other types are refused with INVALID_ARGUMENT when the graph is built.
func Erfc(x tf.Output, opts ...tf.Option) tf.Output { return apply("Erfc", opts, x) }

// Erfinv returns the inverse of Erf. x holds floating-point numbers (float16,
// bfloat16, float32, float64), and the result has its shape and type. It is
// computed in float64, infinite at -1 and 1, and NaN beyond them. Other types
// are refused with INVALID_ARGUMENT when the graph is built.
func Erfinv(x tf.Output, opts ...tf.Option) tf.Output { return apply("Erfinv", opts, x) }

// Ndtri returns the quantile of the standard normal distribution. x holds
// floating-point numbers (float16, bfloat16, float32, float64), and the result
// has its shape and type. It is computed in float64 by the approximations of
// the Cephes library: -Inf at 0, Inf at 1, and NaN outside [0, 1]. Other types
// are refused with INVALID_ARGUMENT when the graph is built.
func Ndtri(x tf.Output, opts ...tf.Option) tf.Output { return apply("Ndtri", opts, x) }

// productGrad is the gradient of x·f(y) as the Xlogy family has it: partialX
// gets 1 where x is not 0, else 0.
func productGrad(op *tf.Operation, dz tf.Output, partialX, partialY func(x, y tf.Output) tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	sx, sy := sizes(x), sizes(y)
	rx, ry := BroadcastGradientArgs(sx, sy)
	var dx, dy tf.Output
	after(dz, func() {
		notZero := castTo(NotEqual(x, numberLike(x, 0)), x.DType())
		dx = Reshape(Sum(Mul(partialX(notZero, y), dz), rx), sx)
		dy = Reshape(Sum(Mul(partialY(x, y), dz), ry), sy)
	})
	return tf.Grads(dx, dy)
}

func xlogyGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return productGrad(op, dy[0],
		func(x, y tf.Output) tf.Output { return Xlogy(x, y) },
		func(x, y tf.Output) tf.Output { return Xdivy(x, y) })
}

func xlog1pyGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return productGrad(op, dy[0],
		func(x, y tf.Output) tf.Output { return Xlog1py(x, y) },
		func(x, y tf.Output) tf.Output { return Xdivy(x, AddV2(y, numberLike(y, 1))) })
}

func xdivyGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return productGrad(op, dy[0],
		func(x, y tf.Output) tf.Output { return Xdivy(x, y) },
		func(x, y tf.Output) tf.Output { return Xdivy(Neg(x), Pow(y, numberLike(y, 2))) })
}

func erfcGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return bellGrad(op.Input(0), dy[0], -2/math.Sqrt(math.Pi), func(x tf.Output) tf.Output { return Neg(Square(x)) })
}

func erfinvGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return bellGrad(op.Output(0), dy[0], math.Sqrt(math.Pi)/2, func(y tf.Output) tf.Output { return Square(y) })
}

func ndtriGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return bellGrad(op.Output(0), dy[0], math.Sqrt(2*math.Pi), func(y tf.Output) tf.Output {
		return RealDiv(Square(y), numberLike(y, 2))
	})
}

// bellGrad returns dy·scale·e^f(x).
func bellGrad(x, dy tf.Output, scale float64, f func(x tf.Output) tf.Output) (g []tf.Gradient) {
	factor := numberLike(dy, scale)
	after(dy, func() { g = tf.Grads(Mul(Mul(dy, factor), Exp(f(x)))) })
	return g
}
