package bundle

import (
	"path/filepath"
	"sync"
	"testing"
)

// TestTwoWriters save under one prefix at once: one of them wins.
func TestTwoWriters(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	done := make(chan error, 4)
	for w := range 4 {
		go func() {
			for i := range 20 {
				if err := saveNumber(prefix, 1+w*100+i, false); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := checkSave(prefix, 1); err != nil {
		t.Error(err)
	}
	if data, err := dataFiles(prefix); err != nil || len(data) != 1 {
		t.Error(data, err)
	}
}

// TestRetiredMeanwhile: whoever looks for data to retire holds it for a moment, in which
// the writer of the next index cannot remove it.
func TestRetiredMeanwhile(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	for i := range 50 {
		var others sync.WaitGroup
		stop := make(chan struct{})
		for range 2 {
			others.Go(func() { retireUntil(prefix, stop) })
		}
		err := saveNumber(prefix, 1+i, false)
		close(stop)
		others.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if data, err := dataFiles(prefix); err != nil || len(data) != 1 {
			t.Fatal("save", i, "left", data, err)
		}
	}
}

func retireUntil(prefix string, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
			retire(prefix)
		}
	}
}
