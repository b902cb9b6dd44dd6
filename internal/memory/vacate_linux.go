package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// vacate gives the pages of a block that has no user back to the system, at once: the collector may
// come to it minutes later, and keep as much as the heap had for what comes next. The block reads as
// zeros afterwards, and is as good for the collector as before.
func vacate(p unsafe.Pointer, n int) {
	if b := wholePages(p, n); len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_DONTNEED) // refused for pages that are locked, which stay
	}
}

// wholePages returns those of n bytes at p.
func wholePages(p unsafe.Pointer, n int) []byte {
	page := unix.Getpagesize()
	skip := int(-uintptr(p) & uintptr(page-1))
	if skip >= n {
		return nil
	}
	b := unsafe.Slice((*byte)(p), n)[skip:]
	return b[:len(b)&^(page-1)]
}
