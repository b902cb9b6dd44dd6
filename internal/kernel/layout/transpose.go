package layout

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// Transposition says how a tensor's dimensions change places. It knows shapes
// only and may be kept and shared.
type Transposition struct {
	dims []moveDim // in the order of the result, merged where possible
	len  int
}

// transposeBlock rows and columns are exchanged at a time: both the lines
// read and the lines written stay in the first-level cache.
const transposeBlock = 16

// transposeRows and transposeCols are how much of a plane is worked on before
// what lies beside it.
const (
	transposeRows = 4 * transposeBlock
	transposeCols = 512
)

// NewTransposition plans a result whose dimension i is dimension perm[i] of
// the source.
func NewTransposition(shape, perm []int) *Transposition {
	t := &Transposition{len: kernel.Product(shape)}
	strides, step := Strides(shape), t.len
	for _, p := range perm {
		step /= max(1, shape[p])
		t.dims = pushDim(t.dims, moveDim{shape[p], strides[p], step})
	}
	return t
}

// Strides returns the row-major strides of a shape.
func Strides(shape []int) []int {
	return AppendStrides(make([]int, 0, len(shape)), shape)
}

// AppendStrides appends to dst what Strides returns.
func AppendStrides(dst, shape []int) []int {
	from := len(dst)
	dst = append(dst, shape...)
	stride := 1
	for i := len(dst) - 1; i >= from; i-- {
		dst[i], stride = stride, stride*dst[i]
	}
	return dst
}

// Transpose moves src to dst as t says.
func Transpose[T any](par kernel.Par, t *Transposition, dst, src []T) {
	switch {
	case t.len == 0:
	case len(t.dims) == 0 || t.dims[len(t.dims)-1].src == 1: // runs stay what they are
		moveDims(par, t.dims, dst, 0, src, 0)
	default:
		transposeBlocks(par, t, dst, src)
	}
}

// transposeBlocks exchanges the innermost dimension of the result with the
// innermost of the source, plane by plane.
func transposeBlocks[T any](par kernel.Par, t *Transposition, dst, src []T) {
	col := t.dims[len(t.dims)-1]
	var row moveDim
	var outer []moveDim
	planes := 1
	for _, d := range t.dims[:len(t.dims)-1] {
		if d.src == 1 {
			row = d
			continue
		}
		outer = append(outer, d)
		planes *= d.n
	}
	rows, cols := kernel.CeilDiv(row.n, transposeRows), kernel.CeilDiv(col.n, transposeCols)
	size := min(row.n, transposeRows) * min(col.n, transposeCols)
	par(planes*rows*cols, max(1, kernel.ElementGrain/size), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s, d := offsets(outer, i/(rows*cols))
			r, c := i/cols%rows*transposeRows, i%cols*transposeCols
			some, of := row, col
			some.n, of.n = min(transposeRows, row.n-r), min(transposeCols, col.n-c)
			transposePart(dst[d+r*row.dst+c:], src[s+r+c*col.src:], some, of)
		}
	})
}

// transposePart writes some rows and columns of the result, in pieces of as many
// columns as rows: a page of the source or of the result serves several lines
// before the next one is needed.
func transposePart[T any](dst, src []T, row, col moveDim) {
	for c := 0; c < col.n; c += transposeRows {
		of := col
		of.n = min(transposeRows, col.n-c)
		for r := 0; r < row.n; r += transposeBlock {
			strip := moveDim{n: min(transposeBlock, row.n-r), src: 1, dst: row.dst}
			transposeStrip(dst[r*row.dst+c:], src[r+c*col.src:], strip, of)
		}
	}
}

// offsets returns where index i of these dimensions lies in source and result.
func offsets(dims []moveDim, i int) (src, dst int) {
	for k := len(dims) - 1; k >= 0; k-- {
		d := dims[k]
		src += i % d.n * d.src
		dst += i % d.n * d.dst
		i /= d.n
	}
	return src, dst
}

// transposeStrip writes up to transposeBlock rows of the result, block by
// block.
func transposeStrip[T any](dst, src []T, row, col moveDim) {
	for c := transposeWords(dst, src, row, col); c < col.n; c += transposeBlock {
		w := min(transposeBlock, col.n-c)
		for r := range row.n {
			out := dst[r*row.dst+c:][:w]
			at := r + c*col.src
			for i := range out {
				out[i] = src[at]
				at += col.src
			}
		}
	}
}

// transposeWords writes as many columns as it returns, if elements have 4 bytes
// and rows fill vectors.
func transposeWords[T any](dst, src []T, row, col moveDim) (done int) {
	if unsafe.Sizeof(*new(T)) != 4 || row.n != transposeBlock || tiles.Transpose16 == nil {
		return 0
	}
	to, from := kernel.Words[float32](dst), kernel.Words[float32](src)
	for ; col.n-done >= transposeBlock; done += transposeBlock {
		_, _ = to[15*row.dst+done+15], from[15+(done+15)*col.src]
		tiles.Transpose16(&to[done], &from[done*col.src], row.dst, col.src)
	}
	return done
}
