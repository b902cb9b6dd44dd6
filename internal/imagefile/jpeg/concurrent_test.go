package jpeg

import (
	"bytes"
	"sync"
	"testing"
)

// TestConcurrentFiles: goroutines that decode files of different sizes, whole and cut off, use
// memory of planes that others have given back, and see nothing of it.
func TestConcurrentFiles(t *testing.T) {
	type job struct {
		data string
		want []byte
	}
	var jobs []job
	o := Options{Ratio: 1, Fancy: true, Recover: true}
	for i, size := range [][2]int{{150, 90}, {40, 210}, {97, 33}} {
		file, err := Encode(pattern(size[0], size[1], 3), size[0], size[1], 3, Encoding{Quality: 90, Subsample: i%2 == 0, Progressive: i == 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range []string{file, file[:len(file)*3/4]} {
			if d, err := NewDecoder(data, o); err == nil {
				want := make([]byte, d.Height*d.Width*d.Channels)
				if d.Decode(want) == nil {
					jobs = append(jobs, job{data, want})
				}
			}
		}
	}
	if len(jobs) < 4 {
		t.Fatal("files that can be decoded:", len(jobs))
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for k := range 40 {
				j := jobs[(w+k)%len(jobs)]
				d, err := NewDecoder(j.data, o)
				if err != nil {
					t.Error(err)
					return
				}
				if got := make([]byte, len(j.want)); d.Decode(got) != nil || !bytes.Equal(got, j.want) {
					t.Errorf("file %d differs beside others", (w+k)%len(jobs))
				}
			}
		})
	}
	wg.Wait()
}
