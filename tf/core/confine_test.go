package core_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestConfineFiles: names that lead out of the directories stand for files that are
// not there, whatever way they take.
func TestConfineFiles(t *testing.T) {
	root := t.TempDir()
	in, out := filepath.Join(root, "in"), filepath.Join(root, "out")
	for _, d := range []string{in, out, in + "side"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "file"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"door": out, "dangling": filepath.Join(out, "new"), "home": in, "loop": filepath.Join(in, "loop")} {
		if err := os.Symlink(to, filepath.Join(in, name)); err != nil {
			t.Skip("this system has no symbolic links: ", err)
		}
	}
	if err := core.ConfineFiles(in); err != nil {
		t.Fatal(err)
	}
	defer core.AllowFilesAnywhere()
	t.Chdir(in)
	for name, ok := range map[string]bool{
		in + "/file": true, "file://" + in + "/file": true, in + "/new/deep/file": true, in: true, "file": true, in + "/home/file": true, in + "/*": true,
		out + "/file": false, in + "/../out/file": false, in + "side/file": false, in + "/door/file": false, in + "/door/new": false, in + "/dangling": false,
		in + "/loop": false, "../out/file": false, "/": false, "/etc/passwd": false, "file://localhost/etc/passwd": false, "/dev/zero": false, in + "/door/../../out/file": false,
		in + "/a\x00b": false, "/proc/self/root" + out + "/file": false, "../*/file": false, in + "/new/../../out/x": false,
	} {
		_, err := os.Stat(core.LocalPath(name))
		if err != nil {
			err = core.FileError(name, err)
		}
		denied := err != nil && core.CodeOf(err) == core.PermissionDenied && strings.Contains(err.Error(), "operations may use files below")
		if denied == ok {
			t.Errorf("%q is refused: %v (%v), want %v", name, denied, err, !ok)
		}
	}
	if _, err := core.ReadFile(t.Context(), out+"/file"); core.CodeOf(err) != core.PermissionDenied {
		t.Errorf("reading what is outside: %v", err)
	}
	if err := core.FileError("moved", os.Rename(core.LocalPath(in+"/file"), core.LocalPath(out+"/moved"))); core.CodeOf(err) != core.PermissionDenied {
		t.Errorf("renaming to what is outside: %v", err)
	}
	if text, err := core.ReadFile(t.Context(), in+"/file"); text != "x" || err != nil {
		t.Errorf("reading what is inside: %q, %v", text, err)
	}
	if err := core.ConfineFiles(filepath.Join(root, "missing")); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a directory that is not there: %v", err)
	}
	if err := core.ConfineFiles(); err != nil {
		t.Fatal(err)
	}
	if _, err := core.ReadFile(t.Context(), in+"/file"); core.CodeOf(err) != core.PermissionDenied {
		t.Errorf("without directories: %v", err)
	}
}

// TestFilesGoThroughLocalPath: operations take no name of a file past it. A file of
// theirs that uses package os without it has to say here why.
func TestFilesGoThroughLocalPath(t *testing.T) {
	reasons := map[string]string{
		"internal/dataset/metadata.go": "gets directories that have gone through", "internal/dataset/chunks.go": "gets such directories",
		"tf/ops/print.go": "goes through it in the kernel", "tf/ops/debugpublish.go": "goes through it for each URL",
	}
	uses := []string{"os.Open", "os.Create", "os.ReadFile", "os.WriteFile", "os.ReadDir", "os.Remove", "os.Rename", "os.MkdirAll", "os.Mkdir", "os.Stat", "filepath.Glob", "filepath.Walk", "os.Truncate", "os.Link", "os.Symlink"}
	n := 0
	for _, dir := range []string{"../ops", "../../internal/dataset"} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, u := range uses {
				if strings.Contains(string(b), u+"(") {
					n++
					name := strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(path), "../../"), "../")
					if strings.HasPrefix(name, "ops") {
						name = "tf/" + name
					}
					if !strings.Contains(string(b), "LocalPath(") && reasons[name] == "" {
						t.Errorf("%s calls %s without core.LocalPath", name, u)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 10 {
		t.Errorf("%d uses of files were found only", n)
	}
}

// TestDenyOps: a node of a denied op is refused and named.
func TestDenyOps(t *testing.T) {
	if err := core.DenyOps("NoOp["); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a bad pattern: %v", err)
	}
	core.Register(core.OpDef{Name: "TestDenied", Stateful: true, NoGrad: core.NotDifferentiable, Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) { return nil, nil })})
	if err := core.DenyOps("Other", "Test*ied"); err != nil {
		t.Fatal(err)
	}
	_, err := core.NewNode("here", "TestDenied", nil)
	if core.CodeOf(err) != core.PermissionDenied || !strings.Contains(err.Error(), "here") || !strings.Contains(err.Error(), "Test*ied") {
		t.Errorf("a denied op: %v", err)
	}
	if err := core.DenyOps(); err != nil {
		t.Fatal(err)
	}
	if _, err := core.NewNode("here", "TestDenied", nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
