package threads

import (
	"slices"
	"testing"
)

// TestEnds has a caller and two workers take all ranges: the caller from the front, workers
// from the back, none twice.
func TestEnds(t *testing.T) {
	j := &job{n: 7, chunks: 7}
	var got []int
	for _, as := range []uint64{byCaller, byWorker, byWorker, byCaller, byWorker, byCaller, byWorker, byCaller, byWorker} {
		if i, some := j.take(as); some {
			got = append(got, i)
		}
	}
	if want := []int{0, 6, 5, 1, 4, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("ranges were taken in the order %v, want %v", got, want)
	}
	if j.join() {
		t.Error("a worker joins although no range is left")
	}
}
