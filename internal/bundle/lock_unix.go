//go:build unix && !solaris && !illumos && !aix

package bundle

import (
	"errors"
	"os"
	"syscall"
)

// locks says that writers mark their files, and keep them open for that.
const locks = true

// lock marks a file as one that a living process writes: the mark ends with the
// process. It reports whether the file is still the one of that name: a process
// that saw it unmarked may be removing it. On a file system without locks files are
// unmarked, and stay.
func lock(f *os.File) bool {
	err := flock(f)
	if err == nil {
		return isAt(f, f.Name())
	}
	return !errors.Is(err, syscall.EWOULDBLOCK)
}

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// isAt reports whether name is f's.
func isAt(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

// seize marks a file that no living process has marked. Until release is called
// no other process can mark or remove the file.
func seize(name string) (release func(), ok bool) {
	f, err := openNow(name)
	if err != nil {
		return nil, false
	}
	if flock(f) != nil || !isAt(f, name) {
		_ = f.Close()
		return nil, false
	}
	return func() { _ = f.Close() }, true
}

// hold marks a file as one that is in use until the function that it returns is
// called.
func hold(name string) (release func()) {
	f, err := openNow(name)
	if err != nil {
		return func() {}
	}
	_ = flock(f)
	return func() { _ = f.Close() }
}
