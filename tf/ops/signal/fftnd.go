package signal

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, d := range []struct {
		name, in, out, attrs string
		kind
	}{
		{"FFTND", "Tcomplex", "Tcomplex", complexAttr, kind{}},
		{"IFFTND", "Tcomplex", "Tcomplex", complexAttr, kind{inverse: true}},
		{"RFFTND", "Treal", "Tcomplex", realAttrs, kind{real: true}},
		{"IRFFTND", "Tcomplex", "Treal", realAttrs, kind{real: true, inverse: true}},
	} {
		core.Register(core.OpDef{
			Name: d.name, In: "input: " + d.in + "; fft_length: int32; axes: int32", Out: "output: " + d.out, Attrs: d.attrs,
			Shape: sameRank, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(axesKernel(d.kind)),
		})
	}
}

// FFTND is FFT along axes, the last dimensions in ascending order, of given
// lengths. x is complex64 or complex128, and the result has its type. x is
// cut off or filled up with zeros to the lengths. lengths and axes are int32
// vectors of one length that is not 0; negative axes count from the end.
// Other vectors, a rank below their length, axes that are not the last
// dimensions, and negative lengths fail with INVALID_ARGUMENT in the step.
func FFTND(x, lengths, axes tf.Output, opts ...tf.Option) tf.Output {
	return apply("FFTND", opts, x, lengths, axes)
}

// IFFTND is the inverse of FFTND. Inputs and errors are those of FFTND.
func IFFTND(x, lengths, axes tf.Output, opts ...tf.Option) tf.Output {
	return apply("IFFTND", opts, x, lengths, axes)
}

// RFFTND is RFFT along axes, the last dimensions in ascending order. x is
// float32 or float64, the result complex64 or complex128. lengths and axes
// are int32 vectors of one length that is not 0; negative axes count from the
// end. Other vectors, a rank below their length, axes that are not the last
// dimensions, and negative lengths fail with INVALID_ARGUMENT in the step. So
// do dimensions that have fewer elements than their length, unlike in RFFT.
func RFFTND(x, lengths, axes tf.Output, opts ...tf.Option) tf.Output {
	return realOp("RFFTND", x, opts, lengths, axes)
}

// IRFFTND is the inverse of RFFTND. x is complex64 or complex128, the result
// float32 or float64. lengths and axes are int32 vectors of one length that
// is not 0; negative axes count from the end. Other vectors, a rank below
// their length, axes that are not the last dimensions, and negative lengths
// fail with INVALID_ARGUMENT in the step. So do dimensions that have fewer
// elements than their length takes, length/2 + 1 in the last one.
func IRFFTND(x, lengths, axes tf.Output, opts ...tf.Option) tf.Output {
	return realOp("IRFFTND", x, opts, lengths, axes)
}

func sameRank(c *core.Infer) error {
	s := c.In(0).Clone()
	for i := range s {
		s[i] = -1
	}
	c.Set(0, s)
	return nil
}

// axesKernel makes kernels that are told what to transform.
func axesKernel(k kind) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		var plans transforms
		return core.Compute(func(c *core.OpContext) error {
			s := &spectrum{kind: k, in: c.Input(0).Shape(), plans: &plans}
			lengths, axes := c.Input(1), c.Input(2)
			if axes.Rank() != 1 || axes.Len() == 0 {
				return invalid("axes must be a vector that is not empty, got shape %s", axes.Shape().String())
			}
			if err := checkAxes(s.in, core.Data[int32](axes)); err != nil {
				return err
			}
			if lengths.Rank() != 1 || lengths.Len() != axes.Len() {
				return invalid("fft_length must have shape [%d], but got: %s.", axes.Len(), lengths.Shape().String())
			}
			if err := s.setLengths(lengths); err != nil {
				return err
			}
			return s.run(c)
		}), nil
	}
}

// checkAxes accepts the last dimensions, in ascending order.
func checkAxes(s tf.Shape, axes []int32) error {
	if len(s) < len(axes) {
		return invalid("Input must have rank of at least %d but got: %s", len(axes), s.String())
	}
	for i, a := range axes {
		if a < 0 {
			a += int32(len(s))
		}
		switch at := len(s) - len(axes) + i; {
		case i == len(axes)-1 && int(a) != at:
			return invalid("The last axis to perform transform on must be -1.")
		case int(a) != at:
			return invalid("axes must be successive and ascending.")
		}
	}
	return nil
}
