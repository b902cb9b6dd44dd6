package ops

import (
	"math"
	"math/cmplx"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const parts = "T: {complex64, complex128} = complex64; Tout: {float, double} = float"
	core.Register(core.OpDef{
		Name: "Complex", In: "real: T; imag: T", Out: "out: Tout", Attrs: "T: {float, double} = float; Tout: {complex64, complex128} = complex64",
		Shape: core.BroadcastShape, Grad: tf.GradFunc(complexGrad),
		Kernels: core.ByType("T", byType{tf.Float32: resultOf(tf.Complex64, zipKernel(complexOf[complex64, float32]())), tf.Float64: resultOf(tf.Complex128, zipKernel(complexOf[complex128, float64]()))}),
	})
	core.Register(core.OpDef{
		Name: "Real", In: "input: T", Out: "output: Tout", Attrs: parts, Shape: core.UnchangedShape, Grad: tf.GradFunc(realGrad),
		Kernels: partsKernels(func(y []float32, x []complex64) { kernel.Map2(y, x, func(v complex64) float32 { return real(v) }) },
			func(y []float64, x []complex128) { kernel.Map2(y, x, func(v complex128) float64 { return real(v) }) }),
	})
	core.Register(core.OpDef{
		Name: "Imag", In: "input: T", Out: "output: Tout", Attrs: parts, Shape: core.UnchangedShape, Grad: tf.GradFunc(imagGrad),
		Kernels: partsKernels(func(y []float32, x []complex64) { kernel.Map2(y, x, func(v complex64) float32 { return imag(v) }) },
			func(y []float64, x []complex128) { kernel.Map2(y, x, func(v complex128) float64 { return imag(v) }) }),
	})
	core.Register(core.OpDef{
		Name: "Angle", In: "input: T", Out: "output: Tout", Attrs: parts, Shape: core.UnchangedShape, Grad: tf.GradFunc(angleGrad), Kernels: partsKernels(phases, func(y []float64, x []complex128) { kernel.Map2(y, x, cmplx.Phase) }),
	})
	core.Register(core.OpDef{
		Name: "ComplexAbs", In: "x: T", Out: "y: Tout", Attrs: parts, Shape: core.UnchangedShape, Grad: tf.GradFunc(complexAbsGrad), Kernels: partsKernels(magnitudes, func(y []float64, x []complex128) { kernel.Map2(y, x, cmplx.Abs) }),
	})
	core.Register(core.OpDef{
		Name: "Conj", Traits: core.Involution, In: "input: T", Out: "output: T", Attrs: "T: {complex64, complex128, variant} = complex64",
		Shape: conjShape, Grad: tf.GradFunc(conjGrad), Kernels: core.ByType("T", merge(complexMaps(elementwise.Conj64, elementwise.Conj128), byType{tf.Variant: stateless(conjVariants)})),
	})
}

// A Conjugable is an element of a Variant that has a complex conjugate.
type Conjugable interface{ Conjugated() any }

func conjVariants(c *core.OpContext) error {
	x := c.Input(0)
	out, err := c.Alloc(0, tf.Variant, x.Shape())
	if err != nil {
		return err
	}
	for i, v := range x.Variants() {
		from, ok := v.Value.(Conjugable)
		if !ok {
			return tf.Errorf(tf.Internal, "No unary variant unary_op function found for op CONJ Variant type_name: %s for device type: CPU", variantText(v.Value))
		}
		out.Variants()[i].Value = from.Conjugated()
	}
	return nil
}

// conjShape tells of what lies behind a Variant too.
func conjShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	if d, s := c.Handle(0); d != tf.Invalid {
		c.SetHandle(0, d, s)
	}
	return nil
}

// PartOpts are the optional attributes of Complex, Real, Imag, Angle and
// ComplexAbs: the type of the result. Without it the result is as exact as
// the operand; CPUs have kernels for no other.
type PartOpts struct{ Tout tf.DType }

// Apply sets the attributes.
func (o PartOpts) Apply(s *tf.Spec) {
	if o.Tout != tf.Invalid {
		s.Set("Tout", o.Tout)
	}
}

// Complex returns re + i·im. re and im have one type and broadcast: float32
// gives complex64, float64 complex128. Shapes that do not broadcast are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Its options are [PartOpts].
func Complex(re, im tf.Output, opts ...tf.Option) tf.Output {
	out := tf.Complex64
	if re.DType() == tf.Float64 {
		out = tf.Complex128
	}
	return apply("Complex", tf.Join(opts, PartOpts{out}), re, im)
}

// Real returns the real part of x. The result has the shape of x and is float32
// for complex64, float64 for complex128; x is of no other type. Another type of
// result fails the step with NOT_FOUND. Its options are [PartOpts].
func Real(x tf.Output, opts ...tf.Option) tf.Output { return part("Real", x, opts) }

// Imag returns the imaginary part of x. The result has the shape of x and is
// float32 for complex64, float64 for complex128; x is of no other type. Another
// type of result fails the step with NOT_FOUND. Its options are [PartOpts].
func Imag(x tf.Output, opts ...tf.Option) tf.Output { return part("Imag", x, opts) }

// Angle returns the argument of x, in (-π, π]. The result has the shape of x
// and is float32 for complex64, float64 for complex128; x is of no other type.
// Another type of result fails the step with NOT_FOUND.
// Its options are [PartOpts].
func Angle(x tf.Output, opts ...tf.Option) tf.Output { return part("Angle", x, opts) }

// ComplexAbs returns |x|. The result has the shape of x and is float32 for
// complex64, float64 for complex128; x is of no other type. Another type of
// result fails the step with NOT_FOUND. Its options are [PartOpts].
func ComplexAbs(x tf.Output, opts ...tf.Option) tf.Output { return part("ComplexAbs", x, opts) }

// Conj returns the complex conjugate of x. x is of complex64 or complex128, or
// of variants; the result has its shape and type. A variant without a conjugate
// fails the step with INTERNAL.
func Conj(x tf.Output, opts ...tf.Option) tf.Output { return apply("Conj", opts, x) }

// part adds an op from complex to real numbers.
func part(op string, x tf.Output, opts []tf.Option) tf.Output {
	out := tf.Float32
	if x.DType() == tf.Complex128 {
		out = tf.Float64
	}
	return apply(op, tf.Join(opts, PartOpts{out}), x)
}

// complexOf makes complex numbers of pairs.
func complexOf[C numeric.Complex, F numeric.Float]() elementwise.Loops[C, F] {
	return elementwise.Loops[C, F]{Zip: func(z []C, x, y []F) {
		kernel.Zip2(z, x, y, func(a, b F) C { return C(complex(float64(a), float64(b))) })
	}}
}

// phases sets y to the angles of x.
func phases(y []float32, x []complex64) {
	kernel.Map2(y, x, func(v complex64) float32 { return float32(cmplx.Phase(complex128(v))) })
}

// magnitudes sets y to |x|. The squares of single precision neither overflow nor
// vanish in double precision.
func magnitudes(y []float32, x []complex64) {
	for i, v := range x[:len(y)] {
		re, im := float64(real(v)), float64(imag(v))
		m := math.Sqrt(re*re + im*im)
		if m != m { // an infinite part counts more than one that is not a number
			m = cmplx.Abs(complex128(v))
		}
		y[i] = float32(m)
	}
}

// partsKernels returns the kernels of a function from complex to real numbers.
// A result of another width than the operand's is refused, as TensorFlow does.
func partsKernels(single func(y []float32, x []complex64), double func(y []float64, x []complex128)) core.KernelSet {
	c64, c128 := mapToKernel(single), mapToKernel(double)
	return core.ByType("T", byType{tf.Complex64: resultOf(tf.Float32, c64), tf.Complex128: resultOf(tf.Float64, c128)})
}

// resultOf restricts a kernel to nodes whose result is of type d.
func resultOf(d tf.DType, k core.NewKernel) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if n.Type("Tout") != d {
			return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with attr T = %v and Tout = %v", n.OpName(), n.Type("T"), n.Type("Tout"))
		}
		return k(n)
	}
}

func complexGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return unbroadcast(op.Input(0), op.Input(1), Real(dy[0]), Imag(dy[0]))
}

func realGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Complex(dy[0], numberLike(dy[0], 0)))
}

func imagGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Complex(numberLike(dy[0], 0), dy[0]))
}

func conjGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(Conj(dy[0])) }

func angleGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() {
		x := op.Input(0)
		z := Reciprocal(Complex(Imag(x), Real(x)))
		g = tf.Grads(Mul(Neg(Complex(dy[0], numberLike(dy[0], 0))), z))
	})
	return g
}

func complexAbsGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y := op.Input(0), op.Output(0)
	return tf.Grads(DivNoNan(Mul(Complex(dy[0], ZerosLike(dy[0])), x), Complex(y, ZerosLike(y))))
}
