package serving

import (
	"encoding/json"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// TestContextOfManyExamples: what examples share is copied for each of them. A request that
// is small as a message is refused if the copies do not fit the memory.
func TestContextOfManyExamples(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	shared := &pb.Example{Features: &pb.Features{Feature: map[string]*pb.Feature{"pad": {Kind: &pb.Feature_BytesList{BytesList: &pb.BytesList{Value: [][]byte{make([]byte, 1<<20)}}}}}}}
	in := examples(make([]float32, 256)...).GetExampleList().GetExamples()
	used, _ := tf.MemoryUsage()
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(used + 64<<20))
	_, err := s.Regress(t.Context(), &servingpb.RegressionRequest{
		ModelSpec: spec("m", "regress"), Input: &servingpb.Input{Kind: &servingpb.Input_ExampleListWithContext{ExampleListWithContext: &servingpb.ExampleListWithContext{Examples: in, Context: shared}}},
	})
	if tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

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
