package train_test

import (
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/train"
)

// TestCheckpointsIteratorPolls: a program that goes on waiting looks as often as it asks
// for, also with a timeout that is shorter than that.
func TestCheckpointsIteratorPolls(t *testing.T) {
	dir := t.TempDir()
	timed(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		o := train.CheckpointsOptions{Timeout: time.Millisecond, Poll: time.Second, TimedOut: func() bool { looks++; return looks == 5 }}
		for path := range train.CheckpointsIterator(t.Context(), dir, o) {
			t.Error(path)
		}
		if took := time.Since(began); looks != 5 || took < 4*time.Second {
			t.Errorf("%d looks in %v", looks, took)
		}
	})
}
