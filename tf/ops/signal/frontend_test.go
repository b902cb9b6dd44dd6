package signal_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

// speech is a vector of samples: tones that come and go, and noise.
func speech(n int, loud float64) *core.Tensor {
	t := core.NewTensor(tf.Int16, tf.Shape{n})
	noise := uint32(1)
	for i := range n {
		noise = noise*1664525 + 1013904223
		at := float64(i) / 16000
		v := math.Sin(2*math.Pi*440*at)*math.Sin(40*at) + 0.3*math.Sin(2*math.Pi*3100*at) + 0.1*(float64(noise>>16)/32768-1)
		core.Data[int16](t)[i] = int16(loud * v)
	}
	return t
}

func init() {
	add := func(name string, audio *core.Tensor, opts ...tf.Option) {
		addSamples(sample{Op: "AudioMicrofrontend", Name: name, In: tensors{audio}, F: applied("AudioMicrofrontend", opts...), Types: optest.OnlyOwn})
	}
	long := speech(1600, 20000)
	float := tf.Attr("out_type", tf.Float32)
	pcan := tf.Attr("enable_pcan", true)
	add("", long)
	add("quiet", speech(800, 30))
	add("silent", core.NewTensor(tf.Int16, tf.Shape{800}))
	add("loud", speech(800, 23000), tf.Attr("enable_log", false))
	add("short", speech(100, 1000))
	add("float", long, float, tf.Attr("out_scale", 64))
	add("scaled", long, tf.Attr("out_scale", 3))
	add("gain", long, pcan)
	add("gain float", speech(2000, 4000), pcan, float, tf.Attr("pcan_strength", float32(0.7)), tf.Attr("pcan_offset", float32(20)))
	add("context", long, tf.Attr("left_context", 2), tf.Attr("right_context", 1), tf.Attr("frame_stride", 2))
	add("zeros", long, tf.Attr("left_context", 1), tf.Attr("right_context", 2), tf.Attr("zero_padding", true), float)
	add("channels", long, tf.Attr("num_channels", 8), tf.Attr("upper_band_limit", float32(3000)), tf.Attr("lower_band_limit", float32(60)), tf.Attr("scale_shift", 8))
	add("rate", long, tf.Attr("sample_rate", 8000), tf.Attr("window_size", 32), tf.Attr("window_step", 16), tf.Attr("upper_band_limit", float32(3600)))
	add("smoothing", long, tf.Attr("smoothing_bits", 8), tf.Attr("even_smoothing", float32(0.1)), tf.Attr("odd_smoothing", float32(0.2)), tf.Attr("min_signal_remaining", float32(0.3)))
	addSamples(failing("AudioMicrofrontend", "band", applied("AudioMicrofrontend", tf.Attr("upper_band_limit", float32(9000))), long))
}

// TestFrontendAttributes: what would never end or divide by zero is refused.
func TestFrontendAttributes(t *testing.T) {
	for _, o := range []tf.Option{
		tf.Attr("window_step", 0), tf.Attr("window_step", 30), tf.Attr("frame_stride", 0), tf.Attr("out_scale", 0), tf.Attr("num_channels", -1), tf.Attr("sample_rate", 0),
		tf.Attr("lower_band_limit", float32(math.NaN())), tf.Attr("window_size", 1<<30), tf.Attr("smoothing_bits", 99),
	} {
		g := tf.NewGraph()
		x := tf.Apply(g, "Const", nil, tf.Attr("value", speech(800, 9)), tf.Attr("dtype", tf.Int16)).Output(0)
		op := tf.Apply(g, "AudioMicrofrontend", []tf.Output{x}, o)
		find, err := core.FindKernel("CPU", &op.Node)
		if err == nil {
			_, err = find(&op.Node)
		}
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%v: %v", o, err)
		}
	}
}
