package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// first is a reader that goes through the shards one after the other.
func first(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
	shards, err := Of(e[0])
	if err != nil {
		return nil, err
	}
	whole := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) { return e, nil }
	return []*core.Tensor{Value(FlatMap(shards, whole, &Spec{[]core.DType{core.Int64}, []core.Shape{{}}}))}, nil
}

func TestSaveAndLoad(t *testing.T) {
	r := numbers(t, 0, 7, 1)
	odd := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] % 2)}, nil
	}
	for _, compression := range []string{"", "GZIP", "SNAPPY"} {
		for want, shard := range map[string]Func{"[[0] [1] [2] [3] [4] [5] [6]]": nil, "[[0] [2] [4] [6] [1] [3] [5]]": odd} {
			dir := t.TempDir()
			if got := fmt.Sprint(all(t, must2(t)(Save(r, dir, compression, shard)))); got != fmt.Sprint(all(t, r)) {
				t.Errorf("while saving: %s", got)
			}
			d := must2(t)(Load(dir, compression, r.Spec(), first))
			if got := fmt.Sprint(all(t, d)); got != want || d.Cardinality() != 7 {
				t.Errorf("loaded %s, want %s", got, want)
			}
			if got := fmt.Sprint(restoredRest(t, d, 5)); got != fmt.Sprint(all(t, d)[5:]) {
				t.Errorf("restored: %s", got)
			}
		}
	}
	if _, err := Save(r, t.TempDir(), "ZLIB", nil); core.CodeOf(err) != core.Unimplemented {
		t.Error(err)
	}
}

// TestSavedAnywhere: the names of directories may have any characters.
func TestSavedAnywhere(t *testing.T) {
	r := numbers(t, 0, 3, 1)
	for _, name := range []string{"a[1]", "a*", "a?", "[a", `a\b`} {
		dir := filepath.Join(t.TempDir(), name)
		all(t, must2(t)(Save(r, dir, "", nil)))
		if got := all(t, must2(t)(Load(dir, "", r.Spec(), first))); len(got) != 3 {
			t.Errorf("loaded from %s: %s", dir, got)
		}
		kept := must2(t)(Keep(r, Snapshot{Read: dir + "kept", Write: dir + "kept", FileBytes: 10}))
		all(t, kept)
		if got := all(t, kept); len(got) != 3 {
			t.Errorf("kept in %s: %s", dir, got)
		}
	}
}

// TestLoadStaysInside: metadata of a dataset that names what lies outside of its directory is refused.
func TestLoadStaysInside(t *testing.T) {
	dir, r := t.TempDir(), numbers(t, 0, 3, 1)
	all(t, must2(t)(Save(r, filepath.Join(dir, "a"), "", nil)))
	m, _, err := readMetadata(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	run := "../a/" + m.run
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "b"), 0o755), os.WriteFile(filepath.Join(dir, "b", metadataName), metadataOf(run, r.Spec().Types, 3, true), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(filepath.Join(dir, "b"), "", r.Spec(), first); core.CodeOf(err) != core.DataLoss {
		t.Errorf("loaded with error %v", err)
	}
}

// TestElementsOfNoFile has TensorFlow's errors.
func TestElementsOfNoFile(t *testing.T) {
	dir, spec := t.TempDir(), numbers(t, 0, 3, 1).Spec()
	name := filepath.Join(dir, "x[0].snapshot")
	for want, d := range map[string]Dataset{
		filepath.Join(dir, "00000000.snapshot"): must2(t)(ElementsUnder(dir, "", spec)), name: must2(t)(ElementsOf(name, "", spec)),
	} {
		it := mustIterate(t, d)
		if _, err := it.Next(t.Context()); core.CodeOf(err) != core.NotFound || core.AsError(err).Msg != want+"; No such file or directory" {
			t.Errorf("%s: got error %v", want, err)
		}
		it.Close()
	}
}

// TestSavingGoesOn: a writer that died goes on from where it was saved, by way of the
// files that it had completed then; what it wrote afterwards is written once.
func TestSavingGoesOn(t *testing.T) {
	r := numbers(t, 0, 9, 1)
	odd := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] % 2)}, nil
	}
	for want, shard := range map[string]Func{"[[0] [1] [2] [3] [4] [5] [6] [7] [8]]": nil, "[[0] [2] [4] [6] [8] [1] [3] [5] [7]]": odd} {
		for saved := range 10 {
			dir := t.TempDir()
			d := must2(t)(Save(r, dir, "", shard))
			dead, state := mustIterate(t, d), NewState()
			take(t, dead, saved)
			dead.Save(state)
			take(t, dead, min(3, 9-saved))
			dead.Close()
			it := mustIterate(t, d)
			it.Restore(t.Context(), state)
			if err := state.Err(); err != nil {
				t.Fatal(err)
			}
			take(t, it, 9-saved)
			if _, err := it.Next(t.Context()); !errors.Is(err, End) {
				t.Errorf("after the last: %v", err)
			}
			it.Close()
			loaded := must2(t)(Load(dir, "", r.Spec(), first))
			if got := fmt.Sprint(all(t, loaded)); got != want || loaded.Cardinality() != 9 {
				t.Errorf("saved at %d: loaded %s of %d, want %s", saved, got, loaded.Cardinality(), want)
			}
		}
	}
}

// TestForeignSavingState: a state cannot lead out of the directory.
func TestForeignSavingState(t *testing.T) {
	d := must2(t)(Save(numbers(t, 0, 3, 1), t.TempDir(), "", nil))
	it, state := mustIterate(t, d), NewState()
	defer it.Close()
	it.Save(state)
	state.Put("run", core.Scalar("../../elsewhere"))
	it.Restore(t.Context(), state)
	if core.CodeOf(state.Err()) != core.NotFound {
		t.Errorf("got %v", state.Err())
	}
}

func take(t *testing.T, it Iterator, n int) {
	t.Helper()
	for range n {
		if _, err := it.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatCannotBeLoaded: what is not complete is no dataset.
func TestWhatCannotBeLoaded(t *testing.T) {
	dir, r := t.TempDir(), numbers(t, 0, 3, 1)
	it := mustIterate(t, must2(t)(Save(r, dir, "", nil)))
	if _, err := it.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	it.Close()
	if _, err := Load(dir, "", r.Spec(), first); core.CodeOf(err) != core.NotFound {
		t.Error(err)
	}
	for _, b := range [][]byte{nil, {0xff}, {0x12}, metadataOf("1", nil, 3, true)[:4]} {
		if err := os.WriteFile(filepath.Join(dir, metadataName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir, "", r.Spec(), first); core.CodeOf(err) != core.DataLoss {
			t.Errorf("%v: %v", b, err)
		}
	}
}

// FuzzMetadata reads any bytes as what tells of a saved dataset.
func FuzzMetadata(f *testing.F) {
	f.Add(metadataOf("77", []core.DType{core.Int64}, 3, true))
	f.Fuzz(func(_ *testing.T, b []byte) { parseMetadata(b) })
}

// TestCacheFile: the first iterator writes, one that comes meanwhile gets an error,
// later ones read.
func TestCacheFile(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "cache")
	calls := 0
	counted := Map(numbers(t, 0, 4, 1), func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		calls++
		return e, nil
	}, &Spec{[]core.DType{core.Int64}, []core.Shape{{}}}, true)
	d := CacheFile(counted, prefix)
	a, b := mustIterate(t, d), mustIterate(t, d)
	if _, err := a.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Next(t.Context()); core.CodeOf(err) != core.AlreadyExists {
		t.Error(err)
	}
	b.Close()
	a.Close() // incomplete: it is nobody's
	if files, err := filepath.Glob(prefix + "*"); err != nil || len(files) > 0 {
		t.Errorf("%v stay, %v", files, err)
	}
	calls = 0
	for range 3 {
		if got := fmt.Sprint(all(t, d)); got != "[[0] [1] [2] [3]]" || calls != 4 {
			t.Errorf("got %s after %d calls", got, calls)
		}
	}
}

// TestErrorsAreIgnored: files with broken ends give what comes before.
func TestErrorsAreIgnored(t *testing.T) {
	good := "\x03\x00\x00\x00\x00\x00\x00\x00"
	d, err := Records([]string{write(t, good+"no checksum"), write(t, "corrupted data")}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(all(t, d)); got != "[!DATA_LOSS !DATA_LOSS]" {
		t.Error(got)
	}
	if got := all(t, IgnoreErrors(d)); len(got) != 0 {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	it := mustIterate(t, IgnoreErrors(Repeat(numbers(t, 0, 3, 1), -1)))
	defer it.Close()
	if _, err := it.Next(ctx); err == nil || errors.Is(err, End) {
		t.Errorf("the end of a context is ignored: %v", err)
	}
}
