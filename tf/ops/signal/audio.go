package signal

import (
	"math"
	"math/bits"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "AudioSpectrogram", In: "input: float", Out: "spectrogram: float", Attrs: "window_size: int; stride: int; magnitude_squared: bool = false",
		Shape: spectrogramShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(spectrogram),
	})
	core.Register(core.OpDef{
		Name: "Mfcc", In: "spectrogram: float; sample_rate: int32", Out: "output: float",
		Attrs: "upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
		Shape: mfccShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(mfcc),
	})
}

// AudioSpectrogramOpts is the optional attribute of AudioSpectrogram: magnitudes
// are to be squared.
type AudioSpectrogramOpts struct{ MagnitudeSquared bool }

// Apply sets the attributes.
func (o AudioSpectrogramOpts) Apply(s *tf.Spec) { s.Set("magnitude_squared", o.MagnitudeSquared) }

// AudioSpectrogram returns the magnitudes of the frequencies in windows of so
// many samples of x, a float32 matrix with a column for each channel. Windows
// begin stride samples apart. The result has dimensions for channels, windows
// and frequencies. x is [samples channels], and the result is float32
// [channels windows 1+p/2], where p is the least power of two that holds a
// window; the window is a Hann window. Samples of an incomplete window are
// left out. Another rank, a window below 2 and a stride below 1 are refused
// with INVALID_ARGUMENT when the graph is built, a window of more than 2^24
// samples in the step. Its options are [AudioSpectrogramOpts].
func AudioSpectrogram(x tf.Output, window, stride int, opts ...tf.Option) tf.Output {
	return apply("AudioSpectrogram", tf.Join(opts, tf.Attr("window_size", window), tf.Attr("stride", stride)), x)
}

// MfccOpts are the optional attributes of Mfcc: which frequencies count, 20 to
// 4000 hertz if they are 0; in how many bands they are, 40 if that is 0; and how
// many coefficients there are, 13 if that is 0.
type MfccOpts struct {
	Lower, Upper        float32
	Bands, Coefficients int
}

// Apply sets the attributes.
func (o MfccOpts) Apply(s *tf.Spec) {
	if o.Lower != 0 {
		s.Set("lower_frequency_limit", o.Lower)
	}
	if o.Upper != 0 {
		s.Set("upper_frequency_limit", o.Upper)
	}
	if o.Bands != 0 {
		s.Set("filterbank_channel_count", o.Bands)
	}
	if o.Coefficients != 0 {
		s.Set("dct_coefficient_count", o.Coefficients)
	}
}

// Mfcc returns the mel-frequency cepstral coefficients of a spectrogram of
// squared magnitudes. The coefficients are those of Davis and Mermelstein
// (1980). spectrogram is float32 [channels windows frequencies], sampleRate
// an int32 scalar; the result is float32 [channels windows coefficients].
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step. Fewer than two frequencies, a rate that
// is not positive, limits that do not ascend from 0 on, and more coefficients
// than bands fail with INVALID_ARGUMENT in the step. The result is 0 where
// the spectrogram does not reach the upper limit.
// Its options are [MfccOpts].
func Mfcc(spectrogram, sampleRate tf.Output, opts ...tf.Option) tf.Output {
	return apply("Mfcc", opts, spectrogram, sampleRate)
}

// windows returns how many windows n samples have.
func windows(n, window, stride int) int {
	if n < window {
		return 0
	}
	return 1 + (n-window)/stride
}

// powerOfTwo returns the first power of two from n on.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

func spectrogramShape(c *core.Infer) error {
	s, err := c.Rank(0, 2)
	window, stride := c.Int("window_size"), c.Int("stride")
	switch {
	case err != nil:
		return err
	case window <= 1:
		return tf.Errorf(tf.InvalidArgument, "window size must be > 1, got %d", window)
	case stride <= 0:
		return tf.Errorf(tf.InvalidArgument, "stride must be strictly positive, got %d", stride)
	}
	n := -1
	if s[0] >= 0 {
		n = windows(s[0], window, stride)
	}
	c.Set(0, tf.Shape{s[1], n, 1 + powerOfTwo(window)/2})
	return nil
}

func mfccShape(c *core.Infer) error {
	s, err := c.Rank(0, 3)
	if err != nil {
		return err
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	c.Set(0, tf.Shape{s[0], s[1], c.Int("dct_coefficient_count")})
	return nil
}

// longestWindow bounds the tables that a window needs.
const longestWindow = 1 << 24

func spectrogram(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("window_size", "stride"); err != nil {
		return nil, err
	}
	window, stride, squared := n.Int("window_size"), n.Int("stride"), n.Bool("magnitude_squared")
	if window < 2 || stride < 1 || window > longestWindow {
		return nil, tf.Errorf(tf.InvalidArgument, "Spectrogram initialization failed for window size %d and stride %d", window, stride)
	}
	t, hann := newTransform(powerOfTwo(window)), core.Make[float64](window)
	for i := range hann {
		hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(window))
	}
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() != 2 {
			return tf.Errorf(tf.InvalidArgument, "input must be 2-dimensional%s", x.Shape().String())
		}
		channels, many, width := x.Dim(1), windows(x.Dim(0), window, stride), 1+t.n/2
		out, err := c.Alloc(0, tf.Float32, tf.Shape{channels, many, width})
		if err != nil {
			return err
		}
		y, samples := core.Data[float32](out), core.Data[float32](x)
		c.ParallelFor(channels*many, max(grain/t.n, 1), func(lo, hi int) {
			z, scratch := core.Make[complex128](t.n), core.Make[complex128](t.room())
			for i := lo; i < hi; i++ {
				channel, first := i/many, i%many*stride
				for k := range z {
					z[k] = 0
					if k < window {
						z[k] = complex(float64(samples[(first+k)*channels+channel])*hann[k], 0)
					}
				}
				t.apply(z, scratch)
				magnitudes(y[i*width:(i+1)*width], z, squared)
			}
		})
		return nil
	}), nil
}

func magnitudes(y []float32, z []complex128, squared bool) {
	for k := range y {
		y[k] = float32(real(z[k])*real(z[k]) + imag(z[k])*imag(z[k]))
		if !squared {
			y[k] = float32(math.Sqrt(float64(y[k])))
		}
	}
}
