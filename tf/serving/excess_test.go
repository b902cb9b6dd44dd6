package serving

import (
	"encoding/json"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestExampleIsShort: the example of a request has a bounded length, however many
// dimensions the input has.
func TestExampleIsShort(t *testing.T) {
	for _, shape := range []tf.Shape{{64, 64, 64, 16}, {-1, 224, 224, 3}, {2, 3}, nil} {
		text, err := json.Marshal(sample(tf.Float32, shape, maxSamples))
		if err != nil || len(text) > 1<<20 {
			t.Errorf("%v: %d bytes, %v", shape, len(text), err)
		}
	}
	if text, _ := json.Marshal(sample(tf.Float32, tf.Shape{2, -1, 3}, maxSamples)); string(text) != "[[[0.0,0.0,0.0]],[[0.0,0.0,0.0]]]" {
		t.Errorf("of a small input: %s", text)
	}
}
