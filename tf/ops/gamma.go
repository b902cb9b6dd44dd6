package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	unary("Lgamma", floatTypes, lgammaGrad, inFloat64(elementwise.LgammaLoop(lgamma), lgamma))
	unary("Digamma", floatTypes, digammaGrad, inFloat64(elementwise.DigammaLoop(digamma), digamma))
	core.Register(core.OpDef{
		Name: "Polygamma", In: "a: T; x: T", Out: "z: T", Attrs: "T: {float, double}",
		Shape: core.BroadcastShape, Grad: tf.GradFunc(polygammaGrad), Kernels: core.ByType("T", fullFloats(inFloat64s(singles(polygammaSingle), polygamma))),
	})
	core.Register(core.OpDef{
		Name: "Zeta", In: "x: T; q: T", Out: "z: T", Attrs: "T: {float, double}",
		Shape: core.BroadcastShape, Grad: tf.GradFunc(zetaGrad), Kernels: core.ByType("T", fullFloats(inFloat64s(singles(zetaSingle), zeta))),
	})
	core.Register(core.OpDef{
		Name: "NextAfter", In: "x1: T; x2: T", Out: "output: T", Attrs: "T: {double, float} = float",
		Shape: core.BroadcastShape, Grad: tf.GradFunc(nextAfterGrad),
		Kernels: core.ByType("T", byType{tf.Float32: zipKernel(zip(elementwise.NextAfter32)), tf.Float64: zipKernel(zip(elementwise.NextAfter64))}),
	})
}

// fullFloats leaves the 16-bit types out.
func fullFloats(k byType) byType { return without(k, tf.Float16, tf.BFloat16) }

// lgamma is math.Lgamma, which for the least numbers takes a logarithm that is wrong for
// subnormal ones. C's is +Inf at -Inf, and so is TensorFlow's.
func lgamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return -x
	}
	if a := math.Abs(x); 0 < a && a < 0x1p-1022 {
		return -elementwise.LogOf(a)
	}
	v, _ := math.Lgamma(x)
	return v
}

// Lgamma returns the logarithm of |Γ(x)|. x holds floating-point numbers
// (float16, bfloat16, float32, float64); the result has its shape and type. 0
// and negative integers give +Inf. Other types are refused with
// INVALID_ARGUMENT when the graph is built.
func Lgamma(x tf.Output, opts ...tf.Option) tf.Output { return apply("Lgamma", opts, x) }

// Digamma returns the derivative of Lgamma. x holds floating-point numbers
// (float16, bfloat16, float32, float64); the result has its shape and type. 0
// and negative integers give NaN. Other types are refused with
// INVALID_ARGUMENT when the graph is built.
func Digamma(x tf.Output, opts ...tf.Option) tf.Output { return apply("Digamma", opts, x) }

// Polygamma returns the derivative of order n of Digamma. n and x have one
// type, float32 or float64, and broadcast; shapes that do not are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in
// the step. Order 0 is Digamma, an n that is negative or no integer gives
// NaN. Only x has a gradient.
func Polygamma(n, x tf.Output, opts ...tf.Option) tf.Output { return apply("Polygamma", opts, n, x) }

// Zeta returns the Hurwitz zeta function Σ 1/(q+k)^x. x and q have one type,
// float32 or float64, and broadcast; shapes that do not are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. x = 1 gives +Inf, a lesser x NaN. Where q is 0 or a negative integer
// the result is +Inf for even x, else NaN; where q is negative otherwise, it
// is NaN unless x is an integer. Only q has a gradient.
func Zeta(x, q tf.Output, opts ...tf.Option) tf.Output { return apply("Zeta", opts, x, q) }

// NextAfter returns the number next to x1 in the direction of x2. x1 and x2
// have one type, float32 or float64, and broadcast; shapes that do not are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step. Equal numbers give x1, and NaN on either side gives NaN.
func NextAfter(x1, x2 tf.Output, opts ...tf.Option) tf.Output {
	return apply("NextAfter", opts, x1, x2)
}

// asymptotic is where the series in 1/x are exact to the last place.
const asymptotic = 10

// digamma uses the recurrence up to where the asymptotic series is exact, and
// the reflection formula for negative numbers.
func digamma(x float64) float64 {
	if x <= 0 {
		if x == math.Floor(x) {
			return math.NaN()
		}
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*x)
	}
	shift := 0.0
	for ; x < asymptotic; x++ {
		shift += 1 / x
	}
	s := 1 / (x * x)
	series := s * (1./12 - s*(1./120-s*(1./252-s*(1./240-s*(1./132-s*(691./32760-s/12))))))
	return math.Log(x) - 0.5/x - series - shift
}

// bernoulli holds (2k)!/B(2k), the divisors of the Euler-Maclaurin terms.
var bernoulli = [...]float64{
	12, -720, 30240, -1209600, 47900160, -1.8924375803183791606e9, 7.47242496e10, -2.950130727918164224e12,
	1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18,
}

// zeta sums the first terms and adds what Euler and Maclaurin give for the rest, whose series
// is exact only where q is no less than x.
func zeta(x, q float64) float64 {
	switch {
	case x == 1:
		return math.Inf(1)
	case x < 1 || math.IsNaN(x) || math.IsNaN(q):
		return math.NaN()
	case q <= 0 && (q == math.Floor(q) || math.IsInf(x, 1)):
		if math.Mod(x, 2) == 0 || math.IsInf(x, 1) {
			return math.Inf(1)
		}
		return math.NaN()
	case q <= 0 && x != math.Floor(x):
		return math.NaN()
	case q < -manyTerms:
		return zetaReflected(x, q)
	}
	sum := 0.0
	for ; q < asymptotic+x; q++ {
		term := math.Pow(q, -x)
		sum += term
		if q > 0 && term*(1+q/(x-1)) <= math.Abs(sum)*0x1p-56 {
			return sum // all that follow change nothing
		}
	}
	p := math.Pow(q, -x)
	if p == 0 {
		return sum
	}
	sum += q*p/(x-1) + p/2
	factor := x
	for k, b := range bernoulli {
		p /= q
		sum += factor * p / b
		n := x + float64(2*k)
		factor *= (n + 1) * (n + 2)
		p /= q
	}
	return sum
}

// singles is the loop of a function in double precision for results in single precision.
func singles(f func(x, y float64) float64) func(z, x, y []float32) {
	return func(z, x, y []float32) { elementwise.ZipFloat64(z, x, y, f) }
}

// zetaSingle is zeta for results in single precision, of common x and q by fewer terms.
func zetaSingle(x, q float64) float64 {
	if !(x > 1 && x < 30 && q > 0x1p-10 && q < 0x1p10) {
		return zeta(x, q)
	}
	n, over, sum := int(x), 1/(x-1), 0.0
	if float64(n) != x || n > 8 {
		n = 0
	}
	for ; q < 3.5+0.65*x; q++ {
		term := inversePower(q, x, n)
		sum += term
		if term*(1+q*over) <= sum*0x1p-32 {
			return sum // all that follow change nothing
		}
	}
	s := 1 / (q * q)
	tail := 1./47900160 - s*((x+9)*(x+10)*(691./1307674368000))
	tail = -1./1209600 + s*((x+7)*(x+8)*tail)
	tail = 1./30240 + s*((x+5)*(x+6)*tail)
	tail = -1./720 + s*((x+3)*(x+4)*tail)
	tail = 1./12 + s*((x+1)*(x+2)*tail)
	return sum + inversePower(q, x, n)*(q*over+0.5+x/q*tail)
}

// inversePower is q to the power of -x, where n is x if that is a small integer, else 0.
func inversePower(q, x float64, n int) float64 {
	if n == 0 {
		return elementwise.PowerOf(q, -x)
	}
	p := q
	for range n - 1 {
		p *= q
	}
	return 1 / p
}

// polygammaSingle is polygamma for results in single precision.
func polygammaSingle(n, x float64) float64 {
	k := int(n)
	if float64(k) != n || k < 1 || k > 7 {
		return polygamma(n, x)
	}
	z := elementwise.GammaOf(n+1) * zetaSingle(n+1, x)
	if k%2 == 0 {
		return -z
	}
	return z
}

// manyTerms are more than are added one by one: numbers below 0 may be as far from 0
// as there are numbers that are no integers.
const manyTerms = 64

// zetaReflected is zeta of a q far below 0 that is no integer, and of an integer x.
// The terms below 0 are those between two numbers above 0, but for the sign.
func zetaReflected(x, q float64) float64 {
	part := q - math.Floor(q)
	below := zeta(x, 1-part) - zeta(x, 1-q)
	if math.Mod(x, 2) != 0 {
		below = -below
	}
	return zeta(x, part) + below
}

// polygamma of an order that is no natural number is none.
func polygamma(n, x float64) float64 {
	switch {
	case n != math.Floor(n) || n < 0:
		return math.NaN()
	case n == 0:
		return digamma(x)
	}
	sign := 1.0
	if math.Mod(n, 2) == 0 {
		sign = -1
	}
	return sign * math.Gamma(n+1) * zeta(n+1, x)
}

func lgammaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Digamma(x) })
}

func digammaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Polygamma(numberLike(x, 1), x) })
}

// secondOnly is the gradient with respect to the second operand of a
// broadcasting op, the only one that TensorFlow knows of.
func secondOnly(op *tf.Operation, dz tf.Output, derivative func(x, y tf.Output) tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Input(1)
	sx, sy := sizes(x), sizes(y)
	_, ry := BroadcastGradientArgs(sx, sy)
	var dy tf.Output
	after(dz, func() { dy = Reshape(Sum(Mul(derivative(x, y), dz), ry), sy) })
	return tf.Grads(tf.Output{}, dy)
}

func polygammaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return secondOnly(op, dy[0], func(n, x tf.Output) tf.Output { return Polygamma(AddV2(n, numberLike(n, 1)), x) })
}

func zetaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return secondOnly(op, dy[0], func(x, q tf.Output) tf.Output { return Mul(Neg(x), Zeta(AddV2(x, numberLike(x, 1)), q)) })
}

// nextAfterGrad: the result moves as x1 does.
func nextAfterGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x1, x2 := op.Input(0), op.Input(1)
	s1, s2 := sizes(x1), sizes(x2)
	r1, r2 := BroadcastGradientArgs(s1, s2)
	var d1, d2 tf.Output
	after(dy[0], func() {
		d1 = Reshape(Sum(Mul(OnesLike(x1), dy[0]), r1), s1)
		d2 = Reshape(Sum(Mul(ZerosLike(x2), dy[0]), r2), s2)
	})
	return tf.Grads(d1, d2)
}
