package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// transposeTwin permutes by definition.
func transposeTwin[T any](src []T, shape, perm []int) []T {
	out := make([]int, len(shape))
	for i, p := range perm {
		out[i] = shape[p]
	}
	dst := make([]T, len(src))
	strides := Strides(shape)
	kerneltest.EachIndex(out, func(at int, index []int) {
		from := 0
		for i, p := range perm {
			from += index[i] * strides[p]
		}
		dst[at] = src[from]
	})
	return dst
}

func TestTranspose(t *testing.T) { kerneltest.EachLevel(t, testTranspose) }

func testTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := [][]int{{}, {5}, {1, 1}, {3, 4}, {40, 37}, {16, 16}, {33, 48}, {2, 32, 35}, {0, 3}, {2, 3, 4}, {1, 5, 1, 3}, {3, 20, 2, 17}, {2, 3, 2, 3, 2}}
	for _, shape := range shapes {
		for range 10 {
			perm := r.Perm(len(shape))
			src := make([]int32, kernel.Product(shape))
			for i := range src {
				src[i] = int32(i)
			}
			got := make([]int32, len(src))
			Transpose(kerneltest.Pieces, NewTransposition(shape, perm), got, src)
			if want := transposeTwin(src, shape, perm); !slices.Equal(got, want) {
				t.Errorf("%v permuted by %v: %v, want %v", shape, perm, got, want)
			}
		}
	}
}

func TestTranspositionMerges(t *testing.T) {
	for _, c := range []struct {
		shape, perm []int
		dims        int
	}{
		{[]int{2, 3, 4}, []int{0, 1, 2}, 1}, {[]int{2, 3, 4}, []int{1, 2, 0}, 2},
		{[]int{2, 1, 4}, []int{1, 0, 2}, 1}, {[]int{2, 3, 4}, []int{2, 1, 0}, 3},
	} {
		if got := NewTransposition(c.shape, c.perm); len(got.dims) != c.dims {
			t.Errorf("%v by %v: %d dimensions, want %d", c.shape, c.perm, len(got.dims), c.dims)
		}
	}
}

func TestCopyView(t *testing.T) {
	src := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} // 3×4
	for _, c := range []struct {
		name  string
		from  View
		shape []int
		want  string
	}{
		{"slice", View{5, []int{4, 1}}, []int{2, 2}, "[5 6 9 10]"},
		{"every other, backwards", View{11, []int{-8, -2}}, []int{2, 2}, "[11 9 3 1]"},
		{"column", View{2, []int{4}}, []int{3}, "[2 6 10]"},
		{"columns", View{2, []int{4, 1, 12}}, []int{3, 1, 1}, "[2 6 10]"},
		{"column, backwards", View{10, []int{-4, 9}}, []int{3, 1}, "[10 6 2]"},
		{"one element", View{6, []int{4, 1}}, []int{1, 1}, "[6]"},
		{"scalar", View{7, nil}, nil, "[7]"},
		{"repeated", View{1, []int{0, 1}}, []int{2, 2}, "[1 2 1 2]"},
		{"nothing", View{99, []int{4, 1}}, []int{0, 2}, "[]"},
	} {
		dst := make([]int, kernel.Product(c.shape))
		CopyView(kernel.Serial, dst, Dense(c.shape), src, c.from, c.shape)
		if fmt.Sprint(dst) != c.want {
			t.Errorf("%s: %v, want %v", c.name, dst, c.want)
		}
	}
}

// TestMoves compares views with random steps, of which some merge and some repeat, with
// what they are by definition, in pieces.
func TestMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		rank := r.IntN(6)
		shape, block, from := make([]int, rank), make([]int, rank), View{}
		for i := range rank {
			shape[i] = 1 + r.IntN([]int{3, 3, 12}[r.IntN(3)])
		}
		from.Steps = Strides(shape)
		for i, n := range shape {
			step, begin := 1+r.IntN(2)*r.IntN(2), r.IntN(2)*r.IntN(n)
			block[i] = kernel.CeilDiv(n-begin, step)
			if r.IntN(3) == 0 { // backwards
				begin, step = begin+(block[i]-1)*step, -step
			}
			from.Offset += begin * from.Steps[i]
			from.Steps[i] *= step * min(1, r.IntN(8))
		}
		src := make([]int32, kernel.Product(shape))
		for i := range src {
			src[i] = int32(i)
		}
		to, want := Dense(block), make([]int32, kernel.Product(block))
		kerneltest.EachIndex(block, func(at int, index []int) {
			s := from.Offset
			for i, k := range index {
				s += k * from.Steps[i]
			}
			want[at] = src[s]
		})
		moved := make([]int32, len(want))
		CopyView(kernel.Serial, moved, to, src, from, block)
		var dims []moveDim
		for i, n := range block {
			dims = pushDim(dims, moveDim{n, from.Steps[i], to.Steps[i]})
		}
		got := slices.Clone(moved)
		if len(dims) > 0 {
			clear(got)
			moveInParts(kerneltest.Backwards, dims, 0, from.Offset, func(d, s int, run, rows moveDim) { moveRun(got, d, src, s, run, rows) })
		}
		if !slices.Equal(moved, want) || !slices.Equal(got, want) {
			t.Fatalf("block %v from %v: %v and in parts %v, want %v", block, from, moved, got, want)
		}
		back := View{Steps: make([]int, rank)} // to where the block is in a tensor of twice the size
		for i, n := range Strides(block) {
			back.Steps[i] = 2 * n
		}
		wide := make([]int32, 2*len(want))
		CopyView(kernel.Serial, wide, back, want, to, block)
		for i, v := range want {
			if wide[2*i] != v {
				t.Fatalf("block %v spread: %v, want every other of %v", block, wide, want)
			}
		}
	}
}

// TestPad pads random shapes, some dimensions not at all and some empty ones.
func TestPad(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 500 {
		rank := r.IntN(5)
		shape, before, after, out := make([]int, rank), make([]int, rank), make([]int, rank), make([]int, rank)
		for i := range rank {
			shape[i], before[i], after[i] = r.IntN(4), max(0, r.IntN(5)-2), max(0, r.IntN(5)-2)
			out[i] = before[i] + shape[i] + after[i]
		}
		src := make([]int, kernel.Product(shape))
		for i := range src {
			src[i] = i
		}
		want, strides := make([]int, kernel.Product(out)), Strides(shape)
		kerneltest.EachIndex(out, func(at int, index []int) {
			from := 0
			for i, p := range index {
				if p -= before[i]; p < 0 || p >= shape[i] {
					want[at] = -1
					return
				}
				from += (index[i] - before[i]) * strides[i]
			}
			want[at] = src[from]
		})
		for _, par := range []kernel.Par{kernel.Serial, kerneltest.Backwards} {
			got := make([]int, len(want)+1)
			Pad(par, got, src, shape, before, after, -1)
			if !slices.Equal(got[:len(want)], want) || got[len(want)] != 0 {
				t.Fatalf("%v with %v before and %v after: %v, want %v", shape, before, after, got, want)
			}
		}
	}
}

func TestConcatAndSplit(t *testing.T) {
	a, b, c := []string{"a", "b", "c", "d"}, []string{}, []string{"e", "f"}
	widths := []int{2, 0, 1}
	dst := make([]string, 6)
	Concat(dst, [][]string{a, b, c}, 2, widths)
	if got := fmt.Sprint(dst); got != "[a b e c d f]" {
		t.Errorf("joined %v", got)
	}
	for lo := range dst {
		for hi := lo; hi <= len(dst); hi++ {
			part := make([]string, 6)
			ConcatPart(part, [][]string{a, b, c}, widths, lo, hi)
			want := append(append(make([]string, lo), dst[lo:hi]...), make([]string, 6-hi)...)
			if !slices.Equal(part, want) {
				t.Errorf("joined [%d, %d): %q, want %q", lo, hi, part, want)
			}
		}
	}
	parts := [][]string{make([]string, 4), nil, make([]string, 2)}
	Split(parts, dst, 2, widths)
	if !slices.Equal(parts[0], a) || !slices.Equal(parts[2], c) {
		t.Errorf("split %v", parts)
	}
}

func TestGather(t *testing.T) {
	src := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	dst := make([]int, 8)
	Gather(kerneltest.Pieces, dst, src, []int32{2, 0}, 2, 3, 2)
	if want := []int{4, 5, 0, 1, 10, 11, 6, 7}; !slices.Equal(dst, want) {
		t.Errorf("%v, want %v", dst, want)
	}
	for _, c := range []struct {
		idx  []int64
		want int
	}{{nil, -1}, {[]int64{0, 2}, -1}, {[]int64{0, 3, -1}, 1}, {[]int64{-1}, 0}, {[]int64{1 << 40}, 0}} {
		if got := BadIndex(c.idx, 3); got != c.want {
			t.Errorf("bad index of %v at %d, want %d", c.idx, got, c.want)
		}
	}
}

func TestScatter(t *testing.T) {
	idx := []int32{2, 0, -1, 2}
	src := []float32{1, 2, 3, 4, 100, 100, 5, 6}
	for name, c := range map[string]struct {
		loop func(dst, src []float32, idx []int32, inner int)
		want []float32
	}{
		"Add":    {ScatterAdd[float32, int32], []float32{13, 14, 10, 10, 16, 18}},
		"Sub":    {ScatterSub[float32, int32], []float32{7, 6, 10, 10, 4, 2}},
		"Mul":    {ScatterMul[float32, int32], []float32{30, 40, 10, 10, 50, 120}},
		"Div":    {ScatterDiv[float32, int32], []float32{10. / 3, 2.5, 10, 10, 2, 5. / 6}},
		"Max":    {ScatterMax[float32, int32], []float32{10, 10, 10, 10, 10, 10}},
		"Min":    {ScatterMin[float32, int32], []float32{3, 4, 10, 10, 1, 2}},
		"Update": {ScatterUpdate[float32, int32], []float32{3, 4, 10, 10, 5, 6}},
	} {
		dst := []float32{10, 10, 10, 10, 10, 10}
		c.loop(dst, src, idx, 2)
		if !slices.Equal(dst, c.want) {
			t.Errorf("%s: %v, want %v", name, dst, c.want)
		}
	}
	sums := []float32{7, 7, 7, 7, 7, 7}
	SegmentSum(sums, src, idx, 2)
	if want := []float32{3, 4, 0, 0, 6, 8}; !slices.Equal(sums, want) {
		t.Errorf("segments %v, want %v", sums, want)
	}
}
