package signal_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
	"github.com/gorge-tf/gorge/tf/optest"
)

// header is a WAV file of two channels up to its parts.
const header = "RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x40\x1f\x00\x00\x00\x7d\x00\x00\x04\x00\x10\x00"

func init() {
	const full = header + "data\x0b\x00\x00\x00\x00\x40\x00\xc0\xff\x7f\x00\x80\x01\x00\x02" // and bytes that make no frame
	add := func(op, name string, fails bool, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		addSamples(sample{Op: op, Name: name, In: in, F: f, Fails: fails, Types: optest.OnlyOwn, Tol: 1e-4})
	}
	decode := applied("DecodeWav")
	file := func(s string) *core.Tensor { return core.Scalar(s) }
	whole := full[:len(full)-3]
	whole = whole[:len(header)+4] + "\x08" + whole[len(header)+5:]
	add("DecodeWav", "", false, decode, file(whole))
	add("DecodeWav", "more", false, applied("DecodeWav", signal.DecodeWavOpts{Channels: 3, Samples: 4}), file(whole))
	add("DecodeWav", "less", false, applied("DecodeWav", signal.DecodeWavOpts{Channels: 1, Samples: 1}), file(whole))
	add("DecodeWav", "other parts", false, decode, file(header+"LIST\x02\x00\x00\x00ab"+whole[len(header):]))
	add("DecodeWav", "junk", false, decode, file("RIFF\x00\x00\x00\x00WAVEJUNK\x03\x00\x00\x00abc"+whole[12:]))
	for name, text := range map[string]string{
		"empty": "", "no riff": "RIFX", "short": whole[:len(whole)-1], "no data": header, "twice": whole + whole[len(header):], "unknown": "RIFF\x00\x00\x00\x00WAVEabcd",
		"format": header[:16] + "\x11" + header[17:], "code": header[:20] + "\x03" + header[21:], "channels": header[:22] + "\x00" + header[23:],
		"rate": header[:28] + "\x01" + header[29:], "frame": header[:32] + "\x05" + header[33:], "bits": header[:34] + "\x08" + header[35:],
		"large": header + "data\x00\x00\x00\x80", "rest": full,
	} {
		add("DecodeWav", "bad "+name, true, decode, file(text))
	}
	encode := applied("EncodeWav")
	rate := core.Scalar[int32](8000)
	add("EncodeWav", "", false, encode, optest.Within(-1.2, 1.2, 7, 2), rate)
	add("EncodeWav", "nothing", false, encode, seq(0, 2), rate)
	add("EncodeWav", "bad rate", true, encode, seq(2, 2), core.Scalar[int32](-1))
	add("EncodeWav", "bad channels", true, encode, seq(2, 0), rate)
	add("EncodeWav", "bad vector", true, encode, seq(2), rate)
	add("EncodeWav", "bad rates", true, encode, seq(2, 2), i32(1))
	spectrogram := func(window, stride int, squared bool) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{signal.AudioSpectrogram(in[0], window, stride, signal.AudioSpectrogramOpts{MagnitudeSquared: squared})}
		}
	}
	add("AudioSpectrogram", "", false, spectrogram(8, 3, false), seq(30, 2))
	add("AudioSpectrogram", "squared", false, spectrogram(11, 4, true), seq(40, 1))
	add("AudioSpectrogram", "short", false, spectrogram(8, 3, true), seq(7, 2))
	add("AudioSpectrogram", "bad rank", true, spectrogram(8, 3, true), seq(7))
	add("Mfcc", "", false, applied("Mfcc"), optest.Positive(2, 3, 129), core.Scalar[int32](16000))
	add("Mfcc", "few", false, applied("Mfcc", signal.MfccOpts{Lower: 100, Upper: 3000, Bands: 10, Coefficients: 5}), optest.Positive(1, 2, 65), rate)
	add("Mfcc", "too low", false, applied("Mfcc"), optest.Positive(1, 2, 65), core.Scalar[int32](4000))
	add("Mfcc", "bad rate", true, applied("Mfcc"), optest.Positive(1, 2, 65), core.Scalar[int32](0))
	add("Mfcc", "bad bands", true, applied("Mfcc", signal.MfccOpts{Bands: 4}), optest.Positive(1, 2, 65), rate)
	add("Mfcc", "bad limits", true, applied("Mfcc", signal.MfccOpts{Lower: 500, Upper: 400}), optest.Positive(1, 2, 65), rate)
	add("Mfcc", "bad rank", true, applied("Mfcc"), optest.Positive(2, 65), rate)
	add("Mfcc", "bad rates", true, applied("Mfcc"), optest.Positive(1, 2, 65), i32(8000))
}

// TestWavThereAndBack: what is written is read again, but for the rounding.
func TestWavThereAndBack(t *testing.T) {
	g := eager.New()
	x := optest.Within(-1, 1, 50, 3)
	audio, rate := signal.DecodeWav(signal.EncodeWav(ops.ConstValue(g, x), ops.Scalar[int32](g, 44100)))
	y, err := audio.Value()
	if err != nil {
		t.Fatal(err)
	}
	r, err := rate.Value()
	if err != nil || tf.Data[int32](r)[0] != 44100 || !y.Shape().Equal(x.Shape()) {
		t.Fatalf("%v at %v (%v)", y, r, err)
	}
	for i, v := range tf.Data[float32](y) {
		if d := math.Abs(float64(v - core.Data[float32](x)[i])); d > 1./(1<<16)+1e-7 {
			t.Errorf("sample %d: %v became %v", i, core.Data[float32](x)[i], v)
		}
	}
}

// FuzzDecodeWav: no file makes the op fail in another way than by an error.
func FuzzDecodeWav(f *testing.F) {
	f.Add(header + "data\x04\x00\x00\x00abcd")
	f.Add("RIFF\x00\x00\x00\x00WAVEJUNK\xff\xff\xff\xff")
	g := eager.New()
	f.Fuzz(func(t *testing.T, data string) {
		audio, _ := signal.DecodeWav(ops.Scalar(g, data), signal.DecodeWavOpts{Samples: 3})
		if v, err := audio.Value(); err == nil && v.Dim(0) != 3 || err != nil && tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%v, %v", v, err)
		}
	})
}
