package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	x, y := tensor(t, []float32{1, 2}), tensor(t, []string{"y"})
	save(t, path("a"), []saved{{"x", "", x}, {"part", "4 0,2", x}})
	save(t, path("b"), []saved{{"part", "4 2,2", x}, {"y", "", y}})
	fails(t, Merge([]string{path("a"), path("none")}, path("m"), false), core.InvalidArgument, "allow_missing_files was set to false and "+path("none")+" did not exist.")
	fails(t, Merge([]string{path("none")}, path("m"), true), core.InvalidArgument, "At least one prefix checkpoint file must exist, but none existed.")
	if err := Merge([]string{"file://" + path("a"), path("none"), path("b")}, "file://"+path("m"), true); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("files %v (%v)", left, err)
	}
	r, err := Open(path("m"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, want := range map[string]*core.Tensor{"x": x, "y": y, "part": tensor(t, []float32{1, 2, 1, 2})} {
		if got, err := r.Lookup(name); err != nil || !same(got, want) {
			t.Errorf("%s is %v, want %v (%v)", name, got, want, err)
		}
	}
}

// TestMergeAgain: a merge that fails at any operation of the disk loses nothing. It works
// when the disk does, also where one of the bundles is the one that is to be replaced.
func TestMergeAgain(t *testing.T) {
	defer func() { storage = osDisk{} }()
	for n := 0; ; n++ {
		storage = osDisk{}
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name) }
		for i, name := range []string{"a", "b", "m"} {
			save(t, path(name), []saved{{name, "", tensor(t, []float32{float32(i)})}})
		}
		parts := []string{path("a"), path("b"), path("m")}
		d := &faulty{disk: osDisk{}, left: n, once: true}
		storage = d
		err := Merge(parts, path("m"), false)
		if err == nil && d.calls <= n {
			return
		}
		storage = osDisk{}
		if err == nil {
			continue
		}
		if err := Merge(parts, path("m"), false); err != nil {
			t.Fatalf("after operation %d has failed: %v", n, err)
		}
		r, err := Open(path("m"))
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"a", "b", "m"} {
			if got, err := r.Lookup(name); err != nil || !same(got, tensor(t, []float32{float32(i)})) {
				t.Errorf("after operation %d has failed: %s is %v (%v)", n, name, got, err)
			}
		}
		r.Close()
	}
}

func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	x := tensor(t, []float32{1, 2})
	save(t, path("a"), []saved{{"x", "", x}})
	save(t, path("b"), []saved{{"x", "", x}})
	fails(t, Merge([]string{path("a"), path("b")}, path("m"), false), core.InvalidArgument, "Duplicate tensor keyed by x encountered, when merging prefix: "+path("b"))
	save(t, path("c"), []saved{{"p", "4 0,2", x}})
	save(t, path("d"), []saved{{"p", "", x}})
	save(t, path("e"), []saved{{"p", "5 2,2", x}})
	fails(t, Merge([]string{path("c"), path("d")}, path("m"), false), core.Internal, "Duplicate tensor keyed by p; attempting to merge in a non-slice bundle entry")
	fails(t, Merge([]string{path("c"), path("e")}, path("m"), false), core.InvalidArgument, "slices of tensor p must all be of one type and of one shape")
}
