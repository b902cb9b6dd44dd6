package batch

import "math"

// appetite is what a queue has learned of how much memory its batches take. It does no
// I/O: the queue tells it of each batch.
//
// A batch that fits in what is free is estimated by the most bytes for a row that batches
// have taken lately. Where the estimate was too low, because others take memory too, the
// batch fails; ceiling is then half of its rows, and rises again with each batch that
// runs.
type appetite struct {
	row     int64 // bytes; 0: not known, or nothing worth counting
	ceiling int   // rows of a batch; 0: no bound
	running int   // rows of batches that run now, which may not have all of their memory yet
}

// runs notes that a batch of so many rows runs from now on, ends that it does not.
func (a *appetite) runs(rows int) { a.running += rows }
func (a *appetite) ends(rows int) { a.running -= rows }

// ran notes that a batch of so many rows has run, and the bytes that it took.
func (a *appetite) ran(rows int, bytes int64) {
	if rows <= 0 {
		return
	}
	a.row = max((bytes+int64(rows)-1)/int64(rows), a.row-(a.row+7)/8)
	if a.ceiling > 0 && rows >= a.ceiling {
		a.ceiling += max(1, a.ceiling/8)
	}
}

// failed notes that there was no memory for a batch of so many rows.
func (a *appetite) failed(rows int) { a.ceiling = max(1, rows/2) }

// most returns how many rows a batch may have while so many bytes are free.
func (a *appetite) most(free func() int64) int {
	most := math.MaxInt
	if a.row > 0 && free != nil {
		most = max(0, int(free()/a.row)-a.running)
	}
	if a.ceiling > 0 {
		most = min(most, a.ceiling)
	}
	return most
}
