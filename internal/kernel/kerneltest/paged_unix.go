//go:build unix

package kerneltest

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// Paged returns n random numbers right before a guard page if atEnd is set, else right behind one.
// A guard page allows no access: a loop that reads or writes out of bounds crashes the test.
func Paged[T numeric.Float](t *testing.T, n int, atEnd bool) []T {
	t.Helper()
	var zero T
	page, size := os.Getpagesize(), n*int(unsafe.Sizeof(zero))
	within := (size + page) / page * page
	m, err := unix.Mmap(-1, 0, within+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(m) })
	for _, outside := range [][]byte{m[:page], m[page+within:]} {
		if err := unix.Mprotect(outside, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if atEnd {
		at += within - size
	}
	x := unsafe.Slice((*T)(unsafe.Pointer(&m[at])), n)
	copy(x, Random[T](n, uint64(n)))
	return x
}
