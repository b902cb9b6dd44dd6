package lookup

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A bench runs the kernels of tables on one device.
type bench struct {
	t    *testing.T
	step core.Step
}

func newBench(t *testing.T) *bench {
	return &bench{t: t, step: core.Step{Context: context.Background(), Resources: resource.NewManager("localhost")}}
}

// run runs one op. Inputs are tensors or references.
func (b *bench) run(op string, attrs core.Attrs, in ...any) ([]core.Slot, error) {
	b.t.Helper()
	n, err := core.NewNode("node", op, attrs)
	if err != nil {
		b.t.Fatal(err)
	}
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := find(n)
	if err != nil {
		return nil, err
	}
	c := &core.OpContext{Step: &b.step, Node: n, Out: make([]core.Slot, len(n.OutTypes))}
	for _, x := range in {
		switch x := x.(type) {
		case *core.Tensor:
			c.In = append(c.In, core.Slot{T: x})
		case core.Slot:
			c.In = append(c.In, x)
		}
	}
	err = k.(core.Compute)(c)
	return c.Out, err
}

func (b *bench) must(op string, attrs core.Attrs, in ...any) []core.Slot {
	b.t.Helper()
	out, err := b.run(op, attrs, in...)
	if err != nil {
		b.t.Fatalf("%s: %v", op, err)
	}
	return out
}

// fails checks an error's code and words.
func (b *bench) fails(code tf.Code, words, op string, attrs core.Attrs, in ...any) {
	b.t.Helper()
	_, err := b.run(op, attrs, in...)
	if tf.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		b.t.Errorf("%s: %v, want %v: %s", op, err, code, words)
	}
}

func vec[T tf.Elem](v ...T) *core.Tensor {
	t, err := core.FromSlice(v)
	if err != nil {
		panic(err)
	}
	return t
}

func mat[T tf.Elem](n int, v ...T) *core.Tensor {
	t, err := core.FromSlice(v, len(v)/n, n)
	if err != nil {
		panic(err)
	}
	return t
}

func kv(k, v tf.DType) core.Attrs { return core.Attrs{"key_dtype": k, "value_dtype": v} }

func inOut(k, v tf.DType) core.Attrs { return core.Attrs{"Tin": k, "Tout": v} }

func expect[T tf.Elem](t *testing.T, what string, got *core.Tensor, want ...T) {
	t.Helper()
	if v, err := core.Values[T](got); err != nil || !slices.Equal(v, want) {
		t.Errorf("%s: %v, want %v (%v)", what, got, want, err)
	}
}

func TestHashTable(t *testing.T) {
	b := newBench(t)
	for _, op := range []string{"HashTable", "HashTableV2", "AnonymousHashTable"} {
		suffix := "V2"
		if op == "HashTable" {
			suffix = ""
		}
		h := b.must(op, kv(tf.String, tf.Int64))[0]
		find := "LookupTableFind" + suffix
		b.fails(tf.FailedPrecondition, "Table not initialized.", find, inOut(tf.String, tf.Int64), h, vec("a"), core.Scalar(int64(-1)))
		pair := core.Attrs{"Tkey": tf.String, "Tval": tf.Int64}
		b.must("InitializeTable"+suffix, pair, h, vec("a", "b", "a"), vec[int64](1, 2, 1))
		got := b.must(find, inOut(tf.String, tf.Int64), h, mat(2, "b", "x", "a", ""), core.Scalar(int64(-1)))[0].T
		expect[int64](t, op, got, 2, -1, 1, -1)
		if !got.Shape().Equal(tf.Shape{2, 2}) {
			t.Errorf("shape %v", got.Shape())
		}
		expect[int64](t, "size", b.must("LookupTableSize"+suffix, nil, h)[0].T, 2)
		out := b.must("LookupTableExport"+suffix, core.Attrs{"Tkeys": tf.String, "Tvalues": tf.Int64}, h)
		expect(t, "keys", out[0].T, "a", "b")
		expect[int64](t, "values", out[1].T, 1, 2)
		b.must("InitializeTable"+suffix, pair, h, vec("b", "a"), vec[int64](2, 1)) // the same once more
		b.fails(tf.FailedPrecondition, "Table was already initialized with different data.", "InitializeTable"+suffix, pair, h, vec("b"), vec[int64](3))
		b.fails(tf.Unimplemented, "Insert not supported by InitializableLookupTable implementations", "LookupTableInsert"+suffix, inOut(tf.String, tf.Int64), h, vec("b"), vec[int64](3))
		b.fails(tf.InvalidArgument, "Signature mismatch, have: ", find, inOut(tf.Int64, tf.Int64), h, vec[int64](1), core.Scalar(int64(-1)))
	}
}

func TestHashTableConflict(t *testing.T) {
	b := newBench(t)
	h := b.must("HashTableV2", kv(tf.String, tf.Int64))[0]
	b.fails(tf.InvalidArgument, "keys and values cannot be empty tensors.",
		"InitializeTableV2", core.Attrs{"Tkey": tf.String, "Tval": tf.Int64}, h, core.NewTensor(tf.String, tf.Shape{0}), core.NewTensor(tf.Int64, tf.Shape{0}))
	b.fails(tf.FailedPrecondition, "HashTable has different value for same key. Key a has 1 and trying to add value 2",
		"InitializeTableV2", core.Attrs{"Tkey": tf.String, "Tval": tf.Int64}, h, vec("a", "a"), vec[int64](1, 2))
}

func TestSharing(t *testing.T) {
	b := newBench(t)
	shared := func(k tf.DType) core.Attrs {
		return core.Attrs{"key_dtype": k, "value_dtype": tf.Int64, "shared_name": "s"}
	}
	h1, h2 := b.must("MutableHashTableV2", shared(tf.String))[0], b.must("MutableHashTableV2", shared(tf.String))[0]
	b.must("LookupTableInsertV2", inOut(tf.String, tf.Int64), h1, vec("a"), vec[int64](1))
	expect[int64](t, "shared", b.must("LookupTableSizeV2", nil, h2)[0].T, 1)
	b.fails(tf.InvalidArgument, "Conflicting key/value dtypes int64->int64 with string-int64 for table s", "MutableHashTableV2", shared(tf.Int64))
	own := b.must("MutableHashTableV2", kv(tf.String, tf.Int64))[0]
	expect[int64](t, "own", b.must("LookupTableSizeV2", nil, own)[0].T, 0)
	b.fails(tf.NotFound, "No OpKernel was registered", "HashTableV2", kv(tf.Float32, tf.Int64))
	b.fails(tf.InvalidArgument, "is not initializable", "InitializeTableV2", core.Attrs{"Tkey": tf.String, "Tval": tf.Int64}, own, vec("a"), vec[int64](1))
}

func TestMutableHashTable(t *testing.T) {
	b := newBench(t)
	h := b.must("MutableHashTableV2", kv(tf.Int64, tf.Float32))[0]
	io := inOut(tf.Int64, tf.Float32)
	b.must("LookupTableInsertV2", io, h, vec[int64](1, 2, 3, 2), vec[float32](10, 20, 30, 25))
	b.must("LookupTableRemoveV2", core.Attrs{"Tin": tf.Int64}, h, vec[int64](1, 9))
	find := func(def *core.Tensor) *core.Tensor {
		return b.must("LookupTableFindV2", io, h, vec[int64](1, 2, 3), def)[0].T
	}
	expect[float32](t, "found", find(core.Scalar(float32(-1))), -1, 25, 30)
	expect[float32](t, "a default each", find(vec[float32](5, 6, 7)), 5, 25, 30)
	b.fails(tf.InvalidArgument, "Expected shape [] or [3] for default value, got [2]", "LookupTableFindV2", io, h, vec[int64](1, 2, 3), vec[float32](5, 6))
	b.fails(tf.InvalidArgument, "Expected shape [2] for value, got [1]", "LookupTableInsertV2", io, h, vec[int64](1, 2), vec[float32](5))
	b.must("LookupTableImportV2", io, h, vec[int64](7), vec[float32](70))
	out := b.must("LookupTableExportV2", core.Attrs{"Tkeys": tf.Int64, "Tvalues": tf.Float32}, h)
	expect[int64](t, "keys", out[0].T, 7)
	expect[float32](t, "values", out[1].T, 70)
}

func TestTableOfTensors(t *testing.T) {
	b := newBench(t)
	attrs := kv(tf.String, tf.Int64)
	attrs["value_shape"] = tf.Shape{2}
	h := b.must("MutableHashTableOfTensorsV2", attrs)[0]
	io := inOut(tf.String, tf.Int64)
	b.must("LookupTableInsertV2", io, h, vec("a", "b"), mat[int64](2, 1, 2, 3, 4))
	got := b.must("LookupTableFindV2", io, h, vec("b", "x"), vec[int64](-1, -2))[0].T
	expect[int64](t, "vectors", got, 3, 4, -1, -2)
	b.fails(tf.InvalidArgument, "Default value must be a vector, got shape []", "MutableHashTableOfTensorsV2", kv(tf.String, tf.Int64))
}

func TestDenseTable(t *testing.T) {
	b := newBench(t)
	attrs := func() core.Attrs {
		a := kv(tf.Int64, tf.Int64)
		a["initial_num_buckets"] = int64(4)
		return a
	}
	h := b.must("MutableDenseHashTableV2", attrs(), core.Scalar(int64(0)), core.Scalar(int64(-1)))[0]
	io := inOut(tf.Int64, tf.Int64)
	b.must("LookupTableInsertV2", io, h, vec[int64](11, 12, 13), vec[int64](1, 2, 3))
	export := core.Attrs{"Tkeys": tf.Int64, "Tvalues": tf.Int64}
	out := b.must("LookupTableExportV2", export, h)
	expect[int64](t, "buckets", out[0].T, 12, 13, 0, 11) // 12 and 13 mod 4, and 11
	expect[int64](t, "values", out[1].T, 2, 3, 0, 1)
	b.must("LookupTableRemoveV2", core.Attrs{"Tin": tf.Int64}, h, vec[int64](12, 99))
	b.must("LookupTableInsertV2", io, h, vec[int64](15, 16), vec[int64](5, 6))
	got := b.must("LookupTableFindV2", io, h, vec[int64](11, 12, 13, 15, 16), core.Scalar(int64(-1)))[0].T
	expect[int64](t, "found", got, 1, -1, 3, 5, 6)
	expect[int64](t, "size", b.must("LookupTableSizeV2", nil, h)[0].T, 4)
	b.fails(tf.InvalidArgument, "Using the empty_key as a table key is not allowed", "LookupTableFindV2", io, h, vec[int64](0), core.Scalar(int64(-1)))
	b.fails(tf.InvalidArgument, "Using the deleted_key as a table key is not allowed", "LookupTableInsertV2", io, h, vec[int64](-1), vec[int64](-1))
	b.fails(tf.InvalidArgument, "Expected key shape [2] got [2,2]", "LookupTableFindV2", io, h, mat[int64](2, 1, 2, 3, 4), core.Scalar(int64(-1)))
	bad := attrs()
	bad["initial_num_buckets"] = int64(12)
	b.fails(tf.InvalidArgument, "Number of buckets must be at least 4 and a power of 2, got: 12", "MutableDenseHashTableV2", bad, core.Scalar(int64(0)), core.Scalar(int64(-1)))
	b.fails(tf.InvalidArgument, "Empty and deleted keys cannot be equal", "MutableDenseHashTableV2", attrs(), core.Scalar(int64(0)), core.Scalar(int64(0)))
}

func TestDenseTableOfVectors(t *testing.T) {
	b := newBench(t)
	attrs := kv(tf.Int64, tf.Int64)
	attrs["value_shape"] = tf.Shape{3}
	attrs["initial_num_buckets"] = int64(8)
	h := b.must("MutableDenseHashTableV2", attrs, vec[int64](0, 0), vec[int64](-1, 0))[0]
	io := inOut(tf.Int64, tf.Int64)
	b.must("LookupTableInsertV2", io, h, mat[int64](2, 1, 2, 3, 4), mat[int64](3, 1, 2, 3, 4, 5, 6))
	got := b.must("LookupTableFindV2", io, h, mat[int64](2, 3, 4, 4, 3), vec[int64](7, 8, 9))[0].T
	expect[int64](t, "found", got, 4, 5, 6, 7, 8, 9)
	b.fails(tf.InvalidArgument, "must end with the table's key shape [2]", "LookupTableFindV2", io, h, vec[int64](3, 4, 5), vec[int64](7, 8, 9))
}

func TestTextFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vocab")
	if err := os.WriteFile(path, []byte("brain\t1\r\nsalad\t2\nsurgery\t3\n\r"), 0o600); err != nil {
		t.Fatal(err)
	}
	attrs := func(k, v, size int64) core.Attrs {
		return core.Attrs{"key_index": k, "value_index": v, "vocab_size": size}
	}
	load := func(k, v tf.DType, a core.Attrs, name string) ([]core.Slot, error) {
		b := newBench(t)
		h := b.must("HashTableV2", kv(k, v))[0]
		if _, err := b.run("InitializeTableFromTextFileV2", a, h, core.Scalar(name)); err != nil {
			return nil, err
		}
		return b.run("LookupTableExportV2", core.Attrs{"Tkeys": k, "Tvalues": v}, h)
	}
	out, err := load(tf.String, tf.Int64, attrs(0, 1, -1), path)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "words", out[0].T, "brain", "salad", "surgery")
	expect[int64](t, "fields", out[1].T, 1, 2, 3)
	if out, err = load(tf.Int64, tf.String, attrs(LineNumber, WholeLine, 2), path); err != nil {
		t.Fatal(err)
	}
	expect[int64](t, "lines", out[0].T, 0, 1)
	expect(t, "whole", out[1].T, "brain\t1", "salad\t2")
	for _, c := range []struct {
		k, v  tf.DType
		attrs core.Attrs
		path  string
		code  tf.Code
		words string
	}{
		{tf.String, tf.Int64, attrs(WholeLine, LineNumber, 4), path, tf.InvalidArgument, "Invalid vocab_size in " + path + ": expected 4 but got 3"},
		{tf.String, tf.Int64, attrs(0, 2, -1), path, tf.InvalidArgument, "expected at least 3 got 2"},
		{tf.String, tf.Int64, attrs(1, 0, -1), path, tf.InvalidArgument, "Field brain in line 0 is not a valid int64."},
		{tf.String, tf.Int64, attrs(LineNumber, 0, -1), path, tf.InvalidArgument, "Key index for line number requires table key dtype of int64, got string"},
		{tf.String, tf.Int64, attrs(0, 1, -1), path + "?", tf.NotFound, path + "?; No such file or directory"},
		{tf.String, tf.Int64, attrs(0, 1, -1), path + "/x", tf.FailedPrecondition, path + "/x; Not a directory"},
		{tf.String, tf.Int64, attrs(0, 1, -1), filepath.Dir(path), tf.FailedPrecondition, filepath.Dir(path) + "; Is a directory"},
		{tf.String, tf.Int64, attrs(0, 1, -1), path + strings.Repeat("x", 300), tf.InvalidArgument, "; File name too long"},
		{tf.String, tf.Int64, attrs(0, 1, -1), "", tf.InvalidArgument, "filename cannot be empty."},
		{tf.String, tf.Int64, attrs(WholeLine, LineNumber, -1), os.DevNull, tf.OutOfRange, "Read less bytes than requested"},
		{tf.String, tf.Int64, attrs(WholeLine, LineNumber, 1), os.DevNull, tf.InvalidArgument, "expected 1 but got 0"},
	} {
		if _, err := load(c.k, c.v, c.attrs, c.path); tf.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: %v, want %v: %s", c.attrs, err, c.code, c.words)
		}
	}
}

// TestHashTableOfNaN: to fill a table again with the same contents changes nothing, NaN
// among them.
func TestHashTableOfNaN(t *testing.T) {
	b := newBench(t)
	h := b.must("HashTableV2", kv(tf.String, tf.Float32))[0]
	nan := float32(math.NaN())
	for range 2 {
		b.must("InitializeTableV2", core.Attrs{"Tkey": tf.String, "Tval": tf.Float32}, h, vec("a", "b"), vec(nan, 1))
	}
	b.fails(tf.FailedPrecondition, "different data", "InitializeTableV2", core.Attrs{"Tkey": tf.String, "Tval": tf.Float32}, h, vec("a", "b"), vec(1, nan))
}

// TestTextFileCarriageReturns: only one that ends a line goes.
func TestTextFileCarriageReturns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(path, []byte("\ra\rb\r\nc\r\r"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	h := b.must("HashTableV2", kv(tf.Int64, tf.String))[0]
	b.must("InitializeTableFromTextFileV2", core.Attrs{"key_index": int64(LineNumber), "value_index": int64(WholeLine)}, h, core.Scalar(path))
	expect(t, "words", b.must("LookupTableExportV2", core.Attrs{"Tkeys": tf.Int64, "Tvalues": tf.String}, h)[1].T, "\ra\rb", "c\r")
}

// TestTextFileNumbers: fields spell numbers as they do elsewhere in TensorFlow.
func TestTextFileNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers")
	load := func(text string) (*core.Tensor, error) {
		if err := os.WriteFile(path, []byte("a\t"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := newBench(t)
		h := b.must("HashTableV2", kv(tf.String, tf.Float32))[0]
		if _, err := b.run("InitializeTableFromTextFileV2", core.Attrs{"key_index": int64(0), "value_index": int64(1)}, h, core.Scalar(path)); err != nil {
			return nil, err
		}
		return b.must("LookupTableFindV2", inOut(tf.String, tf.Float32), h, vec("a"), core.Scalar(float32(-1)))[0].T, nil
	}
	for text, want := range map[string]float32{"1e40": float32(math.Inf(1)), "0x10": 16, " -.5\v": -0.5} {
		v, err := load(text)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, text, v, want)
	}
	if v, err := load("1_0"); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("1_0: %v, %v", v, err)
	}
}
