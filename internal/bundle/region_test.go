package bundle

import (
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// stored writes a tensor of a shape in slices of rows, or of columns, and returns it and a
// reader. Boundaries are random.
func stored(t *testing.T, r *rand.Rand, dim int, shape ...int) (*core.Tensor, *Reader) {
	t.Helper()
	full := core.NewTensor(core.Float32, shape)
	for i := range core.Data[float32](full) {
		core.Data[float32](full)[i] = float32(i)
	}
	prefix := filepath.Join(t.TempDir(), "p")
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < shape[dim]; {
		n := 1 + r.IntN(shape[dim]-at)
		s := Whole(len(shape))
		s[dim] = Extent{int64(at), int64(n)}
		if err := w.AddSlice("x", shape, s, boxOf(full, s)); err != nil {
			t.Fatal(err)
		}
		at += n
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	return full, reader
}

// boxOf is the plain way to take a slice of a tensor: element by element.
func boxOf(full *core.Tensor, s Slice) *core.Tensor {
	shape, _ := s.Shape(full.Shape())
	out := core.NewTensor(core.Float32, shape)
	index := make([]int, len(shape))
	for i := range core.Data[float32](out) {
		at := 0
		for k, n := range full.Shape() {
			at = at*n + s.start(k) + index[k]
		}
		core.Data[float32](out)[i] = core.Data[float32](full)[at]
		for k := len(shape) - 1; k >= 0; k-- {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return out
}

// TestRowsInPlace: random slices of tensors that are stored by rows, which are read to
// where they belong, or by columns, which are copied there, are as the plain way has them.
func TestRowsInPlace(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 3))
		shape := []int{1 + r.IntN(8), 1 + r.IntN(6), 1 + r.IntN(4)}
		full, reader := stored(t, r, r.IntN(2), shape...)
		for range 20 {
			s := Whole(3)
			for k, n := range shape {
				if r.IntN(2) == 0 {
					at := r.IntN(n)
					s[k] = Extent{int64(at), int64(1 + r.IntN(n-at))}
				}
			}
			got, err := reader.LookupSlice("x", s)
			if want := boxOf(full, s); err != nil || !slices.Equal(core.Data[float32](got), core.Data[float32](want)) || !got.Shape().Equal(want.Shape()) {
				t.Fatalf("seed %d, %v of %v: %v, want %v", seed, s, shape, got, want)
			}
		}
	}
}

// TestRowsTakeNoMore: a tensor that is stored by rows takes its own memory and little more.
func TestRowsTakeNoMore(t *testing.T) {
	_, reader := stored(t, rand.New(rand.NewPCG(1, 1)), 0, 64, 1<<16)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := reader.Lookup("x")
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took, has := int(after.TotalAlloc-before.TotalAlloc), got.NumBytes(); took > has+has/4 {
		t.Errorf("%d bytes were allocated for %d", took, has)
	}
}
