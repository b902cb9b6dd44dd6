//go:build unix && !solaris && !illumos && !aix

package bundle

import (
	"os"
	"syscall"
)

// locks says that writers mark their files, and keep them open for that.
const locks = true

// lock marks a file as one that a living process writes: the mark ends with the
// process. On a file system without locks files are unmarked, and stay.
func lock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// abandoned reports whether no living process has a file locked.
func abandoned(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// hold marks a file as one that is in use until the function that it returns is
// called.
func hold(name string) (release func()) {
	f, err := os.Open(name)
	if err != nil {
		return func() {}
	}
	lock(f)
	return func() { _ = f.Close() }
}
