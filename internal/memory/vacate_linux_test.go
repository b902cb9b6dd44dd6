package memory

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns how many of the whole pages of a block are in memory.
func resident(t *testing.T, p unsafe.Pointer, n int) (pages int) {
	t.Helper()
	b := wholePages(p, n)
	in := make([]byte, len(b)/unix.Getpagesize())
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&in[0]))); e != 0 {
		t.Skipf("the system does not tell which pages it has: %v", e)
	}
	for _, v := range in {
		pages += int(v & 1)
	}
	return pages
}

// TestAgingVacates: large blocks that were idle have no pages any more before they are collected, and
// those that are in use, beside them, have theirs.
func TestAgingVacates(t *testing.T) {
	p := NewPool(1 << 30)
	for _, n := range []int{large, 1 << 20, 9 << 20} {
		c := &p.classes[classIndex(n)]
		var all []unsafe.Pointer
		for range 4 {
			b, _ := c.claimed(nil, nil)
			copy(c.block(b), bytes.Repeat([]byte{7}, c.size))
			all = append(all, b.ptr)
		}
		for _, at := range all[:2] {
			c.push(&Buffer{ptr: at, owner: c})
		}
		p.age()
		p.age()
		for i, at := range all {
			pages, block := resident(t, at, c.size), unsafe.Slice((*byte)(at), c.size)
			if i < 2 && pages > 0 {
				t.Errorf("%d pages are left of %d bytes that were idle", pages, c.size)
			}
			if i >= 2 && slices.ContainsFunc(block, func(v byte) bool { return v != 7 }) {
				t.Errorf("%d bytes that are in use have changed", c.size)
			}
		}
	}
}

// TestWholePages: they lie within the bytes, and less than a page at each end is left out.
func TestWholePages(t *testing.T) {
	page := unix.Getpagesize()
	all := make([]byte, 8*page)
	base := uintptr(unsafe.Pointer(&all[0]))
	for _, from := range []int{0, 1, 64, page - 1, page, page + 1} {
		for _, n := range []int{1, page - 1, page, page + 64, 3*page - 1, 4 * page} {
			got := wholePages(unsafe.Pointer(&all[from]), n)
			first, end := (int(base)+from+page-1)/page, (int(base)+from+n)/page
			if want := max(0, end-first) * page; len(got) != want {
				t.Errorf("%d of %d bytes from %d on are whole pages, want %d", len(got), n, from, want)
			}
			if len(got) > 0 && int(uintptr(unsafe.Pointer(&got[0])))%page != 0 {
				t.Errorf("pages begin at %p", &got[0])
			}
		}
	}
}
