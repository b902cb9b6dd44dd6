package dataset

import (
	"context"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestSnapshotFromAnEarlierState: a writer that goes back to an earlier one of its states
// leaves nothing of what it wrote after that.
func TestSnapshotFromAnEarlierState(t *testing.T) {
	zero := func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(int64(0))}, nil
	}
	for name, s := range map[string]Snapshot{"shards": {Shard: zero, Reader: first}, "files": {FileBytes: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s.Read, s.Write = dir, dir
			d := must2(t)(Keep(numbers(t, 0, 8, 1), s))
			it, early := mustIterate(t, d), NewState()
			take(t, it, 2)
			it.Save(early)
			for range 2 {
				take(t, it, 2)
				it.Save(NewState())
			}
			take(t, it, 1)
			it.Close()
			again := mustIterate(t, d)
			defer again.Close()
			if again.Restore(t.Context(), early); early.Err() != nil {
				t.Fatal(early.Err())
			}
			if got := fmt.Sprint(rest(t, again)); got != "[[2] [3] [4] [5] [6] [7]]" {
				t.Errorf("the iterator goes on with %s", got)
			}
			if got := fmt.Sprint(all(t, d)); got != "[[0] [1] [2] [3] [4] [5] [6] [7]]" {
				t.Errorf("the snapshot has %s", got)
			}
		})
	}
}

// TestStatesOfResultsInAdvance: what earlier versions wrote of results that were there in
// advance, as a list of elements or of results, comes before what the input has.
func TestStatesOfResultsInAdvance(t *testing.T) {
	have := []Element{{core.Scalar(int64(1))}, {core.Scalar(int64(2))}}
	for name, d := range map[string]Dataset{
		"done":  ParallelMap(numbers(t, 0, 6, 1), firstOf, scalars, true, 2, true),
		"ready": Prefetch(numbers(t, 0, 6, 1), 2),
	} {
		for _, ended := range []bool{false, true} {
			for _, key := range []string{name, "results"} {
				input, s := mustIterate(t, numbers(t, 0, 6, 1)), NewState()
				take(t, input, 3)
				input.Save(s.Sub("input"))
				input.Close()
				s.PutBool("ended", ended && name == "done")
				if s.PutElements(key, have); key == "results" {
					s.putResults(key, []result{{e: have[0]}, {e: have[1]}})
				}
				it := mustIterate(t, d)
				if it.Restore(t.Context(), s); s.Err() != nil {
					t.Fatal(s.Err())
				}
				want := "[[1] [2] [3] [4] [5]]"
				if ended && name == "done" {
					want = "[[1] [2]]"
				}
				if got := fmt.Sprint(rest(t, it)); got != want {
					t.Errorf("%s of %s, ended %v: got %s, want %s", key, name, ended, got, want)
				}
				it.Close()
			}
		}
	}
}
