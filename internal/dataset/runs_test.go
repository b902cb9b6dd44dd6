package dataset

import (
	"context"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestSnapshotsReadOneRun: what has been decided to be read, or was begun to be read, is
// read to its end, although another iterator has begun to write since.
func TestSnapshotsReadOneRun(t *testing.T) {
	dir := t.TempDir()
	zero := func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(int64(0))}, nil
	}
	d := must2(t)(Keep(numbers(t, 0, 5, 1), Snapshot{Read: dir, Write: dir, Shard: zero, Reader: first})).(*snapshotted)
	want := fmt.Sprint(all(t, d))
	decided := &snapshotIterator{d: d}
	defer decided.Close()
	mode, run, err := d.decide()
	if err != nil || mode != SnapshotRead {
		t.Fatal(mode, run, err)
	}
	begun := mustIterate(t, d)
	defer begun.Close()
	take(t, begun, 2)
	s := NewState()
	begun.Save(s)
	other := &snapshotWriter{}
	if err := other.open(d); err != nil {
		t.Fatal(err)
	}
	if err := decided.begin(t.Context(), mode, run); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rest(t, decided)); got != want {
		t.Errorf("decided before: got %s, want %s", got, want)
	}
	restored := mustIterate(t, d)
	defer restored.Close()
	if restored.Restore(t.Context(), s); s.Err() != nil {
		t.Fatal(s.Err())
	}
	if got := fmt.Sprint(rest(t, restored)); got != "[[2] [3] [4]]" {
		t.Errorf("restored: got %s, want the last three", got)
	}
}

// TestForeignSnapshotState: neither a state nor metadata leads out of the directory.
func TestForeignSnapshotState(t *testing.T) {
	for _, run := range []string{"..", "../elsewhere", "/tmp", "a/b"} {
		dir := t.TempDir()
		d := must2(t)(Keep(numbers(t, 0, 5, 1), Snapshot{Read: dir, Write: dir, Reader: first}))
		it, s := mustIterate(t, d), NewState()
		take(t, it, 1)
		it.Save(s)
		s.Put("run", core.Scalar(run))
		if it.Restore(t.Context(), s); s.Err() == nil {
			t.Errorf("a state of run %q was taken", run)
		}
		it.Close()
		if err := writeMetadata(dir, "x", metadataOf(run, nil, 0, true)); err != nil {
			t.Fatal(err)
		}
		it = mustIterate(t, d)
		if _, err := it.Next(t.Context()); core.CodeOf(err) != core.DataLoss {
			t.Errorf("metadata of run %q: %v", run, err)
		}
		it.Close()
	}
}
