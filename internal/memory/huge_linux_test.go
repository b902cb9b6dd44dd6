package memory

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// flagsAt returns the flags of the mapping that has address p, and of how many bytes
// from p on.
func flagsAt(t *testing.T, p uintptr) (flags string, n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skipf("mappings cannot be read: %v", err)
	}
	var end uintptr
	for line := range strings.Lines(string(text)) {
		var lo, hi uintptr
		if k, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); k == 2 {
			end = 0
			if lo <= p && p < hi {
				end = hi
			}
		}
		if f, ok := strings.CutPrefix(line, "VmFlags:"); ok && end != 0 {
			return f, int(end - p)
		}
	}
	t.Fatalf("no mapping has %#x", p)
	return "", 0
}

func TestLargeBlocksAreAdvisedHuge(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the system has no transparent huge pages")
	}
	for _, n := range []int{hugeLeast(), 3*hugeLeast() + 8192} {
		b := New(n)
		p := uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes())))
		page := uintptr(os.Getpagesize())
		for at := (p + page - 1) &^ (page - 1); at < (p+uintptr(n))&^(page-1); {
			flags, more := flagsAt(t, at)
			if !strings.Contains(flags, " hg") {
				t.Fatalf("byte %d of %d is in a mapping with flags %s", at-p, n, flags)
			}
			at += uintptr(more)
		}
		for i, v := range b.Bytes() {
			if v != 0 {
				t.Fatalf("byte %d of a new block is %d", i, v)
			}
		}
		b.Unref()
	}
}
