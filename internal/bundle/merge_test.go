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
