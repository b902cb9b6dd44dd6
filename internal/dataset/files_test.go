package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	packed "github.com/gorge-tf/gorge/tf/record"
)

// written writes a file, compressed if asked for, and returns its name.
func written(t *testing.T, content, compression string) string {
	t.Helper()
	b := []byte(content)
	if compression == "GZIP" {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		w.Write(b)
		w.Close()
		b = z.Bytes()
	}
	f, err := os.CreateTemp(t.TempDir(), "file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func TestLines(t *testing.T) {
	for _, compression := range []string{"", "GZIP"} {
		names := []string{written(t, "a\r\n\rb\rc\n\n d\r\n\r", compression), written(t, "", compression), written(t, "e\n", compression)}
		d := must2(t)(Lines(names, compression))
		want := []string{"[a]", "[bc]", "[]", "[ d]", "[e]"}
		if got := all(t, d); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", compression, got, want)
		}
		for n := range len(want) + 1 {
			if got := restoredRest(t, d, n); !slices.Equal(got, want[n:]) {
				t.Errorf("%q: after %d: %q", compression, n, got)
			}
		}
	}
	if _, err := Lines(nil, "LZ4"); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a compression that does not exist: %v", err)
	}
	missing := filepath.Join(t.TempDir(), "none")
	d := must2(t)(Lines([]string{missing, written(t, "a\n", "")}, ""))
	if got := all(t, d); !slices.Equal(got, []string{"!NOT_FOUND", "[a]"}) {
		t.Errorf("a missing file: %q", got)
	}
}

// TestFixedLengthRecords compares with slices of what files hold.
func TestFixedLengthRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		header, length, footer := r.IntN(4), 1+r.IntN(4), r.IntN(4)
		size := r.IntN(25)
		content := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 1)[:size]
		compression := []string{"", "GZIP"}[i%2]
		name := written(t, content, compression)
		got := all(t, must2(t)(FixedLength([]string{name}, compression, int64(header), int64(length), int64(footer))))
		var want []string
		body := size - header - footer
		for at := 0; at+length <= body && body >= 0 && (compression != "" || body%length == 0); at += length {
			want = append(want, "["+content[header+at:header+at+length]+"]")
		}
		if body < 0 || body%length != 0 {
			want = append(want, "!INVALID_ARGUMENT")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %d bytes, header %d, length %d, footer %d: got %q, want %q", compression, size, header, length, footer, got, want)
		}
	}
	name := written(t, "12345678", "")
	it := mustIterate(t, must2(t)(FixedLength([]string{name}, "", 1, 3, 2)))
	defer it.Close()
	want := fmt.Sprintf("Excluding the header (1 bytes) and footer (2 bytes), input file \"%s\" has body length 5 bytes, which is not an exact multiple of the record length (3 bytes).", name)
	if _, err := it.Next(t.Context()); err == nil || core.AsError(err).Message() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, bad := range [][3]int64{{-1, 1, 0}, {0, 0, 0}, {0, -1, 0}, {0, 1<<30 + 1, 0}, {0, 1, -1}, {0, 1, 1<<30 + 1}} {
		if _, err := FixedLength(nil, "", bad[0], bad[1], bad[2]); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("header, length and footer %v: %v", bad, err)
		}
	}
	for _, good := range [][3]int64{{0, 1, 0}, {0, 1 << 30, 1 << 30}} {
		if _, err := FixedLength(nil, "", good[0], good[1], good[2]); err != nil {
			t.Errorf("header, length and footer %v: %v", good, err)
		}
	}
}

func TestRecordFiles(t *testing.T) {
	for _, compression := range []string{"", "GZIP", "ZLIB", "SNAPPY"} {
		name := filepath.Join(t.TempDir(), "records")
		w, err := packed.Create(name, packed.Compression(compression))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range 5 {
			text := strings.Repeat("x", i*i)
			if err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			want = append(want, "["+text+"]")
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := all(t, must2(t)(Records([]string{name, name}, compression))); !slices.Equal(got, slices.Repeat(want, 2)) {
			t.Errorf("%q: got %q", compression, got)
		}
		// A record of n bytes takes 16 more.
		if got := all(t, must2(t)(RecordsFrom([]string{name, name}, compression, []int64{16, 16 + 17 + 20}))); compression != "SNAPPY" && !slices.Equal(got, append(slices.Clone(want[1:]), want[3:]...)) {
			t.Errorf("%q, from the second and the fourth record: got %q", compression, got)
		}
	}
	for _, from := range [][]int64{nil, {0, 0}, {-1}} {
		if _, err := RecordsFrom([]string{"a"}, "", from); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("offsets %v: %v", from, err)
		}
	}
	if _, err := RecordsFrom([]string{"a"}, "LZ4", []int64{0}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a compression that does not exist: %v", err)
	}
}

// TestPaddedBatches compares with a model: rows as long as the longest, or as asked for.
func TestPaddedBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var list []Element
		n, size := 1+r.IntN(4), 1+r.IntN(3)
		fixed := r.IntN(2) == 0
		for range n {
			h, w := r.IntN(3), r.IntN(4)
			x := core.NewTensor(core.Int64, core.Shape{h, w})
			for i := range core.Data[int64](x) {
				core.Data[int64](x)[i] = int64(100*h + 10*w + i)
			}
			list = append(list, Element{x})
		}
		shape := core.Shape{-1, -1}
		if fixed {
			shape[1] = 4
		}
		drop := r.IntN(2) == 0
		spec := &Spec{[]core.DType{core.Int64}, []core.Shape{{-1, -1}}}
		d := must2(t)(PaddedBatch(List(spec, list), int64(size), []core.Shape{shape}, []*core.Tensor{core.Scalar(int64(7))}, drop))
		var want []string
		for at := 0; at < n; at += size {
			part := list[at:min(at+size, n)]
			if drop && len(part) < size {
				break
			}
			want = append(want, paddedModel(part, fixed))
		}
		if got := all(t, d); !slices.Equal(got, want) {
			t.Errorf("%d elements in batches of %d, drop %v: got %q, want %q", n, size, drop, got, want)
		}
	}
}

// paddedModel pads matrices to the largest height and to width 4 or the largest width.
func paddedModel(part []Element, fixed bool) string {
	h, w := 0, 0
	for _, e := range part {
		h, w = max(h, e[0].Dim(0)), max(w, e[0].Dim(1))
	}
	if fixed {
		w = 4
	}
	out := make([]int, 0, len(part)*h*w)
	for _, e := range part {
		v := core.Data[int64](e[0])
		for y := range h {
			for x := range w {
				k := 7
				if y < e[0].Dim(0) && x < e[0].Dim(1) {
					k = int(v[y*e[0].Dim(1)+x])
				}
				out = append(out, k)
			}
		}
	}
	return fmt.Sprint(out)
}

// TestRefusedBatches: what cannot be batched says why.
func TestRefusedBatches(t *testing.T) {
	seven, spec := core.Scalar(int64(7)), &Spec{[]core.DType{core.Int64}, []core.Shape{{-1}}}
	uneven := List(spec, []Element{{vector([]int64{1, 2})}, {vector([]int64{3})}})
	if got := all(t, must2(t)(Batch(uneven, 2, false))); !slices.Equal(got, []string{"!INVALID_ARGUMENT"}) {
		t.Errorf("different shapes: %v", got)
	}
	if got := all(t, must2(t)(PaddedBatch(uneven, 2, []core.Shape{{1}}, []*core.Tensor{seven}, false))); !slices.Equal(got, []string{"!DATA_LOSS"}) {
		t.Errorf("a shape that is too small: %v", got)
	}
	if got := all(t, must2(t)(PaddedBatch(uneven, 2, []core.Shape{{-1, -1}}, []*core.Tensor{seven}, false))); !slices.Equal(got, []string{"!INVALID_ARGUMENT"}) {
		t.Errorf("another rank: %v", got)
	}
	for name, c := range map[string]struct {
		n      int64
		shapes []core.Shape
		pads   []*core.Tensor
	}{
		"size": {0, []core.Shape{{-1}}, []*core.Tensor{seven}}, "shapes": {1, nil, []*core.Tensor{seven}}, "paddings": {1, []core.Shape{{-1}}, nil},
		"type": {1, []core.Shape{{-1}}, []*core.Tensor{core.Scalar(int32(7))}}, "rank": {1, []core.Shape{{-1}}, []*core.Tensor{vector([]int64{7})}},
	} {
		if _, err := PaddedBatch(uneven, c.n, c.shapes, c.pads, false); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Batch(uneven, 0, false); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("batches of nothing: %v", err)
	}
	if got := all(t, Unbatch(numbers(t, 0, 2, 1))); !slices.Equal(got, []string{"!INVALID_ARGUMENT", "!INVALID_ARGUMENT"}) {
		t.Errorf("scalars have no rows: %v", got)
	}
	three := &Spec{[]core.DType{core.Int64, core.Int64, core.Int64}, []core.Shape{{-1}, {-1}, {-1}}}
	it, err := Unbatch(List(three, []Element{{vector([]int64{1, 2}), vector([]int64{3, 4}), vector([]int64{5})}})).Iterate()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if _, err := it.Next(t.Context()); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "Component 0 had size 2 but component 2 had size, 1.") {
		t.Errorf("components of different sizes: %v", err)
	}
}

// TestFileShards: each shard needs a file of its own, which the first element shows.
func TestFileShards(t *testing.T) {
	for files := range int64(7) {
		for of := int64(1); of < 5; of++ {
			for index := range of {
				got := all(t, must2(t)(ShardFiles(numbers(t, 0, files, 1), of, index)))
				var want []string
				for i := index; i < files; i += of {
					want = append(want, fmt.Sprintf("[%d]", i))
				}
				if files < of && len(want) > 0 {
					want = []string{"!INVALID_ARGUMENT"}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d files, shard %d of %d: got %v, want %v", files, index, of, got, want)
				}
			}
		}
	}
	for _, bad := range [][2]int64{{0, 0}, {-2, 0}, {2, 2}, {2, -1}} {
		if _, err := Shard(numbers(t, 0, 3, 1), bad[0], bad[1]); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("shard %d of %d: %v", bad[1], bad[0], err)
		}
	}
}

// TestKindsInErrors: what cannot be asked for by number says which dataset it is.
func TestKindsInErrors(t *testing.T) {
	endless := Repeat(numbers(t, 0, 3, 1), -1)
	shard := must2(t)(Shard(endless, 2, 1))
	unknown := Filter(numbers(t, 0, 3, 1), ofNumber(func(int64) bool { return true }))
	for want, d := range map[string]Dataset{
		"Dataset of type ForeverRepeat has infinite cardinality": endless, "Dataset of type Shard has infinite": shard, "Dataset of type Skip has infinite": Skip(endless, 1),
		"Dataset of type Filter has unknown": unknown, "Dataset of type Take has unknown": Take(unknown, 2), "Dataset of type Batch has unknown": must2(t)(Batch(unknown, 2, true)),
		"Dataset of type FiniteRepeat has unknown": Repeat(unknown, 2), "Dataset of type Shuffle has unknown": must2(t)(Shuffle(unknown, 2, 1, NewSeeds(1, 2, false))),
		"Dataset of type FlatMapDataset has unknown": FlatMap(numbers(t, 0, 3, 1), upTo(t), scalars),
	} {
		if _, err := At(t.Context(), d, 0); core.CodeOf(err) != core.FailedPrecondition || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestSnapshotFiles: a snapshot begins another file when one is as large as it may be.
func TestSnapshotFiles(t *testing.T) {
	for size, want := range map[int64][2]int{1 << 20: {1, 1}, 200: {2, 20}, 1: {20, 40}} {
		dir := t.TempDir()
		d := must2(t)(Keep(numbers(t, 0, 40, 1), Snapshot{Read: dir, Write: dir, FileBytes: size}))
		for range 2 {
			if got := all(t, d); len(got) != 40 || got[39] != "[39]" {
				t.Errorf("files of %d bytes: got %v", size, got)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.snapshot"))
		if err != nil || len(files) < want[0] || len(files) > want[1] {
			t.Errorf("files of %d bytes: %d of them, want %v, %v", size, len(files), want, err)
		}
	}
}

// TestChoicesAreClosed: inputs that compute in advance end with the choice.
func TestChoicesAreClosed(t *testing.T) {
	inputs := []Dataset{Prefetch(Repeat(numbers(t, 0, 3, 1), -1), 2), Prefetch(Repeat(numbers(t, 0, 3, 1), -1), 2)}
	it := mustIterate(t, must2(t)(Choose(List(scalars, []Element{{core.Scalar(int64(0))}, {core.Scalar(int64(1))}}), inputs, false)))
	for range 2 {
		if _, err := it.Next(t.Context()); err != nil {
			t.Error(err)
		}
	}
	it.Close() // TestMain finds goroutines that are left
	far := must2(t)(Choose(List(scalars, []Element{{core.Scalar(int64(2))}, {core.Scalar(int64(-1))}}), inputs, false))
	if got := all(t, far); !slices.Equal(got, []string{"!INVALID_ARGUMENT", "!INVALID_ARGUMENT"}) {
		t.Errorf("selectors out of range: %v", got)
	}
}

// shut is a dataset that cannot be iterated.
type shut struct{ Dataset }

func (shut) Iterate() (Iterator, error) { return nil, core.Errorf(core.DataLoss, "shut") }

// TestUnchosenAreClosed: the inputs of a choice end when there is nothing that chooses.
func TestUnchosenAreClosed(t *testing.T) {
	inputs := []Dataset{begun{t, Prefetch(Repeat(numbers(t, 0, 3, 1), -1), 2)}}
	_, err := must2(t)(Choose(shut{List(scalars, nil)}, inputs, false)).Iterate()
	if core.CodeOf(err) != core.DataLoss { // TestMain finds goroutines that are left
		t.Error(err)
	}
}

// begun is a dataset whose iterators have given an element before they are handed out.
type begun struct {
	t *testing.T
	Dataset
}

func (a begun) Iterate() (Iterator, error) {
	it, err := a.Dataset.Iterate()
	if err == nil {
		_, err = it.Next(a.t.Context())
	}
	return it, err
}

// TestBatchesAgain: batches of other sizes are as large as they should be, whatever the
// sizes of those they are made of.
func TestBatchesAgain(t *testing.T) {
	for _, of := range []int64{1, 2, 3, 5, 7, 20} {
		for _, sizes := range [][]int64{{1}, {4}, {3, 5}, {7, 1, 2}, {12, 9}} {
			batches := must2(t)(Batch(numbers(t, 0, 20, 1), of, false))
			it := mustIterate(t, must2(t)(Rebatch(batches, sizes, false, &Spec{[]core.DType{core.Int64}, []core.Shape{{-1}}})))
			defer it.Close()
			for i, at := 0, 0; at < 20; i++ {
				e, err := it.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want := min(int(sizes[i%len(sizes)]), 20-at)
				if x := core.Data[int64](e[0]); len(x) != want || x[0] != int64(at) {
					t.Fatalf("batches of %d in those of %v: number %d is %v, want %d from %d on", of, sizes, i, x, want, at)
				}
				at += want
			}
		}
	}
}

// TestRestoreSaysWhatFailed: what a function says while a state is restored is the
// state's error.
func TestRestoreSaysWhatFailed(t *testing.T) {
	calls, most := 0, 1<<30
	f := func(ctx context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		if calls++; calls > most {
			return nil, core.Errorf(core.DataLoss, "call %d", calls)
		}
		return []*core.Tensor{Value(Prefetch(numbers(t, 0, 5, 1), 2))}, nil
	}
	d := must2(t)(Interleave(numbers(t, 0, 9, 1), f, scalars, 3, 1, 0))
	it := mustIterate(t, d)
	for range 4 {
		if _, err := it.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s := NewState()
	it.Save(s)
	it.Close()
	calls, most = 0, 1 // of three lanes
	again := mustIterate(t, d)
	defer again.Close()
	state := sent(t, s)
	again.Restore(t.Context(), state)
	if core.CodeOf(state.Err()) != core.DataLoss {
		t.Error(state.Err())
	}
}

// TestCSVPlaces: an error says in which line and column it is, lines being counted as
// editors do, whatever ends them.
func TestCSVPlaces(t *testing.T) {
	name := written(t, "h,h\n1,2\n\"3\n3\",4\r\n5,x\r6,7\ny,8\n", "")
	c := CSV{Names: []string{name}, Delim: ',', Quotes: true, Header: true, Defaults: []*core.Tensor{none(core.String), vector([]int64{0})}, Shapes: []core.Shape{{}, {}}}
	d := must2(t)(c.Open())
	it := mustIterate(t, d)
	defer it.Close()
	var got []string
	for range 5 {
		e, err := it.Next(t.Context())
		if err != nil {
			got = append(got, core.AsError(err).Plain)
			continue
		}
		got = append(got, show(t, e))
	}
	want := []string{"[1];[2]", "[3\n3];[4]", name + ": line 5, column 2: Field 1 in record is not a valid int64: x", "[6];[7]", "[y];[8]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCSVTypes: each type takes the texts that it can hold.
func TestCSVTypes(t *testing.T) {
	for _, c := range []struct {
		dtype core.DType
		text  string
		want  string // "": it is refused
	}{
		{core.Int32, "-7", "int32[]{-7}"}, {core.Int32, " 8 ", "int32[]{8}"}, {core.Int32, "2147483648", ""}, {core.Int64, "2147483648", "int64[]{2147483648}"},
		{core.Int64, "9223372036854775808", ""}, {core.Float32, "1.5", "float32[]{1.5}"}, {core.Float32, "1e60", "float32[]{+Inf}"}, {core.Float64, "-2.25e3", "float64[]{-2250}"},
		{core.Float64, "1e999", "float64[]{+Inf}"}, {core.Float64, "one", ""}, {core.Float32, "0x10", "float32[]{16}"}, {core.Float32, "-nan", "float32[]{NaN}"}, {core.Float32, "1_0", ""}, {core.String, " a ", `string[]{" a "}`}, {core.Bool, "true", ""},
	} {
		d := must2(t)(CSV{Names: []string{written(t, c.text, "")}, Delim: ',', Defaults: []*core.Tensor{none(c.dtype)}, Shapes: []core.Shape{{}}}.Open())
		it := mustIterate(t, d)
		e, err := it.Next(t.Context())
		it.Close()
		switch {
		case c.want == "":
			if core.CodeOf(err) != core.InvalidArgument {
				t.Errorf("%v of %q: %v, %v", c.dtype, c.text, e, err)
			}
		case err != nil || fmt.Sprint(e[0]) != c.want:
			t.Errorf("%v of %q: %v, %v, want %s", c.dtype, c.text, e, err, c.want)
		}
	}
}

// onceCancelled is a dataset whose iterator fails once, at some element, as if its context had
// ended.
type onceCancelled struct {
	Dataset
	at int
}

type onceCancelledIterator struct {
	Iterator
	left int
}

func (d onceCancelled) Iterate() (Iterator, error) {
	it, err := d.Dataset.Iterate()
	return &onceCancelledIterator{it, d.at}, err
}

func (it *onceCancelledIterator) Next(ctx context.Context) (Element, error) {
	if it.left--; it.left == -1 {
		return nil, context.Canceled
	}
	return it.Iterator.Next(ctx)
}

// TestFileShardsInterrupted: a call that is cancelled while it looks whether there are enough
// files loses none, also if the iterator is saved then.
func TestFileShardsInterrupted(t *testing.T) {
	want := []string{"[1]", "[6]", "[11]"}
	for at := range 5 {
		d := must2(t)(ShardFiles(onceCancelled{numbers(t, 0, 12, 1), at}, 5, 1))
		it := mustIterate(t, d)
		if _, err := it.Next(t.Context()); !errors.Is(err, context.Canceled) {
			t.Fatalf("at %d: %v", at, err)
		}
		s := NewState()
		it.Save(s)
		if got := rest(t, it); !slices.Equal(got, want) {
			t.Errorf("interrupted at %d: got %v, want %v", at, got, want)
		}
		it.Close()
		it = mustIterate(t, must2(t)(ShardFiles(numbers(t, 0, 12, 1), 5, 1)))
		if it.Restore(t.Context(), s); s.Err() != nil {
			t.Fatal(s.Err())
		}
		if got := rest(t, it); !slices.Equal(got, want) {
			t.Errorf("saved at %d: got %v, want %v", at, got, want)
		}
		it.Close()
	}
}
