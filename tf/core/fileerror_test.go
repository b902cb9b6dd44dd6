package core_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestLocalPath(t *testing.T) {
	for in, want := range map[string]string{"a/b": "a/b", "/a": "/a", "file:///a/b": "/a/b", "file://host/a": "/a", "file://host": "file://host", "": ""} {
		if got := core.LocalPath(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestFileError(t *testing.T) {
	dir := t.TempDir()
	missing, below := filepath.Join(dir, "none"), filepath.Join(dir, "file", "below")
	long := filepath.Join(dir, strings.Repeat("n", 300))
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func(string) error
		want string
	}{
		{missing, func(n string) error { _, err := os.Open(n); return err }, "NOT_FOUND: " + missing + "; No such file or directory"},
		{dir, func(n string) error { return os.Mkdir(n, 0o700) }, "ALREADY_EXISTS: " + dir + "; File exists"},
		{below, func(n string) error { return os.Mkdir(n, 0o700) }, "FAILED_PRECONDITION: " + below + "; Not a directory"},
		{missing, func(n string) error { return &os.PathError{Op: "write", Path: n, Err: syscall.ENOSPC} }, "RESOURCE_EXHAUSTED: " + missing + "; No space left on device"},
		{missing, func(n string) error { return os.NewSyscallError("fsync", syscall.EDQUOT) }, "RESOURCE_EXHAUSTED: " + missing + "; Disk quota exceeded"},
		{missing, func(n string) error { return &os.LinkError{Op: "rename", Old: n, New: n, Err: syscall.EMLINK} }, "RESOURCE_EXHAUSTED: " + missing + "; Too many links"},
		{long, func(n string) error { return os.WriteFile(n, nil, 0o600) }, "INVALID_ARGUMENT: " + long + "; File name too long"},
		{dir, os.Remove, "FAILED_PRECONDITION: " + dir + "; Directory not empty"},
		{dir, func(n string) error { _, err := os.ReadFile(n); return err }, "FAILED_PRECONDITION: " + dir + "; Is a directory"},
		{loop, func(n string) error { _, err := os.Open(n); return err }, "UNKNOWN: " + loop + "; Too many levels of symbolic links"},
		{missing, func(n string) error { return &os.PathError{Op: "open", Path: n, Err: syscall.EROFS} }, "PERMISSION_DENIED: " + missing + "; Read-only file system"},
		{missing, func(n string) error { return &os.PathError{Op: "chmod", Path: n, Err: syscall.EPERM} }, "PERMISSION_DENIED: " + missing + "; Operation not permitted"},
		{missing, func(n string) error { return &os.PathError{Op: "read", Path: n, Err: syscall.EIO} }, "UNKNOWN: " + missing + "; Input/output error"},
		{missing, func(n string) error { return &os.LinkError{Op: "rename", Old: n, New: n, Err: syscall.ESTALE} }, "ABORTED: " + missing + "; Stale file handle"},
		{missing, func(string) error { return os.ErrPermission }, "PERMISSION_DENIED: " + missing + "; Permission denied"},
		{missing, func(string) error { return os.ErrClosed }, "UNKNOWN: file already closed"},
	} {
		if err := core.FileError(c.name, c.do(c.name)); err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
