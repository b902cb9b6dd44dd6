package summary

import (
	"encoding/binary"
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	register("AudioSummary", "tag: string; tensor: float", "sample_rate: float; max_outputs: int >= 1 = 3", core.AnyType(audioSummary))
	register("AudioSummaryV2", "tag: string; tensor: float; sample_rate: float", "max_outputs: int >= 1 = 3", core.AnyType(audioSummaryV2))
}

// AudioOpts are the optional attributes of AudioSummary and AudioSummaryV2.
type AudioOpts struct{ MaxOutputs int } // 0: 3

// Apply sets the attributes.
func (o AudioOpts) Apply(s *tf.Spec) {
	if o.MaxOutputs != 0 {
		s.Set("max_outputs", o.MaxOutputs)
	}
}

// AudioSummary is [AudioSummaryV2] for a rate that is known when the graph is
// built. Errors are those of AudioSummaryV2. Its options are [AudioOpts].
func AudioSummary(tag, tensor tf.Output, rate float32, opts ...tf.Option) tf.Output {
	return summaryOf("AudioSummary", []tf.Output{tag, tensor}, tf.Join(opts, tf.Attr("sample_rate", rate)))
}

// AudioSummaryV2 returns a summary of the first sounds of a batch [n, frames]
// or [n, frames, channels] of numbers from -1 to 1. The tag and the rate, in
// frames a second, are scalars. The sounds are float32, cut off at -1 and 1,
// and NaN is silence. The result is a scalar string, a serialized Summary with
// files in WAV of 16 bits. Another shape, a rate that is not positive and a
// tag that is no scalar are refused with INVALID_ARGUMENT in the step.
// Its options are [AudioOpts].
func AudioSummaryV2(tag, tensor, rate tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("AudioSummaryV2", []tf.Output{tag, tensor, rate}, opts)
}

func audioSummary(n *core.Node) (core.Kernel, error) {
	limit, rate := n.Int("max_outputs"), n.Float("sample_rate")
	return core.Compute(func(c *core.OpContext) error { return summarizeAudio(c, float32(rate), limit) }), nil
}

func audioSummaryV2(n *core.Node) (core.Kernel, error) {
	limit := n.Int("max_outputs")
	return core.Compute(func(c *core.OpContext) error {
		rate := c.Input(2)
		if rate.Len() != 1 {
			return tf.Errorf(tf.InvalidArgument, "sample_rate must be rank-0 or contain a single value")
		}
		return summarizeAudio(c, core.Data[float32](rate)[0], limit)
	}), nil
}

func summarizeAudio(c *core.OpContext, rate float32, limit int) error {
	tag, err := scalarText(c, 0, "Tag must be a scalar")
	if err != nil {
		return err
	}
	values, err := sounds(tag, c.Input(1), limit, rate)
	if err != nil {
		return err
	}
	return set(c, values...)
}

// sounds returns the values of a summary of the first sounds of a batch.
func sounds(tag string, t *core.Tensor, limit int, rate float32) ([]*pb.Summary_Value, error) {
	s := t.Shape()
	if len(s) < 2 || len(s) > 3 {
		return nil, tf.Errorf(tf.InvalidArgument, "Tensor must be 3-D or 2-D, got: %s", s.String())
	}
	if !(rate > 0) {
		return nil, tf.Errorf(tf.InvalidArgument, "sample_rate must be > 0")
	}
	channels := 1
	if len(s) == 3 {
		channels = s[2]
	}
	var out []*pb.Summary_Value
	for i := range min(limit, s[0]) {
		n := s[1] * channels
		file, err := wav(core.Data[float32](t)[i*n:(i+1)*n], rate, s[1], channels)
		if err != nil {
			return nil, err
		}
		out = append(out, &pb.Summary_Value{Tag: numbered(tag, "audio", i, limit), Value: &pb.Summary_Value_Audio{Audio: &pb.Summary_Audio{
			SampleRate: rate, NumChannels: int64(channels), LengthFrames: int64(s[1]), EncodedAudioString: file, ContentType: "audio/wav",
		}}})
	}
	return out, nil
}

const (
	wavHeader  = 44
	sampleSize = 2
)

// wav returns the file of a sound, with samples of 16 bits.
func wav(data []float32, rate float32, frames, channels int) ([]byte, error) {
	hertz := max(1, math.RoundToEven(float64(rate)))
	size := wavHeader + len(data)*sampleSize
	switch {
	case len(data) == 0 && frames > 0:
		return nil, tf.Errorf(tf.InvalidArgument, "audio is null")
	case hertz > math.MaxUint32:
		return nil, tf.Errorf(tf.InvalidArgument, "sample_rate must be in (0, 2^32), got: %.0f", hertz)
	case channels == 0 || channels > math.MaxUint16:
		return nil, tf.Errorf(tf.InvalidArgument, "num_channels must be in (0, 2^16), got: %d", channels)
	case size > math.MaxUint32:
		return nil, tf.Errorf(tf.InvalidArgument, "Provided channels and frames cannot be encoded as a WAV.")
	}
	const pcm, bits, chunk = 1, 8 * sampleSize, 16
	b := core.Make[byte](size)[:0]
	le := binary.LittleEndian
	b = append(le.AppendUint32(append(b, "RIFF"...), uint32(size-8)), "WAVEfmt "...)
	b = le.AppendUint32(b, chunk)
	b = le.AppendUint16(le.AppendUint16(b, pcm), uint16(channels))
	b = le.AppendUint32(le.AppendUint32(b, uint32(hertz)), uint32(int(hertz)*channels*sampleSize))
	b = le.AppendUint16(le.AppendUint16(b, uint16(channels*sampleSize)), bits)
	b = le.AppendUint32(append(b, "data"...), uint32(size-wavHeader))
	for _, v := range data {
		b = le.AppendUint16(b, uint16(sample(v)))
	}
	return b, nil
}

// sample returns a number from -1 to 1 as an integer. What is none is silence.
func sample(v float32) int16 {
	v *= 1 << 15
	if v != v {
		return 0
	}
	return int16(min(max(math.Round(float64(v)), math.MinInt16), math.MaxInt16))
}
