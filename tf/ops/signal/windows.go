package signal

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/special"
)

// A Window makes the weights of a frame of some length: a vector of type d.
type Window func(g *tf.Graph, length int, d tf.DType) tf.Output

// HannWindow returns a Hann window: the raised cosine. A periodic one is for
// spectra, a symmetric one for filters. See Harris (1978). A negative length
// and a type that is no floating-point type (float16, bfloat16, float32,
// float64) are refused with INVALID_ARGUMENT when the graph is built.
func HannWindow(periodic bool) Window { return raised("hann_window", 0.5, periodic) }

// HammingWindow returns a Hamming window: a raised cosine that does not reach
// 0. See Harris (1978). A negative length and a type that is no
// floating-point type (float16, bfloat16, float32, float64) are refused with
// INVALID_ARGUMENT when the graph is built.
func HammingWindow(periodic bool) Window { return raised("hamming_window", 0.54, periodic) }

func raised(name string, a float64, periodic bool) Window {
	return func(g *tf.Graph, length int, d tf.DType) tf.Output {
		n := float64(length - 1)
		if periodic && length%2 == 0 {
			n++
		}
		return computed(g, name, length, d, func(i float64) float64 {
			if length == 1 {
				return 1
			}
			return a - (1-a)*math.Cos(2*math.Pi*i/n)
		})
	}
}

// VorbisWindow is the window of the Vorbis codec, which satisfies the
// condition of Princen and Bradley: what overlaps adds up to 1. Its source is
// the Vorbis I specification (Xiph.Org). A negative length and a type that is
// no floating-point type (float16, bfloat16, float32, float64) are refused
// with INVALID_ARGUMENT when the graph is built.
func VorbisWindow(g *tf.Graph, length int, d tf.DType) tf.Output {
	return computed(g, "vorbis_window", length, d, func(i float64) float64 {
		s := math.Sin(math.Pi / float64(length) * (i + 0.5))
		return math.Sin(math.Pi / 2 * s * s)
	})
}

// computed adds a constant of the values of f at 0, 1, ...
func computed(g *tf.Graph, name string, length int, d tf.DType, f func(i float64) float64) (y tf.Output) {
	if length < 0 || !d.IsFloat() {
		return tf.Failed(g, name, invalid("a window has a length of at least 0 and a floating-point type, got %d and %v", length, d)).Output(0)
	}
	values := make([]float64, length)
	for i := range values {
		values[i] = f(float64(i))
	}
	t := core.Wrap(values, tf.Shape{length})
	if g == nil {
		return ops.ConstValue(nil, t) // which has the error
	}
	g.Scope(name, func() { y = cast(ops.ConstValue(g, t), d) })
	return y
}

func cast(x tf.Output, d tf.DType) tf.Output {
	if x.DType().Base() == d.Base() {
		return x
	}
	return ops.Cast(x, d)
}

// KaiserWindow returns a Kaiser window: the greater beta, the narrower. The
// window is that of Kaiser (1974). A negative length and a type that is no
// floating-point type (float16, bfloat16, float32, float64) are refused with
// INVALID_ARGUMENT when the graph is built.
func KaiserWindow(beta float64) Window {
	return func(g *tf.Graph, length int, d tf.DType) tf.Output {
		if length == 1 || !d.IsFloat() { // the latter is refused there
			return computed(g, "kaiser_window", length, d, func(float64) float64 { return 1 })
		}
		half := float64(length-1) / 2
		arg := computed(g, "kaiser_window", length, tf.Float64, func(i float64) float64 {
			x := (i - half) / half
			return beta * math.Sqrt(max(0, 1-x*x))
		})
		if arg.Err() != nil {
			return arg
		}
		top := special.BesselI0e(ops.Scalar(g, beta))
		return cast(ops.RealDiv(ops.Mul(special.BesselI0e(arg), ops.Exp(arg.Sub(beta))), top), d)
	}
}

// KaiserBesselDerivedWindow returns a window that is derived from Kaiser's
// and satisfies the condition of Princen and Bradley. Its length must be
// even. An odd or negative length and a type that is no floating-point type
// are refused with INVALID_ARGUMENT when the graph is built.
func KaiserBesselDerivedWindow(beta float64) Window {
	return func(g *tf.Graph, length int, d tf.DType) tf.Output {
		if length%2 != 0 || length < 0 || !d.IsFloat() {
			return tf.Failed(g, "kaiser_bessel_derived_window", invalid("the length of this window must be even and its type a floating-point type, got %d and %v", length, d)).Output(0)
		}
		sum := ops.Cumsum(KaiserWindow(beta)(g, length/2+1, tf.Float64), 0)
		half := ops.Sqrt(ops.RealDiv(sum.At(":-1"), sum.At("-1")))
		return cast(ops.Concat(0, []tf.Output{half, ops.Reverse(half, []int{0})}), d)
	}
}

// LinearToMelWeightMatrix returns a matrix [bins bands] by which a
// spectrogram [... bins] of frequencies from 0 to half the sample rate is
// multiplied to get bands of the mel scale between the frequencies low and
// high, in Hz. The result has the floating-point type d (float16, bfloat16,
// float32, float64). Another type, bands below 1, bins below 2, and
// frequencies for which 0 <= low < high <= sampleRate/2 does not hold are
// refused with INVALID_ARGUMENT when the graph is built.
func LinearToMelWeightMatrix(g *tf.Graph, bands, bins int, sampleRate, low, high float64, d tf.DType) tf.Output {
	if bands <= 0 || bins <= 1 || sampleRate <= 0 || low < 0 || low >= high || high > sampleRate/2 {
		return tf.Failed(g, "linear_to_mel_weight_matrix", invalid("there must be bands and bins, and 0 <= low < high <= rate/2: got %d bands, %d bins, %v, %v, rate %v", bands, bins, low, high, sampleRate)).Output(0)
	}
	mel := func(f float64) float64 { return 1127 * math.Log1p(f/700) }
	edge := func(i int) float64 { return mel(low) + (mel(high)-mel(low))*float64(i)/float64(bands+1) }
	flat := computed(g, "linear_to_mel_weight_matrix", bins*bands, d, func(i float64) float64 {
		bin, band := int(i)/bands, int(i)%bands
		if bin == 0 {
			return 0
		}
		at := mel(sampleRate / 2 * float64(bin) / float64(bins-1))
		up := (at - edge(band)) / (edge(band+1) - edge(band))
		down := (edge(band+2) - at) / (edge(band+2) - edge(band+1))
		return max(0, min(up, down))
	})
	return ops.Reshape(flat, []int{bins, bands})
}
