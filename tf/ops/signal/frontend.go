package signal

import (
	"math/bits"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "AudioMicrofrontend", In: "audio: int16", Out: "filterbanks: out_type",
		Attrs: "sample_rate: int = 16000; window_size: int = 25; window_step: int = 10; num_channels: int = 32; upper_band_limit: float = 7500.0; lower_band_limit: float = 125.0; " +
			"smoothing_bits: int = 10; even_smoothing: float = 0.025; odd_smoothing: float = 0.06; min_signal_remaining: float = 0.05; " +
			"enable_pcan: bool = false; pcan_strength: float = 0.95; pcan_offset: float = 80.0; gain_bits: int = 21; enable_log: bool = true; scale_shift: int = 6; " +
			"left_context: int = 0; right_context: int = 0; frame_stride: int = 1; zero_padding: bool = false; out_scale: int = 1; out_type: {uint16, float} = uint16",
		Shape: frontendShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("out_type", map[tf.DType]core.NewKernel{tf.Uint16: microfrontend[uint16], tf.Float32: microfrontend[float32]}),
	})
}

// AudioMicrofrontend returns features of speech, computed as on small devices
// in fixed point: for each window of audio, an int16 vector, what is in
// channels on the mel scale, less the noise. The attributes are TensorFlow's.
// Its gain control, if asked for, is that of Wang et al. (ICASSP 2017,
// arXiv:1607.05666). The result is [frames
// channels*(1+left_context+right_context)] of uint16 or, if out_type says so,
// float32. A rank that is not 1 is refused with INVALID_ARGUMENT, when the
// graph is built if it is known, else in the step; attributes out of range
// fail with it in the step, and channels wider than the spectrum with
// INTERNAL.
func AudioMicrofrontend(audio tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "AudioMicrofrontend", []tf.Output{audio}, opts...).Output(0)
}

// A frontend holds what a node's attributes say.
type frontend struct {
	window, step, channels int // the first two in samples
	left, right, stride    int
	zeros, gained, logged  bool
	scale, shift, gainBits int
	smoothing              int
	even, odd, remaining   float32
	strength, offset       float32
	correction             int
	fft                    *fixedFFT
	coefficients           []int16
	bank                   *filterbank
}

// mostWindow bounds the samples of a window.
const mostWindow = 1 << 20

func newFrontend(n *core.Node) (*frontend, error) {
	rate := n.Int("sample_rate")
	f := &frontend{
		channels: n.Int("num_channels"), left: n.Int("left_context"), right: n.Int("right_context"), stride: n.Int("frame_stride"),
		zeros: n.Bool("zero_padding"), gained: n.Bool("enable_pcan"), logged: n.Bool("enable_log"),
		scale: n.Int("out_scale"), shift: n.Int("scale_shift"), gainBits: n.Int("gain_bits"), smoothing: n.Int("smoothing_bits"),
		even: n.Float("even_smoothing"), odd: n.Float("odd_smoothing"), remaining: n.Float("min_signal_remaining"),
		strength: n.Float("pcan_strength"), offset: n.Float("pcan_offset"),
	}
	for what, v := range map[string][3]int{
		"sample_rate": {rate, 1, 1 << 20}, "window_size": {n.Int("window_size"), 1, 1 << 20}, "window_step": {n.Int("window_step"), 1, 1 << 20},
		"num_channels": {f.channels, 1, 1 << 12}, "left_context": {f.left, 0, 1 << 12}, "right_context": {f.right, 0, 1 << 12}, "frame_stride": {f.stride, 1, 1 << 30},
		"out_scale": {f.scale, 1, 1<<16 - 1}, "scale_shift": {f.shift, 0, 31}, "gain_bits": {f.gainBits, 0, 31}, "smoothing_bits": {f.smoothing, 0, 31},
	} {
		if v[0] < v[1] || v[0] > v[2] {
			return nil, tf.Errorf(tf.InvalidArgument, "%s must be from %d to %d, got %d", what, v[1], v[2], v[0])
		}
	}
	f.window, f.step = n.Int("window_size")*rate/1000, n.Int("window_step")*rate/1000
	if f.window < 2 || f.window > mostWindow || f.step < 1 || f.step > f.window {
		return nil, tf.Errorf(tf.InvalidArgument, "a window must have 2 to %d samples and begin at most so many after the one before, got %d and %d", mostWindow, f.window, f.step)
	}
	return f, f.prepare(n, rate)
}

// prepare computes the tables.
func (f *frontend) prepare(n *core.Node, rate int) error {
	size := 1 << bits.Len(uint(f.window-1))
	f.correction = bits.Len(uint(size)) - 1 - filterBits/2
	if shift := f.gainBits - f.correction - snrBits; f.gained && (shift < 0 || f.smoothing < f.correction) {
		return tf.Errorf(tf.InvalidArgument, "gain_bits must be at least %d and smoothing_bits %d, got %d and %d", f.correction+snrBits, f.correction, f.gainBits, f.smoothing)
	}
	lower, upper := n.Float("lower_band_limit"), n.Float("upper_band_limit")
	if !(lower >= 0 && upper > lower) {
		return tf.Errorf(tf.InvalidArgument, "band limits must ascend from 0 on, got %v and %v", lower, upper)
	}
	if f.bank = newFilterbank(f.channels, lower, upper, rate, size/2+1); f.bank == nil {
		return tf.Errorf(tf.Internal, "failed to populate frontend state")
	}
	f.fft, f.coefficients = newFixedFFT(size), raisedCosine(f.window)
	return nil
}

func frontendShape(c *core.Infer) error {
	in, err := c.Rank(0, 1)
	if err != nil {
		return err
	}
	f, err := newFrontend(c.Node)
	if err != nil { // the kernel tells
		c.Set(0, tf.Shape{-1, -1})
		return nil
	}
	frames := -1
	if in[0] >= 0 {
		_, frames = f.frames(in[0])
	}
	c.Set(0, tf.Shape{frames, f.channels * (1 + f.left + f.right)})
	return nil
}

// frames returns how many windows so many samples have, and how many of those
// come out.
func (f *frontend) frames(samples int) (all, out int) {
	if samples < f.window {
		return 0, 0
	}
	all = (samples-f.window)/f.step + 1
	return all, (all-1)/f.stride + 1
}

func microfrontend[T uint16 | float32](n *core.Node) (core.Kernel, error) {
	f, err := newFrontend(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		audio := c.Input(0)
		if audio.Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "audio is not a vector")
		}
		all, out := f.frames(audio.Len())
		t, err := c.Alloc(0, tf.TypeOf[T](), tf.Shape{out, f.channels * (1 + f.left + f.right)})
		if err != nil {
			return err
		}
		stack(f, core.Data[T](t), f.features(core.Data[int16](audio), all))
		return nil
	}), nil
}

// stack puts every stride-th frame, with those around it, into y.
func stack[T uint16 | float32](f *frontend, y []T, frames [][]uint16) {
	for at := 0; at < len(frames); at += f.stride {
		for k := at - f.left; k <= at+f.right; k++ {
			outside := k < 0 || k >= len(frames)
			frame := frames[min(max(k, 0), len(frames)-1)]
			for i, v := range frame {
				y[i] = T(v) / T(f.scale)
				if outside && f.zeros {
					y[i] = 0
				}
			}
			y = y[len(frame):]
		}
	}
}

// features computes the channels of windows one after the other: the noise is
// learned on the way.
func (f *frontend) features(audio []int16, count int) [][]uint16 {
	fixed := func(v float32) uint32 { return uint32(uint16(int32(v * (1 << noiseBits)))) }
	noise := &noiseReduction{bits: f.smoothing, smoothing: [2]uint32{fixed(f.even), fixed(f.odd)}, remaining: fixed(f.remaining), estimate: core.Make[uint32](f.channels)}
	var gain *gainControl
	if f.gained {
		gain = newGainControl(f.strength, f.offset, f.gainBits, f.smoothing, f.correction)
	}
	frames := core.Make[[]uint16](count)
	for k := range frames {
		signal := f.spectrum(audio[k*f.step : k*f.step+f.window])
		noise.apply(signal)
		if gain != nil {
			gain.apply(signal, noise.estimate)
		}
		frames[k] = f.scaled(signal)
	}
	return frames
}

// spectrum returns what is in the channels, of a window that is as loud as
// 16 bits allow.
func (f *frontend) spectrum(audio []int16) []uint32 {
	windowed, loudest := core.Make[int16](2*f.fft.half), int16(0)
	for i, v := range audio {
		windowed[i] = int16(int32(v) * int32(f.coefficients[i]) >> windowBits)
		loudest = max(loudest, windowed[i], -windowed[i])
	}
	shift := 15 - bits.Len16(uint16(loudest))
	for i := range audio {
		windowed[i] <<= shift
	}
	return f.bank.apply(f.fft.transform(windowed), shift)
}

func (f *frontend) scaled(signal []uint32) []uint16 {
	out := core.Make[uint16](len(signal))
	for i, v := range signal {
		if f.logged {
			v = v << max(f.correction, 0) >> max(-f.correction, 0)
			if v > 1 {
				v = logarithm(v, f.shift)
			} else {
				v = 0
			}
		}
		out[i] = uint16(min(v, 1<<16-1))
	}
	return out
}
