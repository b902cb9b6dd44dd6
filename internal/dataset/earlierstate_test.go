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
