package signal_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/signal"
)

// TestWindowsOfNoFloats: weights below 1 would all be 0 as integers.
func TestWindowsOfNoFloats(t *testing.T) {
	for name, w := range map[string]signal.Window{
		"Hann": signal.HannWindow(true), "Hamming": signal.HammingWindow(false), "Vorbis": signal.VorbisWindow,
		"Kaiser": signal.KaiserWindow(12), "Kaiser-Bessel": signal.KaiserBesselDerivedWindow(4),
	} {
		for _, length := range []int{0, 4} {
			if err := w(tf.NewGraph(), length, tf.Int32).Err(); tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%s window of %d integers: got %v, want INVALID_ARGUMENT", name, length, err)
			}
		}
		if err := w(tf.NewGraph(), -2, tf.Float32).Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s window of -2 numbers: got %v, want INVALID_ARGUMENT", name, err)
		}
		if err := w(nil, 4, tf.Float32).Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s window of no graph: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}
