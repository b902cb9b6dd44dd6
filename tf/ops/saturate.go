package ops

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// SaturateCast converts x to type d; what d cannot hold becomes its least or
// its greatest value. A complex x is converted by its real part, unless d is
// complex. The result has the shape of x. Infinities become limits too where
// d has a smaller range than the type of x. Types without limits, such as
// bool and the complex ones, are converted as Cast does.
func SaturateCast(x tf.Output, d tf.DType) tf.Output {
	return scoped("saturate_cast", x, func() tf.Output {
		y := x
		if x.DType().Base().IsComplex() && !d.IsComplex() {
			y = Real(x)
		}
		low, high, ok := limitsOf(d)
		if fromLow, fromHigh, also := limitsOf(y.DType().Base()); ok && also {
			if fromLow < low {
				y = Maximum(y, limitIn(y, low))
			}
			if fromHigh > high {
				y = Minimum(y, limitIn(y, high))
			}
		}
		return castTo(y, d)
	})
}

// limitsOf returns the least and the greatest finite number of type d, or the next
// smaller float64.
func limitsOf(d tf.DType) (low, high float64, ok bool) {
	switch d {
	case tf.Float64:
		return -math.MaxFloat64, math.MaxFloat64, true
	case tf.Float32:
		return -math.MaxFloat32, math.MaxFloat32, true
	case tf.BFloat16:
		return -0x1.FEp127, 0x1.FEp127, true
	case tf.Float16:
		return -65504, 65504, true
	case tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64:
		return 0, greatest(8 * d.Size()), true
	case tf.Int8, tf.Int16, tf.Int32, tf.Int64:
		return -math.Ldexp(1, 8*d.Size()-1), greatest(8*d.Size() - 1), true
	}
	return 0, 0, false
}

// greatest is 2^bits - 1, or the next smaller float64.
func greatest(bits int) float64 {
	if bits > 53 {
		return math.Nextafter(math.Ldexp(1, bits), 0)
	}
	return math.Ldexp(1, bits) - 1
}

// limitIn returns v in the type of x, or the next number of that type that is
// nearer to 0: the greatest int32 is no float32, and the next one would overflow.
func limitIn(x tf.Output, v float64) tf.Output {
	precision := map[tf.DType]int{tf.Float64: 53, tf.Float32: 24, tf.Float16: 11, tf.BFloat16: 8}
	d := x.DType().Base()
	p, isFloat := precision[d]
	if !isFloat && v > 1<<62 {
		return intScalar(x, d, math.MaxInt64)
	}
	if isFloat {
		m, e := math.Frexp(v)
		v = math.Ldexp(math.Trunc(math.Ldexp(m, p)), e-p)
	}
	return numberLike(x, v)
}
