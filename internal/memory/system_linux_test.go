package memory

import (
	"os"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

func TestMapped(t *testing.T) {
	page := int64(os.Getpagesize())
	root := fstest.MapFS{"proc/self/statm": &fstest.MapFile{Data: []byte("300 20 10 5 0 40 0\n")}}
	if size, data := mapped(root); size != 300*page || data != 40*page {
		t.Errorf("mapped are %d and %d bytes", size, data)
	}
	if size, data := mapped(fstest.MapFS{}); size != 0 || data != 0 {
		t.Errorf("mapped are %d and %d bytes of nothing", size, data)
	}
}

// TestResourceLimit bounds the address space of this process for a moment.
func TestResourceLimit(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &before); err != nil {
		t.Fatal(err)
	}
	if before.Cur < 64<<30 {
		t.Skip("the address space is limited already")
	}
	r := unix.Rlimit{Cur: 64 << 30, Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &r); err != nil {
		t.Skip(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_AS, &before)
	if n := resourceLimit(); n < 32<<30 || n >= 64<<30 {
		t.Errorf("of an address space of 64 GB %d bytes are left", n)
	}
}
