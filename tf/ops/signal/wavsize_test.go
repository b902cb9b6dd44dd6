package signal

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestWavSize: the size of a file, with its header, has 32 bits.
func TestWavSize(t *testing.T) {
	const most = (math.MaxUint32 - wavHeader) / sampleSize
	if err := checkWavSize(most); err != nil {
		t.Error(err)
	}
	for _, n := range []int{most + 1, math.MaxInt32 - 1} {
		if err := checkWavSize(n); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%d samples: %v", n, err)
		}
	}
}
