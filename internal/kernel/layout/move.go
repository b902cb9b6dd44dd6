package layout

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// moveDim is a dimension of what is moved and how far apart its neighbours are
// in the source and in the result.
type moveDim struct{ n, src, dst int }

// pushDim adds an inner dimension, merged with the one before if it goes on where
// that begins again, in the source and in the result.
func pushDim(dims []moveDim, d moveDim) []moveDim {
	if d.n == 1 {
		return dims
	}
	if k := len(dims) - 1; k >= 0 && dims[k].src == d.n*d.src && dims[k].dst == d.n*d.dst {
		d.n *= dims[k].n
		dims = dims[:k]
	}
	return append(dims, d)
}

// roomDims dimensions need no memory of their own: few tensors have more.
const roomDims = 8

// A mover moves rows that are a run each, from place s on to place d on. Only it knows the
// type of elements: what finds the rows is there once.
type mover func(d, s int, run, rows moveDim)

// moveDims moves elements of src from place s on to dst from place d on, as dims say.
func moveDims[T any](par kernel.Par, dims []moveDim, dst []T, d int, src []T, s int) {
	if n := sizeOf(dims); n <= kernel.ElementGrain {
		moveRows(dims, d, s, 0, n, func(d, s int, run, rows moveDim) { moveRun(dst, d, src, s, run, rows) })
		return
	}
	moveInParts(par, slices.Clone(dims), d, s, func(d, s int, run, rows moveDim) { moveRun(dst, d, src, s, run, rows) })
}

// sizeOf returns the number of elements of dims.
func sizeOf(dims []moveDim) int {
	n := 1
	for _, d := range dims {
		n *= d.n
	}
	return n
}

// moveInParts moves so many elements that they are worth tasks.
func moveInParts(par kernel.Par, dims []moveDim, d, s int, move mover) {
	run, n := dims[len(dims)-1], sizeOf(dims)
	if len(dims) == 1 {
		par(n, kernel.ElementGrain, func(lo, hi int) {
			move(d+lo*run.dst, s+lo*run.src, moveDim{hi - lo, run.src, run.dst}, moveDim{n: 1})
		})
		return
	}
	par(n/run.n, max(1, kernel.ElementGrain/run.n), func(lo, hi int) { moveRows(dims, d, s, lo*run.n, hi*run.n, move) })
}

// moveRows moves elements [lo, hi) of dims, which are whole rows: runs along the innermost
// dimension.
func moveRows(dims []moveDim, d, s, lo, hi int, move mover) {
	if lo == hi {
		return
	}
	var room [roomDims]int
	outer, rows, run := dims, moveDim{n: 1}, moveDim{1, 1, 1}
	if k := len(outer) - 1; k >= 0 {
		outer, run = outer[:k], outer[k]
	}
	if k := len(outer) - 1; k >= 0 {
		outer, rows = outer[:k], outer[k]
	}
	lo, hi = lo/run.n, hi/run.n
	w := walk{dims: outer, at: room[:0]}
	w.start(lo / rows.n)
	for i := lo % rows.n; lo < hi; i = 0 {
		some := moveDim{min(hi-lo, rows.n-i), rows.src, rows.dst}
		move(d+w.dst+i*rows.dst, s+w.src+i*rows.src, run, some)
		lo += some.n
		w.next()
	}
}

// A walk goes through the places of some dimensions, in order.
type walk struct {
	dims     []moveDim
	at       []int
	src, dst int // of the place where it is
}

// start goes to place i.
func (w *walk) start(i int) {
	w.at = append(w.at, make([]int, len(w.dims))...)
	for k := len(w.dims) - 1; k >= 0; k-- {
		d := w.dims[k]
		w.at[k] = i % d.n
		w.src += w.at[k] * d.src
		w.dst += w.at[k] * d.dst
		i /= d.n
	}
}

// next goes to the place that follows; after the last one is the first.
func (w *walk) next() {
	for k := len(w.dims) - 1; k >= 0; k-- {
		d := &w.dims[k]
		w.at[k]++
		w.src += d.src
		w.dst += d.dst
		if w.at[k] < d.n {
			return
		}
		w.at[k] = 0
		w.src -= d.n * d.src
		w.dst -= d.n * d.dst
	}
}

// moveRun moves rows that are a run each. Short runs move in less time than calls take.
func moveRun[T any](dst []T, d int, src []T, s int, run, rows moveDim) {
	to, from := rows.dst, rows.src
	switch {
	case run.src == -1 && run.dst == 1:
		for range rows.n {
			turn(dst[d:d+run.n], src[s+1-run.n:s+1])
			d, s = d+to, s+from
		}
	case run.src != 1 || run.dst != 1:
		moveApart(dst, d, src, s, run, rows)
	case run.n == 2:
		for range rows.n {
			*(*[2]T)(dst[d:]) = *(*[2]T)(src[s:])
			d, s = d+to, s+from
		}
	case run.n == 3:
		for range rows.n {
			*(*[3]T)(dst[d:]) = *(*[3]T)(src[s:])
			d, s = d+to, s+from
		}
	case run.n == 4:
		for range rows.n {
			*(*[4]T)(dst[d:]) = *(*[4]T)(src[s:])
			d, s = d+to, s+from
		}
	default:
		for range rows.n {
			copy(dst[d:d+run.n], src[s:s+run.n])
			d, s = d+to, s+from
		}
	}
}

// moveApart is moveRun for runs of elements that are apart.
func moveApart[T any](dst []T, d int, src []T, s int, run, rows moveDim) {
	for range rows.n {
		to, from := d, s
		for range run.n {
			dst[to] = src[from]
			to += run.dst
			from += run.src
		}
		d += rows.dst
		s += rows.src
	}
}

// turn sets z to x, the last element first.
func turn[T any](z, x []T) {
	for ; len(x) >= 8; x = x[8:] {
		to, from := (*[8]T)(z[len(x)-8:len(x)]), (*[8]T)(x)
		to[7], to[6], to[5], to[4] = from[0], from[1], from[2], from[3]
		to[3], to[2], to[1], to[0] = from[4], from[5], from[6], from[7]
	}
	for i, v := range x {
		z[len(x)-1-i] = v
	}
}
