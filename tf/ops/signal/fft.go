package signal

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	complexAttr = "Tcomplex: {complex64, complex128} = complex64"
	realAttrs   = "Treal: {float, double} = float; " + complexAttr
)

func init() {
	for i, suffix := range []string{"", "2D", "3D"} {
		rank := i + 1
		registerComplex("FFT", suffix, rank, kind{})
		registerComplex("IFFT", suffix, rank, kind{inverse: true})
		registerReal("RFFT"+suffix, "input: Treal", "output: Tcomplex", rank, kind{real: true})
		registerReal("IRFFT"+suffix, "input: Tcomplex", "output: Treal", rank, kind{real: true, inverse: true})
	}
}

// registerComplex registers an op on complex numbers, and the one that it was
// named after in the past.
func registerComplex(prefix, suffix string, rank int, k kind) {
	core.Register(core.OpDef{
		Name: prefix + suffix, In: "input: Tcomplex", Out: "output: Tcomplex", Attrs: complexAttr,
		Shape: sameShape(rank), Expensive: true, Grad: complexGrad(prefix, suffix, rank), Kernels: core.AnyType(fixedKernel(k, rank)),
	})
	core.Register(core.OpDef{
		Name: "Batch" + prefix + suffix, In: "input: complex64", Out: "output: complex64",
		Shape: sameShape(rank), Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(fixedKernel(k, rank)),
	})
}

// registerReal registers an op on real numbers. TensorFlow has no gradients of
// three dimensions.
func registerReal(name, in, out string, rank int, k kind) {
	def := core.OpDef{
		Name: name, In: in + "; fft_length: int32", Out: out, Attrs: realAttrs,
		Shape: lengthShape(k, rank), Expensive: true, Kernels: core.AnyType(fixedKernel(k, rank)),
	}
	switch {
	case rank > 2:
		def.NoGrad = core.NoGradientDefined
	case k.inverse:
		def.Grad = inverseRealGrad(rank)
	default:
		def.Grad = realGrad(rank)
	}
	core.Register(def)
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// FFT returns the discrete Fourier transforms of complex numbers along the
// last dimension. The method is that of Cooley and Tukey (1965), and that of
// Bluestein (1970) for lengths with a large prime factor. x is complex64 or
// complex128 and has one dimension or more; the result has its shape and
// type. A lower rank is refused with INVALID_ARGUMENT, when the graph is
// built if it is known, else in the step.
func FFT(x tf.Output, opts ...tf.Option) tf.Output { return complexOp("FFT", x, opts) }

// IFFT is the inverse of FFT. x is complex64 or complex128 and has one
// dimension or more; the result has its shape and type. A lower rank is
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step.
func IFFT(x tf.Output, opts ...tf.Option) tf.Output { return complexOp("IFFT", x, opts) }

// FFT2D is FFT along the last two dimensions. x is complex64 or complex128
// and has two dimensions or more; the result has its shape and type. A lower
// rank is refused with INVALID_ARGUMENT, when the graph is built if it is
// known, else in the step.
func FFT2D(x tf.Output, opts ...tf.Option) tf.Output { return complexOp("FFT2D", x, opts) }

// IFFT2D is the inverse of FFT2D. x is complex64 or complex128 and has two
// dimensions or more; the result has its shape and type. A lower rank is
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step.
func IFFT2D(x tf.Output, opts ...tf.Option) tf.Output { return complexOp("IFFT2D", x, opts) }

// FFT3D is FFT along the last three dimensions. x is complex64 or complex128
// and has three dimensions or more; the result has its shape and type. A
// lower rank is refused with INVALID_ARGUMENT, when the graph is built if it
// is known, else in the step.
func FFT3D(x tf.Output, opts ...tf.Option) tf.Output { return complexOp("FFT3D", x, opts) }

// IFFT3D is the inverse of FFT3D. x is complex64 or complex128 and has three
// dimensions or more; the result has its shape and type. A lower rank is
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step.
func IFFT3D(x tf.Output, opts ...tf.Option) tf.Output { return complexOp("IFFT3D", x, opts) }

// RFFT returns the discrete Fourier transforms of real numbers along the last
// dimension, of which the first length, a vector of one int32, are used, with
// zeros behind them if there are fewer: those length/2 + 1 elements of which
// the others are conjugates. x is float32 or float64, the result complex64 or
// complex128. Other dimensions stay. A rank below 1 and lengths of another
// shape are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step; a negative length fails with it in the step.
func RFFT(x, length tf.Output, opts ...tf.Option) tf.Output {
	return realOp("RFFT", padded(x, length, false), opts, length)
}

// IRFFT is the inverse of RFFT: it returns length real numbers. x is
// complex64 or complex128, the result float32 or float64. Spectra with fewer
// elements than that takes, length/2 + 1 in the last dimension, are filled up
// with zeros. A rank below 1 and lengths of another shape are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step; a negative length fails with it in the step.
func IRFFT(x, length tf.Output, opts ...tf.Option) tf.Output {
	return realOp("IRFFT", padded(x, length, true), opts, length)
}

// RFFT2D is RFFT along the last two dimensions, of two lengths. x is float32
// or float64, the result complex64 or complex128. lengths is an int32 vector;
// where x has fewer elements, it is filled up with zeros. A rank below 2 and
// lengths of another shape are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step; a negative length fails with
// it in the step.
func RFFT2D(x, lengths tf.Output, opts ...tf.Option) tf.Output {
	return realOp("RFFT2D", padded(x, lengths, false), opts, lengths)
}

// IRFFT2D is the inverse of RFFT2D. x is complex64 or complex128, the result
// float32 or float64. Spectra with fewer elements than that takes, length/2 +
// 1 in the last dimension, are filled up with zeros. A rank below 2 and
// lengths of another shape are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step; a negative length fails with
// it in the step.
func IRFFT2D(x, lengths tf.Output, opts ...tf.Option) tf.Output {
	return realOp("IRFFT2D", padded(x, lengths, true), opts, lengths)
}

// RFFT3D is RFFT along the last three dimensions, of three lengths. x is
// float32 or float64, the result complex64 or complex128. lengths is an int32
// vector; where x has fewer elements, it is filled up with zeros. A rank
// below 3 and lengths of another shape are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step; a negative
// length fails with it in the step.
func RFFT3D(x, lengths tf.Output, opts ...tf.Option) tf.Output {
	return realOp("RFFT3D", padded(x, lengths, false), opts, lengths)
}

// IRFFT3D is the inverse of RFFT3D. x is complex64 or complex128, the result
// float32 or float64. Spectra with fewer elements than that takes, length/2 +
// 1 in the last dimension, are filled up with zeros. A rank below 3 and
// lengths of another shape are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step; a negative length fails with
// it in the step.
func IRFFT3D(x, lengths tf.Output, opts ...tf.Option) tf.Output {
	return realOp("IRFFT3D", padded(x, lengths, true), opts, lengths)
}

func complexOp(op string, x tf.Output, opts []tf.Option) tf.Output { return apply(op, opts, x) }

// realOp sets the type that follows from that of x.
func realOp(op string, x tf.Output, opts []tf.Option, more ...tf.Output) tf.Output {
	attr, types := "Tcomplex", map[tf.DType]tf.DType{tf.Float32: tf.Complex64, tf.Float64: tf.Complex128}
	if x.DType().IsComplex() {
		attr, types = "Treal", map[tf.DType]tf.DType{tf.Complex64: tf.Float32, tf.Complex128: tf.Float64}
	}
	if d, ok := types[x.DType().Base()]; ok {
		opts = tf.Join(opts, tf.Attr(attr, d))
	}
	return apply(op, opts, append([]tf.Output{x}, more...)...)
}

func sameShape(rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		s := c.In(0)
		if s != nil && len(s) < rank {
			return invalid("Shape must be at least rank %d but is rank %d", rank, len(s))
		}
		c.Set(0, s)
		return nil
	}
}

func lengthShape(k kind, rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		s := c.In(0)
		switch l := c.In(1); {
		case s != nil && len(s) < rank:
			return invalid("Shape must be at least rank %d but is rank %d", rank, len(s))
		case l != nil && (len(l) != 1 || l[0] >= 0 && l[0] != rank):
			return invalid("Shape must be rank 1 of size %d but is %v", rank, l)
		case s == nil:
			return nil
		}
		out := s.Clone()
		lengths, known := c.ConstInts(1)
		for i := range rank {
			n := -1
			if known && len(lengths) == rank {
				n = lengths[i]
				if i == rank-1 && !k.inverse {
					n = half(n)
				}
			}
			out[len(out)-rank+i] = n
		}
		c.Set(0, out)
		return nil
	}
}

// checkTypes refuses real and complex numbers of different sizes.
func checkTypes(c *core.OpContext, k kind) error {
	in, out := c.Input(0).DType(), c.Node.OutTypes[0]
	wide := map[tf.DType]bool{tf.Float64: true, tf.Complex128: true}
	switch {
	case !k.real || wide[in] == wide[out]:
		return nil
	case k.inverse:
		return invalid("Wrong types for backward real FFT: in=%d out=%d", in, out)
	}
	return invalid("Wrong types for forward real FFT: in=%d out=%d", in, out)
}

// fixedKernel makes kernels that transform a fixed number of dimensions.
func fixedKernel(k kind, rank int) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		var plans transforms
		return core.Compute(func(c *core.OpContext) error {
			s := &spectrum{kind: k, in: c.Input(0).Shape(), plans: &plans}
			if len(s.in) < rank {
				return invalid("Input must have rank of at least %d but got: %s", rank, s.in.String())
			}
			s.lengths = s.in[len(s.in)-rank:]
			if k.real {
				t := c.Input(1)
				if t.Rank() != 1 || t.Len() != rank {
					return invalid("fft_length must have shape [%d]", rank)
				}
				if err := s.setLengths(t); err != nil {
					return err
				}
			}
			return s.run(c)
		}), nil
	}
}

// setLengths reads the lengths of the transforms and checks that the input has
// as many elements, if it has any.
func (s *spectrum) setLengths(t *core.Tensor) error {
	lengths := core.Make[int](t.Len())
	for i, n := range core.Data[int32](t) {
		if n < 0 {
			return invalid("fft_length[%d] must >= 0, but got: %d", i, n)
		}
		lengths[i] = int(n)
		least := int(n)
		if s.inverse && i == t.Len()-1 {
			least = least/2 + 1
		}
		axis := len(s.in) - t.Len() + i
		if have := s.in[axis]; s.real && have != 0 && have < least {
			return invalid("Input dimension %d must have length of at least %d but got: %d", axis, least, have)
		}
	}
	s.lengths = lengths
	return nil
}

// run makes the output and computes it.
func (s *spectrum) run(c *core.OpContext) error {
	s.out = append(s.in[:s.outer()].Clone(), s.lengths...)
	if last := len(s.out) - 1; s.real && !s.inverse {
		s.out[last] = half(s.out[last])
	}
	out, err := c.Alloc(0, c.Node.OutTypes[0], s.out)
	if err != nil {
		return err
	}
	if err := checkTypes(c, s.kind); err != nil || out.Len() == 0 {
		return err
	}
	if c.Input(0).Len() == 0 {
		elementwise.Cast(elements(out), core.Make[complex128](out.Len()))
		return nil
	}
	if s.lanes(c, out) {
		return nil
	}
	if err := core.CheckSize(tf.Complex128, append(s.in[:s.outer()].Clone(), s.lengths...)); err != nil {
		return err
	}
	elementwise.Cast(elements(out), s.compute(c, elements(c.Input(0))))
	return nil
}

var elementsOf = map[tf.DType]func(*core.Tensor) any{
	tf.Float32: sliceOf[float32], tf.Float64: sliceOf[float64], tf.Complex64: sliceOf[complex64], tf.Complex128: sliceOf[complex128],
}

func sliceOf[T tf.Elem](t *core.Tensor) any { return core.Data[T](t) }

// elements returns the elements of t as a slice of their type.
func elements(t *core.Tensor) any {
	f := elementsOf[t.DType()]
	if f == nil {
		panic(fmt.Sprintf("signal: elements of a %v tensor", t.DType()))
	}
	return f(t)
}
