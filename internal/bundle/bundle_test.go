package bundle

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func tensor[T core.Elem](t testing.TB, data []T, shape ...int) *core.Tensor {
	t.Helper()
	if shape == nil {
		shape = []int{len(data)}
	}
	x, err := core.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// count returns the numbers from 0 on in a tensor.
func count[T float32 | int64](t testing.TB, shape ...int) *core.Tensor {
	data := make([]T, core.Shape(shape).NumElements())
	for i := range data {
		data[i] = T(i)
	}
	return tensor(t, data, shape...)
}

func same(a, b *core.Tensor) bool {
	return a.DType() == b.DType() && a.Shape().Equal(b.Shape()) && a.String() == b.String() &&
		(a.Buffer() == nil || bytes.Equal(a.Buffer().Bytes()[:a.NumBytes()], b.Buffer().Bytes()[:b.NumBytes()])) &&
		(a.DType() != core.String || slices.Equal(core.Data[string](a), core.Data[string](b)))
}

// A saved is what golden.py saves: a tensor, or a slice of one.
type saved struct {
	name, spec string
	value      *core.Tensor
}

func goldenTensors(t testing.TB) []saved {
	return []saved{
		{"matrix", "", count[float32](t, 4, 3)},
		{"strings", "", tensor(t, []string{"a", "", strings.Repeat("long", 50), "\u00ff"}, 2, 2)},
		{"no strings", "", tensor(t, []string{})},
		{"scalar", "", core.Scalar(0.5)},
		{"empty", "", tensor(t, []int32{}, 0, 3)},
		{"half", "", tensor(t, []core.Half{0x3c00, 0xc000})},
		{"bool", "", tensor(t, []bool{true, false})},
		{"complex", "", tensor(t, []complex64{1 + 2i})},
		{"parts", "4 300 0,1:-", count[int64](t, 1, 300)},
		{"parts", "4 300 1,3:0,100", count[int64](t, 3, 100)},
		{"parts", "4 300 1,3:100,200", count[int64](t, 3, 200)},
	}
}

func goldenSlices(t testing.TB) []saved {
	return []saved{
		{"matrix", "4 3 0,1:-", tensor(t, []float32{0, 1, 2}, 1, 3)},
		{"matrix", "4 3 1,3:-", tensor(t, []float32{3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 3)},
		{"strings", "", tensor(t, []string{"x", "yz"})},
		{"int8", "", tensor(t, []int8{-1, 2}, 2, 1)},
		{"complex", "", tensor(t, []complex128{1 + 2i})},
	}
}

func save(t testing.TB, prefix string, tensors []saved) {
	t.Helper()
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, s := range tensors {
		if err := add(w, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

func add(w *Writer, s saved) error {
	if s.spec == "" {
		return w.Add(s.name, s.value)
	}
	full, at, _, err := ParseSlice(s.spec)
	if err != nil {
		return err
	}
	return w.AddSlice(s.name, full, at, s.value)
}

func saveSlices(t testing.TB, name string, tensors []saved) {
	t.Helper()
	w := CreateSlices(name)
	for _, s := range tensors {
		full, at := s.value.Shape(), Whole(s.value.Rank())
		if s.spec != "" {
			full, at, _, _ = ParseSlice(s.spec)
		}
		if err := w.Add(s.name, full, at, s.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

// sameFile compares a file with one that TensorFlow has written.
func sameFile(t *testing.T, name, golden string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", golden))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes differ from TensorFlow's %d:\n%x\n%x", golden, len(got), len(want), got, want)
	}
}

func TestWritesAsTensorFlow(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "new", "whole")
	save(t, prefix, goldenTensors(t))
	sameFile(t, prefix+".index", "whole.index")
	sameFile(t, prefix+".data-00000-of-00001", "whole.data-00000-of-00001")
	saveSlices(t, filepath.Join(dir, "slices"), goldenSlices(t))
	sameFile(t, filepath.Join(dir, "slices"), "slices")
	left, err := filepath.Glob(filepath.Join(dir, "*", "*tempstate*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestReadsTensorFlows(t *testing.T) {
	r, err := Open("testdata/whole")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range goldenTensors(t) {
		got, err := read(r, s)
		if err != nil {
			t.Fatal(s.name, err)
		}
		if !same(got, s.value) {
			t.Errorf("%s %s is %v, want %v", s.name, s.spec, got, s.value)
		}
	}
	keys, err := r.Keys()
	if want := []string{"bool", "complex", "empty", "half", "matrix", "no strings", "parts", "scalar", "strings"}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("keys %q (%v)", keys, err)
	}
	e, err := r.Entry("parts")
	if err != nil || e.DType != core.Int64 || !e.Shape.Equal(core.Shape{4, 300}) || len(e.Slices) != 3 || e.Slices[1].String() != "1,3:0,100" {
		t.Errorf("%+v %v", e, err)
	}
}

func read(r *Reader, s saved) (*core.Tensor, error) {
	if s.spec == "" {
		return r.Lookup(s.name)
	}
	_, at, _, err := ParseSlice(s.spec)
	if err != nil {
		return nil, err
	}
	return r.LookupSlice(s.name, at)
}

func TestReadsTensorFlowsSlices(t *testing.T) {
	r, err := OpenSlices("testdata/slice?")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range goldenSlices(t) {
		at := Whole(s.value.Rank())
		if s.spec != "" {
			_, at, _, _ = ParseSlice(s.spec)
		}
		got, err := r.LookupSlice(s.name, at)
		if err != nil || !same(got, s.value) {
			t.Errorf("%s: %v, want %v (%v)", s.name, got, s.value, err)
		}
	}
	got, err := r.LookupSlice("matrix", Slice{{0, 3}, {1, 2}})
	if err != nil || !same(got, tensor(t, []float32{1, 2, 4, 5, 7, 8}, 3, 2)) {
		t.Error(got, err)
	}
	if e := r.Entry("matrix"); e == nil || len(e.Slices) != 2 || r.Entry("none") != nil {
		t.Errorf("%+v", e)
	}
}

// TestRanges reads every slice of a tensor that is stored in tiles.
func TestRanges(t *testing.T) {
	full := count[float32](t, 4, 5)
	prefix := filepath.Join(t.TempDir(), "p")
	var tiles []saved
	for _, spec := range []string{"4 5 0,1:-", "4 5 1,3:0,2", "4 5 1,2:2,3", "4 5 3,1:2,3"} {
		_, at, _, _ := ParseSlice(spec)
		tiles = append(tiles, saved{"x", spec, cut(t, full, at)})
	}
	words := []saved{{"w", "3 0,2", tensor(t, []string{"a", "b"})}, {"w", "3 2,1", tensor(t, []string{"c"})}}
	save(t, prefix, slices.Concat(tiles, words, []saved{{"whole", "", full}}))
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for row := range int64(4) {
		for col := range int64(5) {
			at := Slice{{row, 4 - row}, {col / 2, 5 - col}}
			for _, name := range []string{"x", "whole"} {
				if got, err := r.LookupSlice(name, at); err != nil || !same(got, cut(t, full, at)) {
					t.Errorf("%s %s is %v, want %v (%v)", name, at, got, cut(t, full, at), err)
				}
			}
		}
	}
	if got, err := r.LookupSlice("w", Slice{{1, 2}}); err != nil || !same(got, tensor(t, []string{"b", "c"})) {
		t.Error(got, err)
	}
}

// cut returns a slice of a matrix, element by element.
func cut(t *testing.T, m *core.Tensor, s Slice) *core.Tensor {
	shape, err := s.Shape(m.Shape())
	if err != nil {
		t.Fatal(err)
	}
	out := core.NewTensor(core.Float32, shape)
	for i := range shape[0] {
		for k := range shape[1] {
			core.Data[float32](out)[i*shape[1]+k] = core.Data[float32](m)[(i+s.start(0))*m.Dim(1)+k+s.start(1)]
		}
	}
	return out
}

// TestLarge is about values that are larger than buffers and blocks.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	big := count[float32](t, 3, 1<<18)
	all := []saved{{"a", "", big}, {"b", "", tensor(t, []string{strings.Repeat("x", 3<<20)})}, {"c", "", big}}
	save(t, filepath.Join(dir, "p"), all)
	saveSlices(t, filepath.Join(dir, "s"), all)
	r, err := Open(filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := OpenSlices(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range all {
		if got, err := r.Lookup(want.name); err != nil || !same(got, want.value) {
			t.Errorf("%s in a bundle: %v", want.name, err)
		}
		if got, err := s.LookupSlice(want.name, Whole(want.value.Rank())); err != nil || !same(got, want.value) {
			t.Errorf("%s in a slice file: %v", want.name, err)
		}
	}
}

// TestAllTypes saves and reads every type in both formats.
func TestAllTypes(t *testing.T) {
	dir := t.TempDir()
	for d := core.DType(1); d < 100; d++ {
		if d.Size() == 0 {
			continue
		}
		x := core.NewTensor(d, core.Shape{2, 3})
		for i := range x.Buffer().Bytes() {
			x.Buffer().Bytes()[i] = byte(i & 1)
		}
		save(t, filepath.Join(dir, d.String()), []saved{{"x", "", x}})
		r, err := Open(filepath.Join(dir, d.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.Lookup("x"); err != nil || !same(got, x) {
			t.Errorf("%v: %v %v", d, got, err)
		}
		r.Close()
		if listers[d] == nil {
			continue
		}
		saveSlices(t, filepath.Join(dir, "s"+d.String()), []saved{{"x", "", x}})
		s, err := OpenSlices(filepath.Join(dir, "s"+d.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.LookupSlice("x", Whole(2)); err != nil || !same(got, x) {
			t.Errorf("slices of %v: %v %v", d, got, err)
		}
		s.Close()
	}
}

// TestKeys has the examples that the format's description gives.
func TestKeys(t *testing.T) {
	for v, want := range map[int64]string{
		0: "\x80", 1: "\x81", -1: "\x7f", 63: "\xbf", -64: "\x40", 64: "\xc0\x40", -65: "\x3f\xbf", 8191: "\xdf\xff", 8192: "\xe0\x20\x00",
		math.MaxInt64: "\xff\xc0\x7f\xff\xff\xff\xff\xff\xff\xff", math.MinInt64: "\x00\x3f\x80\x00\x00\x00\x00\x00\x00\x00",
	} {
		if got := orderedInt(nil, v); string(got) != want {
			t.Errorf("%d is %x, want %x", v, got, want)
		}
	}
	if got, want := (Slice{{2, 100}, whole}).key("a\x00\xff"), "\x00a\x00\xff\xff\x00\x00\x01\x01\x02\x82\xc0\x64\x80\x7f"; got != want {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestBoolsOfOthers: of the bytes that another program has written every one but 0 is true,
// which is 1.
func TestBoolsOfOthers(t *testing.T) {
	v := core.NewTensor(core.Bool, core.Shape{4})
	copy(v.Buffer().Bytes(), "\x00\x01\x02\xff")
	prefix := filepath.Join(t.TempDir(), "p")
	save(t, prefix, []saved{{"v", "", v}})
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.Lookup("v")
	if err != nil {
		t.Fatal(err)
	}
	if b := got.Buffer().Bytes(); string(b[:4]) != "\x00\x01\x01\x01" {
		t.Errorf("the bytes are %v", b)
	}
}
