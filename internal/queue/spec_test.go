package queue

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

var (
	float  = []core.DType{core.Float32}
	scalar = []core.Shape{{}}
)

// TestSpecs has TensorFlow's words for queues that cannot be.
func TestSpecs(t *testing.T) {
	for want, s := range map[string]Spec{
		"min_after_dequeue -5 must be >= 0":                                               {Kind: RandomShuffle, Capacity: 10, MinAfterDequeue: -5, Types: float},
		"min_after_dequeue 10 must be < capacity 10":                                      {Kind: RandomShuffle, Capacity: 10, MinAfterDequeue: 10, Types: float},
		"Shapes must be provided for all components, but received 1 dtypes and 0 shapes.": {Kind: PaddingFIFO, Types: float},
		"Different number of component types.  Types: float, float, Shapes: [[]]":         {Kind: FIFO, Types: []core.DType{core.Float32, core.Float32}, Shapes: scalar},
		"PriorityQueue priority index component must be type int64, but dtype is: float":  {Kind: Priority, Types: float},
		"PriorityQueue priority index component must be a scalar, but shape is: [2]":      {Kind: Priority, Types: []core.DType{core.Int64}, Shapes: []core.Shape{{2}}},
		"a queue must have components, got none":                                          {Kind: FIFO},
		"the shapes of a FIFOQueue's components must be fully known, got [[?]]":           {Kind: FIFO, Types: float, Shapes: []core.Shape{{-1}}},
		"the ranks of a PaddingFIFOQueue's components must be known, got [<unknown>]":     {Kind: PaddingFIFO, Types: float, Shapes: []core.Shape{nil}},
	} {
		if _, err := New(s); core.CodeOf(err) != core.InvalidArgument || core.AsError(err).Message() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// TestMatches has TensorFlow's words for nodes that share a queue and do not
// agree about it.
func TestMatches(t *testing.T) {
	base := Spec{Kind: FIFO, Op: "FIFOQueueV2", Name: "q", Capacity: 10, Types: float, Shapes: []core.Shape{{1, 1, 2}}}
	mixed := Spec{Kind: RandomShuffle, Op: "RandomShuffleQueueV2", Name: "q", Capacity: 10, MinAfterDequeue: 5, Seed: 8, Seed2: 3, Types: float}
	padded := Spec{Kind: PaddingFIFO, Name: "q", Capacity: 10, Types: float, Shapes: []core.Shape{{-1, 2}}}
	for want, tc := range map[string]struct {
		have   Spec
		change func(*Spec)
	}{
		"Shared queue 'q' has capacity 10 but requested capacity was 2147483647":                      {base, func(s *Spec) { s.Capacity = -1 }},
		"Shared queue 'q' has component types float but requested component types were float, int32":  {base, func(s *Spec) { s.Types = []core.DType{core.Float32, core.Int32} }},
		"Shared queue 'q' has component shapes [[1,1,2]] but requested component shapes were [[1,3]]": {base, func(s *Spec) { s.Shapes = []core.Shape{{1, 3}} }},
		"Expected FIFOQueue, found RandomShuffleQueueV2":                                              {base, func(s *Spec) { *s = mixed }},
		"Shared queue 'q' has min_after_dequeue 5 but requested min_after_dequeue was 4.":             {mixed, func(s *Spec) { s.MinAfterDequeue = 4 }},
		"Shared queue 'q' has random seeds (8, 3) but requested seeds are (8, 4).":                    {mixed, func(s *Spec) { s.Seed2 = 4 }},
		"Shared queue 'q' has component shapes [[?,2]] but requested component shapes were [[3,3]]":   {padded, func(s *Spec) { s.Shapes = []core.Shape{{3, 3}} }},
	} {
		other := tc.have
		tc.change(&other)
		if err := mustNew(t, tc.have).Matches(other); core.CodeOf(err) != core.InvalidArgument || core.AsError(err).Message() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if err := mustNew(t, tc.have).Matches(tc.have); err != nil {
			t.Errorf("a queue does not match itself: %v", err)
		}
	}
	unseeded := mixed
	unseeded.Seed, unseeded.Seed2 = 0, 0
	if err := mustNew(t, mixed).Matches(unseeded); err != nil {
		t.Errorf("no seeds match any: %v", err)
	}
}
