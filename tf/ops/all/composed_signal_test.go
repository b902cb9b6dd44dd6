package all_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
)

var tone = ramp(2, 16)

func window(w signal.Window, n int, d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, _ []tf.Output) []tf.Output { return []tf.Output{w(g, n, d)} }
}

func dct(kind int, ortho bool) func(*tf.Graph, []tf.Output) []tf.Output {
	return one(func(x tf.Output) tf.Output { return signal.DCT(x, kind, ortho) })
}

func idct(kind int, ortho bool) func(*tf.Graph, []tf.Output) []tf.Output {
	return one(func(x tf.Output) tf.Output { return signal.IDCT(x, kind, ortho) })
}

func init() {
	plainSTFT := signal.STFTOptions{}
	composedCases = append(composedCases, []composed{
		{"tf.signal.hann_window(8)", nil, window(signal.HannWindow(true), 8, tf.Float32), false},
		{"tf.signal.hann_window(7)", nil, window(signal.HannWindow(true), 7, tf.Float32), false},
		{"tf.signal.hann_window(1)", nil, window(signal.HannWindow(true), 1, tf.Float32), false},
		{"tf.signal.hamming_window(8, periodic=False, dtype=tf.float64)", nil, window(signal.HammingWindow(false), 8, tf.Float64), false},
		{"tf.signal.vorbis_window(8)", nil, window(signal.VorbisWindow, 8, tf.Float32), false},
		{"tf.signal.kaiser_window(9, beta=12.0)", nil, window(signal.KaiserWindow(12), 9, tf.Float32), false},
		{"tf.signal.kaiser_window(1, beta=12.0)", nil, window(signal.KaiserWindow(12), 1, tf.Float32), false},
		{"tf.signal.kaiser_bessel_derived_window(8, beta=4.0)", nil, window(signal.KaiserBesselDerivedWindow(4), 8, tf.Float32), false},
		{"tf.signal.linear_to_mel_weight_matrix(4, 9, 8000, 125.0, 3800.0)", nil, func(g *tf.Graph, _ []tf.Output) []tf.Output {
			return []tf.Output{signal.LinearToMelWeightMatrix(g, 4, 9, 8000, 125, 3800, tf.Float32)}
		}, false},
		{"tf.signal.frame(a, 5, 3)", []any{tone}, one(func(x tf.Output) tf.Output { return signal.Frame(x, 5, 3, false) }), true},
		{"tf.signal.frame(a, 5, 3, pad_end=True)", []any{tone}, one(func(x tf.Output) tf.Output { return signal.Frame(x, 5, 3, true) }), true},
		{"tf.signal.frame(a, 20, 3)", []any{tone}, one(func(x tf.Output) tf.Output { return signal.Frame(x, 20, 3, false) }), false},
		{"tf.signal.overlap_and_add(a, 2)", []any{ramp(2, 3, 5)}, one(func(x tf.Output) tf.Output { return signal.OverlapAndAdd(x, 2) }), true},
		{"tf.signal.overlap_and_add(a, 6)", []any{ramp(3, 5)}, one(func(x tf.Output) tf.Output { return signal.OverlapAndAdd(x, 6) }), true},
		{"tf.signal.stft(a, 6, 3)", []any{tone}, one(func(x tf.Output) tf.Output { return signal.STFT(x, 6, 3, plainSTFT) }), false},
		{"tf.signal.stft(a, 6, 4, fft_length=10, window_fn=tf.signal.hamming_window, pad_end=True)", []any{tone}, one(func(x tf.Output) tf.Output {
			return signal.STFT(x, 6, 4, signal.STFTOptions{FFTLength: 10, Window: signal.HammingWindow(true), PadEnd: true})
		}), false},
		{"tf.signal.inverse_stft(tf.signal.stft(a, 6, 3), 6, 3, window_fn=tf.signal.inverse_stft_window_fn(3))", []any{tone}, one(func(x tf.Output) tf.Output {
			return signal.InverseSTFT(signal.STFT(x, 6, 3, plainSTFT), 6, 3, signal.STFTOptions{Window: signal.InverseSTFTWindow(3, nil)})
		}), true},
		{"tf.signal.inverse_stft(tf.signal.stft(a, 8, 4, fft_length=6), 8, 4, fft_length=6, window_fn=None)", []any{tone}, one(func(x tf.Output) tf.Output {
			o := signal.STFTOptions{FFTLength: 6}
			return signal.InverseSTFT(signal.STFT(x, 8, 4, o), 8, 4, signal.STFTOptions{FFTLength: 6, NoWindow: true})
		}), false},
		{"tf.signal.fftshift(a)", []any{ramp(3, 4)}, one(func(x tf.Output) tf.Output { return signal.FFTShift(x) }), true},
		{"tf.signal.fftshift(a, axes=1)", []any{ramp(3, 5)}, one(func(x tf.Output) tf.Output { return signal.FFTShift(x, 1) }), false},
		{"tf.signal.ifftshift(a, axes=[0, -1])", []any{ramp(3, 5)}, one(func(x tf.Output) tf.Output { return signal.IFFTShift(x, 0, -1) }), false},
		{"tf.signal.dct(a, type=1)", []any{tone}, dct(1, false), true},
		{"tf.signal.dct(a)", []any{tone}, dct(2, false), true},
		{"tf.signal.dct(a, norm='ortho')", []any{tone}, dct(2, true), true},
		{"tf.signal.dct(a, type=3)", []any{tone}, dct(3, false), true},
		{"tf.signal.dct(a, type=3, norm='ortho')", []any{tone}, dct(3, true), false},
		{"tf.signal.dct(a, type=4)", []any{tone}, dct(4, false), false},
		{"tf.signal.dct(a, type=4, norm='ortho')", []any{tone}, dct(4, true), false},
		{"tf.signal.idct(a)", []any{tone}, idct(2, false), false},
		{"tf.signal.idct(a, type=3, norm='ortho')", []any{tone}, idct(3, true), false},
		{"tf.signal.idct(a, type=1)", []any{tone}, idct(1, false), false},
		{"tf.signal.mdct(a, 8)", []any{tone}, one(func(x tf.Output) tf.Output { return signal.MDCT(x, 8, signal.MDCTOptions{}) }), true},
		{"tf.signal.mdct(a, 8, window_fn=None, pad_end=True, norm='ortho')", []any{tone}, one(func(x tf.Output) tf.Output {
			return signal.MDCT(x, 8, signal.MDCTOptions{NoWindow: true, PadEnd: true, Ortho: true})
		}), false},
		{"tf.signal.inverse_mdct(tf.signal.mdct(a, 8))", []any{tone}, one(func(x tf.Output) tf.Output {
			return signal.InverseMDCT(signal.MDCT(x, 8, signal.MDCTOptions{}), signal.MDCTOptions{})
		}), false},
		{"tf.signal.inverse_mdct(a, window_fn=None)", []any{ramp(3, 4)}, one(func(x tf.Output) tf.Output { return signal.InverseMDCT(x, signal.MDCTOptions{NoWindow: true}) }), false},
		{"tf.signal.inverse_mdct(a, norm='ortho')", []any{ramp(3, 4)}, one(func(x tf.Output) tf.Output { return signal.InverseMDCT(x, signal.MDCTOptions{Ortho: true}) }), false},
		{"tf.signal.mfccs_from_log_mel_spectrograms(a)", []any{tone}, one(signal.MFCCsFromLogMelSpectrograms), true},
	}...)
}

// rfft transforms with lengths that are known while the graph is built, and with
// lengths that the step computes.
func rfft(f func(x, lengths tf.Output, opts ...tf.Option) tf.Output, computed bool, lengths ...int32) func(*tf.Graph, []tf.Output) []tf.Output {
	return one(func(x tf.Output) tf.Output {
		n := ops.Const(x.Graph(), lengths)
		if computed {
			n = ops.Concat(0, []tf.Output{n})
			n = n.Add(x.Sum().Mul(0).Cast(tf.Int32))
		}
		return f(x, n)
	})
}

func init() {
	for _, computed := range []bool{false, true} {
		for _, c := range []composed{
			{"tf.signal.rfft(a, [20])", []any{tone}, rfft(signal.RFFT, computed, 20), false},
			{"tf.signal.rfft(a, [9])", []any{tone}, rfft(signal.RFFT, computed, 9), false},
			{"tf.signal.rfft2d(a, [4, 16])", []any{tone}, rfft(signal.RFFT2D, computed, 4, 16), false},
			{"tf.signal.rfft3d(a, [3, 3, 8])", []any{ramp(2, 3, 5)}, rfft(signal.RFFT3D, computed, 3, 3, 8), false},
			{"tf.signal.irfft(tf.cast(a, tf.complex64), [40])", []any{tone}, rfft(func(x, n tf.Output, opts ...tf.Option) tf.Output {
				return signal.IRFFT(x.Cast(tf.Complex64), n, opts...)
			}, computed, 40), false},
			{"tf.signal.irfft2d(tf.cast(a, tf.complex64), [3, 32])", []any{tone}, rfft(func(x, n tf.Output, opts ...tf.Option) tf.Output {
				return signal.IRFFT2D(x.Cast(tf.Complex64), n, opts...)
			}, computed, 3, 32), false},
		} {
			if computed {
				c.expr = "tf.identity(" + c.expr + ")" // each expression stands for one case
			}
			composedCases = append(composedCases, c)
		}
	}
}
