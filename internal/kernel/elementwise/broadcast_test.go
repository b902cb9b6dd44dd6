package elementwise

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// indexOf returns the offset in a tensor of this shape of the element that
// broadcasting puts at an index of the result.
func indexOf(shape, index []int) int {
	off := 0
	for i, n := range shape {
		k := index[len(index)-len(shape)+i]
		if n == 1 {
			k = 0
		}
		off = off*n + k
	}
	return off
}

var broadcastShapes = []struct{ x, y, out []int }{
	{[]int{}, []int{}, []int{}},
	{[]int{5}, []int{5}, []int{5}},
	{[]int{5}, []int{}, []int{5}},
	{[]int{1}, []int{4}, []int{4}},
	{[]int{3, 4}, []int{4}, []int{3, 4}},
	{[]int{3, 1}, []int{3, 4}, []int{3, 4}},
	{[]int{3, 1}, []int{1, 4}, []int{3, 4}},
	{[]int{2, 3, 4}, []int{3, 1}, []int{2, 3, 4}},
	{[]int{300, 10}, []int{10}, []int{300, 10}},
	{[]int{300, 33}, []int{33}, []int{300, 33}},
	{[]int{128}, []int{90, 128}, []int{90, 128}},
	{[]int{7}, []int{90, 7}, []int{90, 7}},
	{[]int{5, 200}, []int{200}, []int{5, 200}},
	{[]int{2, 1, 4}, []int{3, 1}, []int{2, 3, 4}},
	{[]int{2, 3, 1, 5}, []int{1, 3, 4, 1}, []int{2, 3, 4, 5}},
	{[]int{1, 1, 1}, []int{2, 2}, []int{1, 2, 2}},
	{[]int{0, 3}, []int{3}, []int{0, 3}},
	{[]int{4, 1}, []int{1, 0}, []int{4, 0}},
	{[]int{7, 1, 600}, []int{7, 5, 1}, []int{7, 5, 600}},
}

func TestZipBroadcast(t *testing.T) {
	loops := map[string]Loops[int64, int64]{
		"all forms": SubLoops[int64](),
		"zip only":  {Zip: Sub[int64]},
	}
	for _, s := range broadcastShapes {
		b, ok := NewBroadcast(s.x, s.y)
		if !ok || !slices.Equal(b.Shape, s.out) {
			t.Fatalf("%v and %v broadcast to %v, %v; want %v", s.x, s.y, b, ok, s.out)
		}
		x, y := kerneltest.Counting[int64](kernel.Product(s.x)), kerneltest.Counting[int64](kernel.Product(s.y))
		kernel.Map(y, y, func(v int64) int64 { return v * 1000 })
		want := make([]int64, b.Len)
		kerneltest.EachIndex(s.out, func(at int, index []int) { want[at] = x[indexOf(s.x, index)] - y[indexOf(s.y, index)] })
		for name, l := range loops {
			got := make([]int64, b.Len)
			ZipBroadcast(kerneltest.Pieces, b, got, x, y, l)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v - %v is %v, want %v", name, s.x, s.y, got, want)
			}
		}
	}
}

func TestBroadcastRefuses(t *testing.T) {
	for _, s := range [][2][]int{{{2}, {3}}, {{2, 3}, {2}}, {{0}, {2}}, {{2, 2, 3}, {3, 1, 3}}} {
		if b, ok := NewBroadcast(s[0], s[1]); ok {
			t.Errorf("%v and %v broadcast to %v", s[0], s[1], b.Shape)
		}
	}
	for _, s := range [][2][]int{{{2}, {3}}, {{3}, {2, 3}}, {{1, 3}, {2, 3}}} {
		if _, ok := NewBroadcastTo(s[0], s[1]); ok {
			t.Errorf("%v broadcasts to %v", s[1], s[0])
		}
	}
}

func TestBroadcastMergesDimensions(t *testing.T) {
	for _, c := range []struct {
		x, y []int
		dims int
		same bool
	}{
		{[]int{2, 3, 4}, []int{2, 3, 4}, 1, true},
		{[]int{2, 3, 4}, []int{3, 4}, 2, false},
		{[]int{2, 3, 4}, []int{}, 1, false},
		{[]int{2, 1, 4}, []int{2, 1, 4}, 1, true},
		{[]int{2, 3, 1}, []int{2, 3, 4}, 2, false},
		{[]int{}, []int{}, 1, true},
	} {
		b, _ := NewBroadcast(c.x, c.y)
		if len(b.dims) != c.dims || b.Same() != c.same {
			t.Errorf("%v, %v: %d dimensions, same %v; want %d, %v", c.x, c.y, len(b.dims), b.Same(), c.dims, c.same)
		}
	}
}

func TestSelectBroadcast(t *testing.T) {
	for _, s := range [][3][]int{
		{{3, 4}, {3, 4}, {3, 4}}, {{3, 1}, {3, 4}, {}}, {{}, {2, 3}, {3}}, {{4}, {2, 1, 1}, {3, 1}}, {{2, 1}, {}, {}},
		{{5, 1}, {5, 3}, {5, 3}}, {{4, 1}, {3}, {4, 3}}, {{4, 1}, {4, 1}, {4, 3}}, {{2, 1, 1}, {2, 1, 3}, {1, 4, 1}}, {{0, 1}, {0, 3}, {3}},
	} {
		b, _ := NewBroadcast(s[0], s[1], s[2])
		c := make([]bool, kernel.Product(s[0]))
		for i := range c {
			c[i] = i%3 != 1
		}
		x, y := kerneltest.Counting[int32](kernel.Product(s[1])), kerneltest.Counting[int32](kernel.Product(s[2]))
		kernel.Map(y, y, func(v int32) int32 { return -v })
		want := make([]int32, b.Len)
		kerneltest.EachIndex(b.Shape, func(at int, index []int) {
			want[at] = y[indexOf(s[2], index)]
			if c[indexOf(s[0], index)] {
				want[at] = x[indexOf(s[1], index)]
			}
		})
		got := make([]int32, b.Len)
		SelectBroadcast(kerneltest.Pieces, b, got, c, x, y)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", s, got, want)
		}
		if len(y) != len(want) {
			continue
		}
		if SelectBroadcast(kerneltest.Pieces, b, y, c, x, y); !slices.Equal(y, want) {
			t.Errorf("%v in place of the last: %v, want %v", s, y, want)
		}
	}
}

func TestWidenedBroadcast(t *testing.T) {
	b, _ := NewBroadcast([]int{3}, []int{})
	x, y := []numeric.Half{numeric.HalfFromFloat32(1), numeric.HalfFromFloat32(2), numeric.HalfFromFloat32(3)}, []numeric.Half{numeric.HalfFromFloat32(2)}
	z := make([]numeric.Half, 3)
	ZipBroadcast(kernel.Serial, b, z, x, y, WidenLoops[numeric.Half](DivLoops[float32]()))
	for i, want := range []float32{0.5, 1, 1.5} {
		if z[i].Float32() != want {
			t.Errorf("quotient %d is %v, want %v", i, z[i].Float32(), want)
		}
	}
	less := make([]bool, 3)
	ZipBroadcast(kernel.Serial, b, less, x, y, WidenLoopsTo[bool, numeric.Half](Loops[bool, float32]{Zip: Less[float32]}))
	if want := []bool{true, false, false}; !slices.Equal(less, want) {
		t.Errorf("%v, want %v", less, want)
	}
}

func TestSmallBroadcastsAllocateLittle(t *testing.T) {
	x, y, z := make([]float32, 64), make([]float32, 64), make([]float32, 64)
	l := AddLoops[float32]()
	for _, c := range []struct {
		x, y []int
		most float64
	}{{[]int{64}, []int{64}, 0}, {[]int{2, 32}, []int{32}, 2}, {[]int{8, 8}, []int{}, 2}} {
		b, _ := NewBroadcast(c.x, c.y)
		if got := testing.AllocsPerRun(100, func() { ZipBroadcast(kernel.Serial, b, z, x, y, l) }); got > c.most {
			t.Errorf("%v and %v: %v allocations, want at most %v", c.x, c.y, got, c.most)
		}
	}
}

// TestBroadcastAt: what a place is computed of is what a walk to it arrives at, and rows are kept
// where walks go on along them.
func TestBroadcastAt(t *testing.T) {
	for _, c := range []struct {
		out, shape []int
		kept       []int
		lost       []int
	}{
		{[]int{2, 3, 4}, []int{2, 3, 4}, []int{1, 4, 12, 24}, []int{5}},
		{[]int{2, 3, 4}, []int{2, 1, 4}, []int{1, 2, 4}, []int{3, 12}},
		{[]int{2, 3, 4}, []int{1, 3, 4}, []int{4, 6, 12}, []int{24}},
		{[]int{2, 3, 4}, []int{3, 1}, nil, []int{4, 1, 12}},
		{[]int{1, 1}, []int{}, nil, []int{1}},
	} {
		b, ok := NewBroadcastTo(c.out, c.shape)
		if !ok {
			t.Fatal(c)
		}
		step := b.Inner()[0]
		b.Runs(0, b.Len, func(z int, off []int, n int) {
			for i := range n {
				if got := b.At(z + i); got != off[0]+i*step {
					t.Errorf("%v: place %d is %d, want %d", c, z+i, got, off[0]+i*step)
				}
			}
		})
		for _, n := range c.kept {
			if !b.KeepsRows(n) {
				t.Errorf("%v does not keep rows of %d", c, n)
			}
			for r := range b.Len / n {
				stride, left := b.RowStride(r, n)
				for i := range left {
					if got, want := b.At(r*n)+i*stride, b.At((r+i)*n); got != want {
						t.Errorf("%v: row %d of %d is at %d, want %d", c, r+i, n, got, want)
					}
				}
			}
		}
		for _, n := range c.lost {
			if b.KeepsRows(n) {
				t.Errorf("%v keeps rows of %d", c, n)
			}
		}
	}
}
