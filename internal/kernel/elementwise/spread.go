package elementwise

const (
	// shortRun is the length up to which a call for each run takes longer than to put the
	// operands of many runs side by side.
	shortRun = 16
	// spreadBlock elements of each operand are put side by side: they stay in the first-level
	// cache. It takes spreadLeast results for that to be worth its memory.
	spreadBlock, spreadLeast = 512, 256
)

// ShortRuns reports whether all operands go on along runs that are short, as points of few
// coordinates do beside each other: [n 1 2] and [1 k 2].
func (b *Broadcast) ShortRuns() bool {
	last := b.dims[len(b.dims)-1]
	for _, s := range last.step {
		if s != 1 {
			return false
		}
	}
	return last.n <= shortRun
}

// only returns the walk of operand k by itself.
func (b *Broadcast) only(k int) *Broadcast {
	o := &Broadcast{Shape: b.Shape, Len: b.Len}
	for _, d := range b.dims {
		o.push(broadcastDim{d.n, []int{d.step[k]}})
	}
	return o
}

// zipSpread is zipRange for short runs: operands are put side by side, block by block. The bits
// are those of runs, which have no scalars.
func (l Loops[R, T]) zipSpread(b *Broadcast, z []R, x, y []T, lo, hi int) {
	ofX, ofY, room := b.only(0), b.only(1), make([]T, 2*spreadBlock)
	for from := lo; from < hi; from += spreadBlock {
		n := min(spreadBlock, hi-from)
		l.Zip(z[from:from+n], spread(ofX, room[:n], x, from), spread(ofY, room[spreadBlock:][:n], y, from))
	}
}

// spread returns the elements of src that belong to results from one on, in dst unless they
// follow each other.
func spread[T any](b *Broadcast, dst, src []T, from int) []T {
	if b.Same() {
		return src[from:][:len(dst)]
	}
	w, last := newWalk(b, from), len(b.dims)-1
	for rest := dst; len(rest) > 0; {
		n := min(b.dims[last].n-w.index[last], len(rest))
		copy(rest[:n], src[w.off[0]:])
		rest = rest[n:]
		w.next(n)
	}
	return dst
}
