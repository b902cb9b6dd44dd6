package signal_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
)

// TestNumbersBeyondInt32 are refused, as in TensorFlow 2.21.
func TestNumbersBeyondInt32(t *testing.T) {
	const most = 1 << 40
	g := eager.New()
	x := ops.Const(g, make([]float32, 8), 8, 1)
	file := signal.EncodeWav(x, ops.Scalar[int32](g, 8000))
	decoded := func(o signal.DecodeWavOpts) tf.Output { y, _ := signal.DecodeWav(file, o); return y }
	for name, y := range map[string]tf.Output{
		"stride":           signal.AudioSpectrogram(x, 4, most),
		"window_size":      signal.AudioSpectrogram(x, most, 1),
		"desired_samples":  decoded(signal.DecodeWavOpts{Samples: most}),
		"desired_channels": decoded(signal.DecodeWavOpts{Channels: most}),
	} {
		_, err := y.Value()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "out of range for an int32") {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}
