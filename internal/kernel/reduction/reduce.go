package reduction

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
)

// Reduction says how a tensor is folded along some of its axes. It knows
// shapes only and may be kept and shared.
type Reduction struct {
	// Len is the number of results.
	Len int
	// Count is how many elements make up one result.
	Count int

	dims []reduceDim // outermost first; neighbours of one kind merged
}

type reduceDim struct {
	n       int
	reduced bool
}

// NewReduction plans the folding of the axes that reduced marks.
func NewReduction(shape []int, reduced []bool) *Reduction {
	r := &Reduction{Len: 1, Count: 1}
	for i, n := range shape {
		if reduced[i] {
			r.Count *= n
		} else {
			r.Len *= n
		}
		if n != 1 {
			r.push(reduceDim{n, reduced[i]})
		}
	}
	return r
}

// ByRows reports whether each result is that of a row of Count elements, one after the other.
func (r *Reduction) ByRows() bool { return len(r.dims) == 2 && r.dims[1].reduced && r.Count > 0 }

func (r *Reduction) push(d reduceDim) {
	if k := len(r.dims) - 1; k >= 0 && r.dims[k].reduced == d.reduced {
		r.dims[k].n *= d.n
		return
	}
	r.dims = append(r.dims, d)
}

// Fold is an associative operation in the forms that a reduction meets.
type Fold[T memory.Plain] struct {
	// Init is the result of folding nothing.
	Init T
	// Join folds two results.
	Join func(a, b T) T
	// Run folds consecutive elements.
	Run func(x []T) T
	// Rows sets acc[i] = Join(acc[i], x[i]).
	Rows func(acc, x []T)
	// Down, if set, does the same for rows that are stride apart, in order, as
	// Rows would one by one.
	Down func(acc, x []T, rows, stride int)
	// Each, if not nil, sets dst to what Run returns for rows of n elements of x, joined to Init,
	// or returns false if it does not do that for so many.
	Each func(dst, x []T, n int) bool
}

// down folds rows that are stride apart into acc, in order.
func (f *Fold[T]) down(acc, x []T, rows, stride int) {
	if f.Down != nil {
		f.Down(acc, x, rows, stride)
		return
	}
	for i := range rows {
		f.Rows(acc, x[i*stride:i*stride+len(acc)])
	}
}

const (
	// foldChunk elements are folded as one run; longer runs are cut into
	// chunks, so that their results do not depend on the number of threads.
	foldChunk = 16 << 10
	// foldRows rows are folded one after the other, more of them in halves: the
	// rounding error of a sum grows with the logarithm of their number.
	foldRows = 16
	// foldFew rows are folded in smaller pieces, which takes longer, but makes
	// sums over a batch as exact as TensorFlow's.
	foldFew = 64
	// foldWidth columns are folded at a time, so that their totals stay in
	// the first-level cache.
	foldWidth = 512
	// foldGrain columns at least are folded together, however many rows there
	// are: fewer would use a part of each cache line only.
	foldGrain = 128
)

// Reduce folds src into dst.
func Reduce[T memory.Plain](par kernel.Par, r *Reduction, dst, src []T, f Fold[T]) {
	kernel.Fill(dst[:r.Len], f.Init)
	if r.Len == 0 || r.Count == 0 {
		return
	}
	switch {
	case len(r.dims) == 0:
		dst[0] = f.Join(f.Init, src[0])
	case len(r.dims) == 1 && r.dims[0].reduced:
		dst[0] = f.Join(f.Init, foldAll(par, src[:r.Count], f)) // as a row among others
	default:
		reduceKept(par, r.dims, dst, src, f)
	}
}

// foldAll folds everything: chunks of their own, then the chunks' results.
func foldAll[T memory.Plain](par kernel.Par, x []T, f Fold[T]) T {
	if len(x) <= foldChunk {
		return f.Run(x)
	}
	part := memory.Make[T]((len(x) + foldChunk - 1) / foldChunk)
	par(len(part), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part[i] = f.Run(x[i*foldChunk : min((i+1)*foldChunk, len(x))])
		}
	})
	return foldAll(kernel.Serial, part, f)
}

// reduceKept shares the outermost kept dimension between threads.
func reduceKept[T memory.Plain](par kernel.Par, dims []reduceDim, dst, src []T, f Fold[T]) {
	kept := 0
	if dims[0].reduced {
		kept = 1
	}
	perIndex := 1
	for i, d := range dims {
		if i != kept {
			perIndex *= d.n
		}
	}
	if kept == 1 && len(dims) == 2 && dims[1].n <= narrowFold && dims[0].n >= 2*narrowRows(dims[1].n) {
		foldNarrow(par, dst, src, dims[0].n, f)
		return
	}
	grain := max(1, kernel.ElementGrain/perIndex)
	if kept == 1 && len(dims) == 2 { // columns lie side by side
		grain = max(grain, foldGrain)
	}
	par(dims[kept].n, grain, func(lo, hi int) {
		switch n := perIndex; {
		case kept == 0 && len(dims) == 2 && n <= foldChunk:
			f.each(dst[lo:hi], src[lo*n:hi*n], n)
			return
		case kept == 0:
			reduceRange(dims, dst, src, lo, hi, f)
			return
		}
		if len(dims) == 2 {
			foldColumns(dst[lo:hi], src[lo:], dims[0].n, dims[1].n, f)
			return
		}
		foldOuter(dims, dst, src, lo, hi, f)
	})
}

// narrowFold is the length of rows of which several are folded as one: calls of
// loops over a few elements take longer than the loops.
const narrowFold = foldWidth / 4

// narrowRows is how many rows, of this length, one task folds.
func narrowRows(width int) int { return kernel.ElementGrain / width }

// foldNarrow folds short rows without gaps: blocks of them, shared between
// threads, then the blocks' results.
func foldNarrow[T memory.Plain](par kernel.Par, dst, src []T, rows int, f Fold[T]) {
	width, block := len(dst), narrowRows(len(dst))
	part, loan := memory.Lend[T](kernel.CeilDiv(rows, block) * width)
	kernel.Fill(part, f.Init)
	par(kernel.CeilDiv(rows, block), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			foldSideBySide(part[i*width:(i+1)*width], src[i*block*width:min(rows, (i+1)*block)*width], f)
		}
	})
	foldColumns(dst, part, len(part)/width, width, f)
	loan.Return()
}

// foldSideBySide folds rows of len(dst) elements, several beside one another.
func foldSideBySide[T memory.Plain](dst, src []T, f Fold[T]) {
	width := len(dst)
	wide := foldWidth / width * width
	if many := len(src) / wide; many > 1 {
		acc, loan := memory.Lend[T](wide)
		kernel.Fill(acc, f.Init)
		foldColumns(acc, src, many, wide, f)
		foldColumns(dst, acc, wide/width, width, f)
		loan.Return()
		src = src[many*wide:]
	}
	foldColumns(dst, src, len(src)/width, width, f)
}

// innerLen is the number of elements of one index of the first dimension.
func innerLen(dims []reduceDim) int {
	n := 1
	for _, d := range dims[1:] {
		n *= d.n
	}
	return n
}

// keptLen is the number of results of one index of the first dimension.
func keptLen(dims []reduceDim) int {
	n := 1
	for _, d := range dims[1:] {
		if !d.reduced {
			n *= d.n
		}
	}
	return n
}

// reduceRange folds the indices [lo, hi) of a kept first dimension.
func reduceRange[T memory.Plain](dims []reduceDim, dst, src []T, lo, hi int, f Fold[T]) {
	if len(dims) == 1 {
		f.Rows(dst[lo:hi], src[lo:hi])
		return
	}
	in, out := innerLen(dims), keptLen(dims)
	for i := lo; i < hi; i++ {
		reduceReduced(dims[1:], dst[i*out:(i+1)*out], src[i*in:(i+1)*in], f)
	}
}

// reduceReduced folds a reduced first dimension.
func reduceReduced[T memory.Plain](dims []reduceDim, dst, src []T, f Fold[T]) {
	switch len(dims) {
	case 1:
		dst[0] = f.Join(dst[0], foldAll(kernel.Serial, src, f))
	case 2:
		foldColumns(dst, src, dims[0].n, dims[1].n, f)
	default:
		foldOuter(dims, dst, src, 0, dims[1].n, f)
	}
}

// foldColumns folds rows of len(dst) elements that are stride apart.
func foldColumns[T memory.Plain](dst, src []T, rows, stride int, f Fold[T]) {
	h := halves[T]{piece: foldRows, stride: stride, fold: f}
	if rows <= foldFew {
		h.piece /= 2
	}
	buf, loan := memory.Lend[T](min(len(dst), foldWidth) * h.depth(rows))
	for j := 0; j < len(dst); j += foldWidth {
		h.into(dst[j:min(len(dst), j+foldWidth)], src[j:], rows, buf)
	}
	loan.Return()
}

// halves folds the rows of a strip of columns in halves, down to pieces that are
// folded in order.
type halves[T memory.Plain] struct {
	piece, stride int
	fold          Fold[T]
}

// first is the number of rows in the first half, which is not the smaller one.
func (h *halves[T]) first(rows int) int {
	return kernel.CeilDiv(kernel.CeilDiv(rows, h.piece), 2) * h.piece
}

// depth is how often a number of rows is halved.
func (h *halves[T]) depth(rows int) (n int) {
	for ; rows > h.piece; rows = h.first(rows) {
		n++
	}
	return n
}

// into folds rows into dst, the second half of them in buf.
func (h *halves[T]) into(dst, src []T, rows int, buf []T) {
	if rows <= h.piece {
		h.fold.down(dst, src, rows, h.stride)
		return
	}
	half := h.first(rows)
	acc, rest := buf[:len(dst)], buf[len(dst):]
	copy(acc, src[half*h.stride:])
	h.into(dst, src, half, rest)
	if more := rows - half - 1; more > 0 {
		h.into(acc, src[(half+1)*h.stride:], more, rest)
	}
	h.fold.Rows(dst, acc)
}
