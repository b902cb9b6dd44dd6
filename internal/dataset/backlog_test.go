package dataset

import (
	"runtime"
	"testing"
)

// TestLargeBufferOfLittle: a buffer takes the memory of what is in it, not of all that it may hold:
// each of many datasets in another may have one.
func TestLargeBufferOfLittle(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	it := mustIterate(t, Prefetch(numbers(t, 0, 3, 1), 1<<20))
	defer it.Close()
	if got := len(rest(t, it)); got != 3 {
		t.Errorf("got %d elements, want 3", got)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("3 numbers took %d bytes", n)
	}
}
