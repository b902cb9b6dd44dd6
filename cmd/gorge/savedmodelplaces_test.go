//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestArchivesPlaces: what a link leads to is written, and what is no file, a device or
// a pipe, is written to and stays what it is.
func TestArchivesPlaces(t *testing.T) {
	dir := t.TempDir()
	out := map[string]*tf.Tensor{"x": tf.Scalar[int64](3)}
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Symlink("file", link), syscall.Mkfifo(pipe, 0o600), writeArchive(link, out)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readArchive(file); err != nil || got["x"].At(0) != int64(3) {
		t.Errorf("behind the link: %v, %v", got, err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // waits for no writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := writeArchive(pipe, out); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]os.FileMode{link: os.ModeSymlink, pipe: os.ModeNamedPipe} {
		if info, err := os.Lstat(name); err != nil || info.Mode().Type() != want {
			t.Errorf("%s has become %v, %v", name, info, err)
		}
	}
	if err := writeArchive(dir, out); tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), dir+"; Is a directory") {
		t.Errorf("a directory: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.tmp*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

// TestArchivesBehindLinks: a link to a file that is not there yet stays a link, also a
// chain of them through another directory. One that leads to itself is refused.
func TestArchivesBehindLinks(t *testing.T) {
	dir, out := t.TempDir(), map[string]*tf.Tensor{"x": tf.Scalar[int64](3)}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(in("sub"), 0o700), os.Symlink("sub/middle", in("link")), os.Symlink("../file", in("sub/middle")), os.Symlink("loop", in("loop")),
		writeArchive(in("link"), out),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readArchive(in("file")); err != nil || got["x"].At(0) != int64(3) {
		t.Errorf("behind the links: %v, %v", got, err)
	}
	if err := writeArchive(in("loop"), out); err == nil {
		t.Error("a link to itself was written")
	}
	for _, name := range []string{"link", "sub/middle", "loop"} {
		if info, err := os.Lstat(in(name)); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s has become %v, %v", name, info, err)
		}
	}
}

// TestFrozenGraphIsWrittenWhole: whoever reads a graph while it is written anew has the one
// before, and so does the directory if that is interrupted.
func TestFrozenGraphIsWrittenWhole(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "graph.pb")
	if err := os.WriteFile(graph, []byte("the graph before"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(graph)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	says(t, 0, "", "savedmodel", "freeze", digitsModel, graph)
	if got, err := io.ReadAll(reader); err != nil || string(got) != "the graph before" {
		t.Errorf("it was written over: %.20q, %v", got, err)
	}
	if _, err := readGraph(graph); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.tmp*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
