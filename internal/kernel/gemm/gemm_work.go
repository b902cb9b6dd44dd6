//go:build amd64 && !noasm

package gemm

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// gemmWork computes a region of C.
type gemmWork[T numeric.Float] struct {
	*blocked[T]
	Gemm
	region
	*packed[T]
	c, a, b []T
	most    int          // rows of a packed block of A
	origin  int          // of c among the elements of C
	then    *Epilogue[T] // what withPacking does to blocks of C; may be nil
	again   bool         // another block of A takes what is packed of B
	shared  []T          // what is packed of B for all tasks; nil if each packs its own
}

// compute multiplies without packing A, or with.
func (w *gemmWork[T]) compute(direct bool) {
	if direct {
		w.direct()
	} else {
		w.withPacking()
	}
}

// directThen is direct, some rows after others, which it finishes while they are in the
// cache.
func (w *gemmWork[T]) directThen(e *Epilogue[T]) {
	for r := w.region; w.i0 < r.i1; w.i0 = w.i1 {
		w.i1 = min(w.i0+taskTiles*w.micro.tileM, r.i1)
		w.direct()
		e.Apply(w.Gemm, w.c, w.i0, w.i1, w.j0, w.j1)
	}
}

// beta is 0 where a block of k from p on overwrites C.
func (w *gemmWork[T]) beta(p int) int {
	if p == 0 && !w.Accumulate {
		return 0
	}
	return 1
}

// direct multiplies without packing A; B is packed only if it is transposed.
func (w *gemmWork[T]) direct() {
	j0 := w.j0
	if w.streams() {
		j0 = w.stream()
	}
	kc := tiles.EqualBlocks(w.K, w.directSteps(w.Gemm))
	height := w.blockRows(kc)
	if w.rowsAtATime(kc, w.j1-j0) {
		height = min(height, nearTiles*w.micro.tileM)
	}
	if w.TransB {
		w.roomForTransposed(kc, w.i1-w.i0 > height)
	}
	for i := w.i0; i < w.i1; i += height {
		for p := 0; p < w.K; p += kc {
			w.directPanels(i, min(i+height, w.i1), p, min(kc, w.K-p), j0)
		}
	}
}

// blockRows is how many rows of A are multiplied with all panels of B, kn steps of k each, before
// the next: they stay in the second-level cache, however many there are.
func (b *blocked[T]) blockRows(kn int) int {
	return max(1, b.directA/kn/b.micro.tileM) * b.micro.tileM
}

// nearTiles are the tiles of rows that are multiplied by all panels of B before the next, where rowsAtATime.
const nearTiles = 2

// rowsAtATime reports whether few rows of C are computed at a time, from end to end, kn steps of k: what is written
// then lies side by side, and is not fetched column by column, when rows may be whole pages apart. B, of so many
// columns, stays in the second-level cache meanwhile.
func (w *gemmWork[T]) rowsAtATime(kn, columns int) bool {
	const panels, least = 4, 1 << 12
	return kn == w.K && columns >= panels*w.micro.panel() && least <= kn*columns && kn*columns <= w.directA
}

// directPanels multiplies rows [i0, i1) of A, kn steps of k from p on, with the panels of B from
// column j0 on.
func (w *gemmWork[T]) directPanels(i0, i1, p, kn, j0 int) {
	rows := tiles.Cut(i1-i0, w.micro.tileM)
	oneRow := rows.Rows == 1 && !w.TransA && !w.TransB // what is packed of B has panels
	for j, width := j0, 0; j < w.j1; j += width {
		if width = min(w.micro.panel(), w.j1-j); oneRow {
			width = w.micro.rowWidth(w.j1 - j)
		}
		if w.TransA {
			w.panelTurned(rows, i0, p, kn, j, j0)
			continue
		}
		bp, ldb := w.panelInPlace(p, j, kn, width, i0 == w.i0)
		if next := w.nextInPlace(rows, p, kn, j, width, j0); next != nil {
			w.panelFetching(rows, i0, p, kn, j, next)
			continue
		}
		for t := range rows.Tiles {
			row, h := rows.Tile(t)
			i := i0 + row
			w.micro.rowsTile(h, width, kn, &w.a[i*w.LDA+p], w.LDA, bp, ldb, &w.c[i*w.LDC+j], w.LDC, w.beta(p))
		}
	}
}

// panelFetching multiplies rows of A with a panel of B in place. Tiles fetch the rows of the next
// panel by turns.
func (w *gemmWork[T]) panelFetching(rows tiles.Tiling, i0, p, kn, j int, next []T) {
	for t := range rows.Tiles {
		row, h := rows.Tile(t)
		i := i0 + row
		w.micro.rowsNext[h-1](kn, &w.a[i*w.LDA+p], w.LDA, &w.b[p*w.LDB+j], w.LDB, &next[t%roundSteps*w.LDB], &w.c[i*w.LDC+j], w.LDC, w.beta(p))
	}
}

// panelTurned multiplies columns of a transposed A with a panel of B in place.
func (w *gemmWork[T]) panelTurned(rows tiles.Tiling, i0, p, kn, j, j0 int) {
	next := w.b[p*w.LDB+j:]
	if more := w.nextInPlace(rows, p, kn, j, w.micro.panel(), j0); more != nil {
		next = more
	}
	for t := range rows.Tiles {
		row, h := rows.Tile(t)
		i := i0 + row
		w.micro.colsNext[h-1](kn, &w.a[p*w.LDA+i], w.LDA, &w.b[p*w.LDB+j], w.LDB, &next[min(t, kn-1)%roundSteps*w.LDB], &w.c[i*w.LDC+j], w.LDC, w.beta(p))
	}
}

// nextInPlace returns the panel of B that is multiplied after the one at column j: the one beside it,
// or the first of the next steps of k. It is nil where there are too few tiles to fetch all of it, or
// another kernel than that for whole panels has to multiply.
func (w *gemmWork[T]) nextInPlace(rows tiles.Tiling, p, kn, j, width, j0 int) []T {
	switch {
	case rows.Tiles < roundSteps || kn < roundSteps || w.TransB || width < w.micro.panel():
		return nil
	case j+width < w.j1:
		return w.b[p*w.LDB+j+width:]
	case p+kn+roundSteps <= w.K:
		return w.b[(p+kn)*w.LDB+j0:]
	}
	return nil
}

// roomForTransposed makes room for what is packed of B: all of it if other rows of A use it
// again, else a panel, which stays in the cache.
func (w *gemmWork[T]) roomForTransposed(kn int, again bool) {
	panel, width := w.micro.panel(), 0
	if w.again = again; again {
		width = kernel.CeilDiv(w.j1-w.j0, panel) * panel
	}
	w.packed.b = tiles.GrowAligned(w.packed.b, max(width*w.K, panel*kn)+16*panel)
}

// panelInPlace returns where a panel of B lies and how far its rows are apart. The first rows of A
// have it packed.
func (w *gemmWork[T]) panelInPlace(p, j, kn, width int, first bool) (*T, int) {
	if !w.TransB {
		return &w.b[p*w.LDB+j], w.LDB
	}
	panel, pb := w.micro.panel(), w.packed.b
	if w.again {
		pb = pb[p*kernel.CeilDiv(w.j1-w.j0, panel)*panel+(j-w.j0)*kn:]
	}
	if first {
		w.packPanel(pb, p, j, kn, width)
	}
	return &pb[0], panel
}

// packPanel copies a panel of a transposed B.
func (w *gemmWork[T]) packPanel(dst []T, p, j, kn, width int) {
	panel := w.micro.panel()
	for q := 0; q < width; q += 16 {
		h := min(16, width-q)
		w.micro.pack.Rows(h, kn, w.b[(j+q)*w.LDB+p:], w.LDB, dst[q:], panel)
	}
}

// withPacking multiplies with A packed block by block.
func (w *gemmWork[T]) withPacking() {
	kc := w.packedSteps(w.Gemm)
	w.roomForA(kc)
	w.roomForB(kc, min(w.n, w.j1-w.j0), w.most)
	for j := w.j0; j < w.j1; j += w.n {
		nn := min(w.n, w.j1-j)
		for p := 0; p < w.K; p += kc {
			kn := min(kc, w.K-p)
			w.blocksOfA(p, kn, j, nn)
		}
	}
}

// roomForA makes room for a packed block of A, and says how many rows it has at most.
func (w *gemmWork[T]) roomForA(kn int) {
	w.most = min(w.blockRows(kn), w.i1-w.i0)
	w.packed.a = tiles.GrowAligned(w.packed.a, w.blockSize(w.most, kn))
}

// blockSize is how many elements a packed block of A takes.
func (w *gemmWork[T]) blockSize(rows, kn int) int {
	return tileAt(kernel.CeilDiv(rows, w.micro.tileM), rows, kn) + tiles.PackSlack
}

// roomForB makes room for what is packed of kn rows of B: width columns if there is another block
// of A than the first, of so many rows, else a panel, which stays in the cache.
func (w *gemmWork[T]) roomForB(kn, width, rows int) {
	if w.shared != nil {
		return
	}
	size := w.panelStride(kn)
	if w.again = w.i1-w.i0 > rows; w.again {
		size = w.panelsSize(kn, width)
	}
	w.packed.b = tiles.GrowAligned(w.packed.b, size)
}

// blocksOfA multiplies all blocks of A with columns [j, j+nn) of B.
func (w *gemmWork[T]) blocksOfA(p, kn, j, nn int) {
	blocks := kernel.CeilDiv(w.i1-w.i0, w.most)
	for q := range blocks {
		w.oneBlock(w.i0+q*(w.i1-w.i0)/blocks, w.i0+(q+1)*(w.i1-w.i0)/blocks, p, kn, j, nn, q == 0)
	}
}

// oneBlock is blockOfA, and what is done to the block once its sums are complete.
func (w *gemmWork[T]) oneBlock(i, end, p, kn, j, nn int, first bool) {
	w.blockOfA(i, end, p, kn, j, nn, first)
	if w.then != nil && p+kn == w.K {
		w.then.Apply(w.Gemm, w.c, i, end, j, j+nn)
	}
}

// blockOfA multiplies rows [i, end) of A, a block, with columns [j, j+nn) of B.
func (w *gemmWork[T]) blockOfA(i, end, p, kn, j, nn int, first bool) {
	rows := tiles.Cut(end-i, w.micro.tileM)
	w.packBlock(rows, i, p, kn)
	panel, pb := w.micro.panel(), w.packed.b
	if w.shared != nil {
		pb, first = w.shared, false
	}
	for jj := 0; jj < nn; jj += panel {
		w.column(rows, i, p, kn, j+jj, pb, min(panel, nn-jj), first)
		if w.again {
			pb = pb[w.panelStride(kn):]
		}
	}
}

// maxPart is how many elements a part of C has at most: they stay in the second-level cache
// beside what is packed of A.
const maxPart = 64 << 10

// inParts multiplies with A packed, k in one block, and calls put for all rows of each block
// of C.
func (w *gemmWork[T]) inParts(put func(at int, part []T)) {
	panel, stride := w.micro.panel(), w.N
	width := min(w.j1-w.j0, maxPart/w.micro.tileM/panel*panel)
	height := min(w.blockRows(w.K), w.i1-w.i0, maxPart/width/w.micro.tileM*w.micro.tileM)
	w.packed.a = tiles.GrowAligned(w.packed.a, w.blockSize(height, w.K))
	w.roomForB(w.K, width, height)
	w.packed.c = tiles.GrowAligned(w.packed.c, height*width)
	w.c = w.packed.c
	all := w.shared
	for j := w.j0; j < w.j1; j += width {
		if all != nil {
			w.shared = all[j/panel*w.panelStride(w.K):]
		}
		w.LDC = min(width, w.j1-j)
		for i := w.i0; i < w.i1; i += height {
			end := min(i+height, w.i1)
			w.origin = i*w.LDC + j
			w.blockOfA(i, end, 0, w.K, j, w.LDC, i == w.i0)
			putRows(put, w.c[:(end-i)*w.LDC], w.LDC, i*stride+j, stride)
		}
	}
}

// putRows calls put for rows of n elements, which are stride elements apart in C, the first
// one at element at.
func putRows[T any](put func(at int, part []T), c []T, n, at, stride int) {
	if n == stride {
		put(at, c)
		return
	}
	for len(c) > 0 {
		put(at, c[:n])
		at, c = at+stride, c[n:]
	}
}

// Where the rows of a transposed A are apart, some of them are packed for all tiles before the
// next: what one tile leaves of their cache lines is for the tile beside it, and rows that come
// from memory are read from end to end, as the processor fetches them ahead. Rows a page or more
// apart all fall into the same sets of the caches, which hold eight lines each.
const (
	apart, rowsAtOnce       = 512, 16 // bytes from which on, and how many rows then
	pagesApart, pagesAtOnce = 4096, 8
)

// packsCols is how many steps of k, of kn, are packed of a transposed A at a time.
func (w *gemmWork[T]) packsCols(kn int) int {
	switch distance := w.LDA * int(unsafe.Sizeof(w.a[0])); {
	case distance < apart:
		return kn
	case distance < pagesApart:
		return rowsAtOnce
	}
	return pagesAtOnce
}

// packBlock copies rows of A from row i on: each tile as its rows' elements for every k.
func (w *gemmWork[T]) packBlock(rows tiles.Tiling, i, p, kn int) {
	if !w.TransA {
		for t := range rows.Tiles {
			row, h := rows.Tile(t)
			w.micro.pack.Rows(h, kn, w.a[(i+row)*w.LDA+p:], w.LDA, w.packed.a[tileAt(t, row, kn):], h)
		}
		return
	}
	steps := w.packsCols(kn)
	for q := 0; q < kn; q += steps {
		for t := range rows.Tiles {
			row, h := rows.Tile(t)
			w.micro.pack.Cols(h, min(steps, kn-q), w.a[(p+q)*w.LDA+i+row:], w.LDA, w.packed.a[tileAt(t, row, kn)+q*h:], h)
		}
	}
}

// tileAt is where tile t of A, which begins with a row of the block, is packed. Packing writes
// up to a vector too much, which must not be the next tile's.
func tileAt(t, row, kn int) int { return row*kn + 16*t }

// column multiplies a packed block of A with a panel of B at column j. The
// first block also packs the panel into pb.
func (w *gemmWork[T]) column(rows tiles.Tiling, i, p, kn, j int, pb []T, width int, first bool) {
	panel := w.micro.panel()
	src, ldb := &pb[0], panel
	if w.TransB && first {
		w.packPanel(pb, p, j, kn, width)
	}
	if !w.TransB {
		src, ldb = &w.b[p*w.LDB+j], w.LDB
	}
	next, ldn := w.nextPanel(p, kn, j, pb, width, first)
	for t := range rows.Tiles {
		row, h := rows.Tile(t)
		a, c := &w.packed.a[tileAt(t, row, kn)], &w.c[(i+row)*w.LDC+j-w.origin]
		switch {
		case width < panel:
			w.micro.packedEdge(h, width, kn, a, src, ldb, c, w.LDC, w.beta(p))
		case first && t == 0 && !w.TransB:
			w.micro.packFirst[h-1](kn, a, src, ldb, &pb[0], c, w.LDC, w.beta(p))
		default:
			// Tiles fetch the next panel's rows by turns.
			w.micro.packFull[h-1](kn, a, &pb[0], &next[t%roundSteps*ldn], ldn, c, w.LDC, w.beta(p))
		}
	}
}

// nextPanel returns what is multiplied after a panel at column j, and how far its rows are apart:
// the panel of B beside it, if the first rows of A have that packed, or the next packed panel.
func (w *gemmWork[T]) nextPanel(p, kn, j int, pb []T, width int, first bool) ([]T, int) {
	switch {
	case kn < roundSteps:
		return pb, 0
	case first && !w.TransB && j+width < w.j1:
		return w.b[p*w.LDB+j+width:], w.LDB
	case w.again && !first:
		return pb[w.panelStride(kn):], w.micro.panel()
	}
	return pb, w.micro.panel()
}
