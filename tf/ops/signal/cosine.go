package signal

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// DCT returns the discrete cosine transforms of the types 1 to 4 along the
// last dimension of x, of type Float32 or Float64, whose size must be known.
// With ortho the transform is orthonormal, which type 1 cannot be. Type 2 is
// that of Ahmed, Natarajan and Rao (1974). The result has the shape and the
// type of x. An unknown size, another kind than 1 to 4, and kind 1 with ortho
// or of fewer than 2 numbers are refused with INVALID_ARGUMENT when the graph
// is built.
func DCT(x tf.Output, kind int, ortho bool) tf.Output {
	return scoped("dct", x, func() tf.Output {
		s := x.Shape()
		if len(s) == 0 || s[len(s)-1] < 0 || kind < 1 || kind > 4 || kind == 1 && (ortho || s[len(s)-1] < 2) {
			return refused(x, "dct", "a cosine transform has type 1, of at least 2 numbers and not orthonormal, or 2 to 4, and a last dimension of known size: got type %d, orthonormal %v, shape %v", kind, ortho, s)
		}
		n := s[len(s)-1]
		switch kind {
		case 1:
			both := ops.Concat(-1, []tf.Output{x, ops.Reverse(x.At("..., 1:-1"), []int{-1})})
			return ops.Real(realFFT(both, 2*(n-1)))
		case 2:
			return dct2(x, n, ortho)
		case 3:
			return dct3(x, n, ortho)
		}
		y := dct2(atLeast(x, 2*n), 2*n, false).At("..., 1::2")
		if ortho {
			y = ops.Mul(y, factor(y, math.Sqrt(0.5/float64(n))))
		}
		return y
	})
}

// IDCT returns the inverse of DCT, but for a factor if it is not orthonormal:
// 2n for type 2 to 4 of n numbers, 2(n-1) for type 1. Its arguments are
// refused as by DCT.
func IDCT(x tf.Output, kind int, ortho bool) tf.Output {
	switch kind {
	case 2:
		kind = 3
	case 3:
		kind = 2
	}
	return DCT(x, kind, ortho)
}

// factor adds a scalar of the type of x.
func factor(x tf.Output, v float64) tf.Output {
	return cast(ops.Scalar(x.Graph(), v), x.DType().Base())
}

// valuesOf adds the values of f at 0 to n-1, in the type of x.
func valuesOf(x tf.Output, n int, f func(i float64) float64) tf.Output {
	values := make([]float64, n)
	for i := range values {
		values[i] = f(float64(i))
	}
	return cast(ops.ConstValue(x.Graph(), core.Wrap(values, tf.Shape{n})), x.DType().Base())
}

// rotations adds 2·e^(i·sign·k·π/2n) for k from 0 to n-1.
func rotations(x tf.Output, n int, sign float64) tf.Output {
	angle := sign * math.Pi / 2 / float64(n)
	re := valuesOf(x, n, func(k float64) float64 { return 2 * math.Cos(angle*k) })
	return ops.Complex(re, valuesOf(x, n, func(k float64) float64 { return 2 * math.Sin(angle*k) }))
}

func dct2(x tf.Output, n int, ortho bool) tf.Output {
	f := realFFT(x, 2*n).At("..., :?", count(x, n))
	y := ops.Real(ops.Mul(f, rotations(x, n, -1)))
	if ortho {
		y = ops.Mul(y, valuesOf(x, n, func(k float64) float64 {
			if k == 0 {
				return 0.5 / math.Sqrt(float64(n))
			}
			return math.Sqrt(0.5 / float64(n))
		}))
	}
	return y
}

func dct3(x tf.Output, n int, ortho bool) tf.Output {
	x = ops.Mul(x, valuesOf(x, n, func(k float64) float64 {
		switch {
		case !ortho:
			return float64(n)
		case k == 0:
			return math.Sqrt(float64(n))
		}
		return math.Sqrt(float64(n) / 2)
	}))
	f := ops.Mul(rotations(x, n, 1), ops.Complex(x, ops.ZerosLike(x)))
	return inverseRealFFT(f, 2*n).At("..., :?", count(x, n))
}

// MDCTOptions adjust MDCT and InverseMDCT.
type MDCTOptions struct {
	// Window weights the frames; nil: VorbisWindow. NoWindow: all alike, by √½.
	Window   Window
	NoWindow bool
	// PadEnd fills the last frames of MDCT up with zeros.
	PadEnd bool
	// Ortho makes the transform orthonormal.
	Ortho bool
}

func (o MDCTOptions) apply(frames tf.Output, length int) tf.Output {
	if o.NoWindow {
		return ops.Mul(frames, factor(frames, math.Sqrt(0.5))) // the constant that adds up to 1
	}
	w := o.Window
	if w == nil {
		w = VorbisWindow
	}
	return STFTOptions{Window: w}.apply(frames, length)
}

// MDCT returns the modified discrete cosine transforms of frames of length
// elements, a multiple of 4, each of which overlaps half of the next: signals
// [... samples] become [... frames length/2]. The transform is that of
// Princen, Johnson and Bradley (ICASSP 1987). x has a floating-point type,
// which the result keeps, and a known rank. A length that is not a positive
// multiple of 4, and an unknown rank, are refused with INVALID_ARGUMENT when
// the graph is built.
func MDCT(x tf.Output, length int, o MDCTOptions) tf.Output {
	return scoped("mdct", x, func() tf.Output {
		if length <= 0 || length%4 != 0 {
			return refused(x, "mdct", "the frame length must be a multiple of 4, got %d", length)
		}
		quarters := ops.Split(o.apply(Frame(x, length, length/2, o.PadEnd), length), 4, -1)
		flip := func(y tf.Output) tf.Output { return ops.Reverse(y, []int{-1}) }
		first := ops.Sub(ops.Neg(flip(quarters[2])), quarters[3])
		second := ops.Sub(quarters[0], flip(quarters[1]))
		return DCT(ops.Concat(-1, []tf.Output{first, second}), 4, o.Ortho)
	})
}

// InverseMDCT returns the signals whose MDCT, with the same options, are x
// [... frames half], but for the first and the last half frame. The result is
// [... (frames+1)*half] of the type of x. Spectra of unknown rank or of an
// unknown last size are refused with INVALID_ARGUMENT when the graph is
// built.
func InverseMDCT(x tf.Output, o MDCTOptions) tf.Output {
	return scoped("inverse_mdct", x, func() tf.Output {
		y := IDCT(x, 4, o.Ortho)
		if y.Err() != nil {
			return y
		}
		half := x.Shape()[len(x.Shape())-1]
		if !o.Ortho {
			y = ops.Mul(y, factor(y, 0.5/float64(half)))
		}
		parts := ops.Split(y, 2, -1)
		flip := func(y tf.Output) tf.Output { return ops.Neg(ops.Reverse(y, []int{-1})) }
		frames := ops.Concat(-1, []tf.Output{parts[1], flip(parts[1]), flip(parts[0]), ops.Neg(parts[0])})
		return OverlapAndAdd(o.apply(frames, 2*half), half)
	})
}

// MFCCsFromLogMelSpectrograms returns the mel-frequency cepstral coefficients
// of logarithmic mel spectrograms [... bands], as HTK computes them. The
// coefficients are those of Davis and Mermelstein (1980). The result has the
// shape and the type of x, float32 or float64. An unknown number of bands is
// refused with INVALID_ARGUMENT when the graph is built.
func MFCCsFromLogMelSpectrograms(x tf.Output) tf.Output {
	return scoped("mfccs_from_log_mel_spectrograms", x, func() tf.Output {
		y := DCT(x, 2, false)
		if y.Err() != nil {
			return y
		}
		bands := x.Shape()[len(x.Shape())-1]
		return ops.Mul(y, factor(y, 1/math.Sqrt(float64(2*bands))))
	})
}
