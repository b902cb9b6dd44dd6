package layout

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// View places an n-dimensional block inside a slice: the offset of its first
// element and the distance between neighbours along each dimension, which may
// be negative or 0.
type View struct {
	Offset int
	Steps  []int
}

// Dense is the view of a whole row-major tensor.
func Dense(shape []int) View { return View{Steps: Strides(shape)} }

// CopyView copies a block of this shape from one view to another. It serves
// slices, strided slices and their gradients and reversal.
func CopyView[T any](par kernel.Par, dst []T, to View, src []T, from View, shape []int) {
	var room [roomDims]moveDim
	dims := room[:0]
	for i, n := range shape {
		dims = pushDim(dims, moveDim{n, from.Steps[i], to.Steps[i]})
	}
	moveDims(par, dims, dst, to.Offset, src, from.Offset)
}

// Pad sets dst, of shape src's plus before and after, to v around src. It writes
// each element once: rows of src, and what lies between them.
func Pad[T any](par kernel.Par, dst, src []T, shape, before, after []int, v T) {
	out := make([]int, len(shape))
	for i, n := range shape {
		out[i] = before[i] + n + after[i]
	}
	dst = dst[:kernel.Product(out)]
	if len(src) == 0 {
		kernel.Fill(dst, v)
		return
	}
	rows := paddedRows(shape, before, after, out)
	n := len(src) / rows.row
	par(n, max(1, kernel.ElementGrain*n/len(dst)), func(lo, hi int) {
		done := 0 // where the row before ends
		if lo > 0 {
			rows.each(lo-1, lo, func(_, first int) { done = first + rows.row })
		}
		rows.each(lo, hi, func(i, first int) {
			kernel.Fill(dst[done:first], v)
			done = first + copy(dst[first:], src[i*rows.row:(i+1)*rows.row])
		})
		if hi == n {
			kernel.Fill(dst[done:], v)
		}
	})
}

// padded says where the rows of a tensor lie in the one that is padded.
type padded struct {
	row          int // elements of a row
	first        int // where the first row begins
	shape, steps []int
}

// paddedRows makes rows as long as they are without padding inside.
func paddedRows(shape, before, after, out []int) padded {
	k, row := len(shape), 1
	for k > 0 && before[k-1] == 0 && after[k-1] == 0 {
		k--
		row *= shape[k]
	}
	if k > 0 { // the innermost dimension with padding: its elements lie in order, too
		k--
		row *= shape[k]
	}
	p := padded{row: row, shape: shape[:k], steps: Strides(out)}
	for i, b := range before {
		p.first += b * p.steps[i]
	}
	return p
}

// each calls f for rows lo to hi-1, in order, with where each begins.
func (p *padded) each(lo, hi int, f func(i, first int)) {
	at, first := make([]int, len(p.shape)), p.first
	for d, i := len(p.shape)-1, lo; d >= 0; d-- {
		at[d] = i % p.shape[d]
		first += at[d] * p.steps[d]
		i /= p.shape[d]
	}
	for i := lo; i < hi; i++ {
		f(i, first)
		for d := len(p.shape) - 1; d >= 0; d-- {
			at[d]++
			first += p.steps[d]
			if at[d] < p.shape[d] {
				break
			}
			first -= at[d] * p.steps[d]
			at[d] = 0
		}
	}
}

// Concat joins parts along a dimension: part k is outer × widths[k], with
// widths counting the dimension and everything inside it.
func Concat[T any](dst []T, parts [][]T, outer int, widths []int) {
	at := 0
	for o := range outer {
		for k, w := range widths {
			copy(dst[at:at+w], parts[k][o*w:(o+1)*w])
			at += w
		}
	}
}

// ConcatPart is Concat for elements [lo, hi) of dst only.
func ConcatPart[T any](dst []T, parts [][]T, widths []int, lo, hi int) {
	row := 0
	for _, w := range widths {
		row += w
	}
	for lo < hi {
		o, at, k := lo/row, lo%row, 0
		for ; at >= widths[k]; k++ {
			at -= widths[k]
		}
		n := min(hi-lo, widths[k]-at)
		copy(dst[lo:lo+n], parts[k][o*widths[k]+at:])
		lo += n
	}
}

// Split is the inverse of Concat.
func Split[T any](parts [][]T, src []T, outer int, widths []int) {
	at := 0
	for o := range outer {
		for k, w := range widths {
			copy(parts[k][o*w:(o+1)*w], src[at:at+w])
			at += w
		}
	}
}

// Tile repeats src as often along each dimension as multiples says.
func Tile[T any](par kernel.Par, dst, src []T, shape, multiples []int) {
	var out, in []int
	for i, n := range shape {
		out = append(out, multiples[i], n)
		in = append(in, 1, n)
	}
	b, _ := elementwise.NewBroadcastTo(out, in)
	elementwise.CopyBroadcast(par, b, dst, src)
}
