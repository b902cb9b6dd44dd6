package signal

import (
	"encoding/binary"
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "DecodeWav", In: "contents: string", Out: "audio: float; sample_rate: int32", Attrs: "desired_channels: int = -1; desired_samples: int = -1",
		Shape: decodeWavShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(decodeWav),
	})
	core.Register(core.OpDef{
		Name: "EncodeWav", In: "audio: float; sample_rate: int32", Out: "contents: string",
		Shape: encodeWavShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) { return core.Compute(encodeWav), nil }),
	})
}

// DecodeWavOpts are the optional attributes of DecodeWav: how many channels and
// samples the result has, those of the file if they are 0.
type DecodeWavOpts struct{ Channels, Samples int }

// Apply sets the attributes.
func (o DecodeWavOpts) Apply(s *tf.Spec) {
	if o.Channels != 0 {
		s.Set("desired_channels", o.Channels)
	}
	if o.Samples != 0 {
		s.Set("desired_samples", o.Samples)
	}
}

// DecodeWav returns the samples of a WAV file of 16 bits, given by its
// contents, as numbers from -1 to 1 with a column for each channel, and how
// many there are in a second. The format is RIFF WAVE (IBM and Microsoft,
// 1991). contents is a string scalar, audio float32 [samples channels],
// sampleRate an int32 scalar. Samples that the file lacks are 0, channels
// that it lacks are its last one. Another rank is refused with
// INVALID_ARGUMENT, when the graph is built if it is known, else in the step;
// what is no PCM file of 16 bits fails with it in the step.
// Its options are [DecodeWavOpts].
func DecodeWav(contents tf.Output, opts ...tf.Option) (audio, sampleRate tf.Output) {
	op := tf.Apply(nil, "DecodeWav", []tf.Output{contents}, opts...)
	return op.Output(0), op.Output(1)
}

// EncodeWav returns the contents of a WAV file of 16 bits with the samples of
// audio, a float32 matrix with a column for each channel. The format is RIFF
// WAVE (IBM and Microsoft, 1991). sampleRate is an int32 scalar, the result a
// string scalar. Numbers beyond -1 and 1 are cut off, NaN is 0. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. A rate that is not positive, channels that are 0 or
// more than 65535, and a file that would be larger than 4 GiB fail with
// INVALID_ARGUMENT in the step.
func EncodeWav(audio, sampleRate tf.Output, opts ...tf.Option) tf.Output {
	return apply("EncodeWav", opts, audio, sampleRate)
}

func decodeWavShape(c *core.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	channels, samples := c.Int("desired_channels"), c.Int("desired_samples")
	switch {
	case channels < -1:
		return tf.Errorf(tf.InvalidArgument, "channels must be non-negative, got %d", channels)
	case samples < -1:
		return tf.Errorf(tf.InvalidArgument, "samples must be non-negative, got %d", samples)
	}
	c.Set(0, tf.Shape{samples, channels})
	c.Set(1, tf.Shape{})
	return nil
}

func encodeWavShape(c *core.Infer) error {
	if _, err := c.Rank(0, 2); err != nil {
		return err
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	c.Set(0, tf.Shape{})
	return nil
}

const (
	wavHeader  = 44
	fullScale  = 1 << 15
	sampleSize = 2
)

func encodeWav(c *core.OpContext) error {
	x, r := c.Input(0), c.Input(1)
	switch {
	case x.Rank() != 2:
		return tf.Errorf(tf.InvalidArgument, "audio must be 2-dimensional%s", x.Shape().String())
	case r.Rank() != 0:
		return tf.Errorf(tf.InvalidArgument, "Input sample_rate should be a scalar tensor, got %s instead.", r.Shape().String())
	case x.Len() >= math.MaxInt32:
		return tf.Errorf(tf.InvalidArgument, "Cannot encode audio with >= max int32 elements")
	}
	channels, rate := x.Dim(1), core.Data[int32](r)[0]
	switch {
	case x.Len() == 0 && x.Dim(0) > 0:
		return tf.Errorf(tf.InvalidArgument, "audio is null")
	case rate <= 0:
		return tf.Errorf(tf.InvalidArgument, "sample_rate must be in (0, 2^32), got: %d", uint64(int64(rate)))
	case channels == 0 || channels > math.MaxUint16:
		return tf.Errorf(tf.InvalidArgument, "num_channels must be in (0, 2^16), got: %d", channels)
	}
	if err := checkWavSize(x.Len()); err != nil {
		return err
	}
	size, le := sampleSize*x.Len(), binary.LittleEndian
	b := core.Make[byte](wavHeader + size)[:0]
	b = le.AppendUint32(append(b, "RIFF"...), uint32(wavHeader+size-8))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), uint16(channels))
	b = le.AppendUint32(le.AppendUint32(b, uint32(rate)), uint32(int(rate)*sampleSize*channels))
	b = le.AppendUint16(le.AppendUint16(b, uint16(sampleSize*channels)), 8*sampleSize)
	b = le.AppendUint32(append(b, "data"...), uint32(size))
	for _, v := range core.Data[float32](x) {
		b = le.AppendUint16(b, uint16(wavSample(v)))
	}
	c.Set(0, core.Scalar(string(b)))
	return nil
}

// checkWavSize refuses more samples than a file, whose size has 32 bits, can say that it has.
func checkWavSize(samples int) error {
	if wavHeader+sampleSize*samples > math.MaxUint32 {
		return tf.Errorf(tf.InvalidArgument, "Provided channels and frames cannot be encoded as a WAV.")
	}
	return nil
}

// wavSample rounds a number from -1 to 1.
func wavSample(v float32) int16 {
	if v != v {
		return 0
	}
	return int16(min(max(math.Round(float64(v*fullScale)), math.MinInt16), math.MaxInt16))
}

func decodeWav(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("desired_channels", "desired_samples"); err != nil {
		return nil, err
	}
	channels, samples := n.Int("desired_channels"), n.Int("desired_samples")
	return core.Compute(func(c *core.OpContext) error {
		t := c.Input(0)
		if t.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "contents must be scalar, got shape %s", t.Shape().String())
		}
		w, err := readWav(core.Data[string](t)[0])
		if err != nil {
			return err
		}
		s := tf.Shape{samples, channels}
		if samples == -1 {
			s[0] = len(w.samples) / sampleSize / w.channels
		}
		if channels == -1 {
			s[1] = w.channels
		}
		out, err := c.Alloc(0, tf.Float32, s)
		if err != nil {
			return err
		}
		c.Set(1, core.Scalar(int32(w.rate)))
		y := core.Data[float32](out)
		for i := range y {
			y[i] = w.at(i/s[1], i%s[1])
		}
		return nil
	}), nil
}

// at returns sample i of a channel. Channels that are not there are like the
// last, samples that are not there zero.
func (w *wav) at(i, channel int) float32 {
	k := (i*w.channels + min(channel, w.channels-1)) * sampleSize
	if k+sampleSize > len(w.samples) {
		return 0
	}
	v := int16(uint16(w.samples[k]) | uint16(w.samples[k+1])<<8)
	return float32(v) / fullScale
}
