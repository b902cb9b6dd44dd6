package memory

import (
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func systemRoot() fs.FS { return os.DirFS("/") }

// resourceLimit returns how large the heap may get by the limits of the
// process's address space and of its data. What is mapped already beside the
// heap, which Go reserves generously, is not to be had.
func resourceLimit() int64 {
	size, data := mapped(systemRoot())
	return min(rlimit(unix.RLIMIT_AS, size), rlimit(unix.RLIMIT_DATA, data))
}

// rlimit is what a limit leaves of which others have taken so much.
func rlimit(which int, taken int64) int64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(which, &r); err != nil || r.Cur >= unlimited {
		return unlimited
	}
	return max(int64(r.Cur)-max(0, taken-heap()), 1)
}

// mapped returns the size of the process's address space and of its data.
func mapped(root fs.FS) (size, data int64) {
	text, err := fs.ReadFile(root, "proc/self/statm")
	if err != nil {
		return 0, 0
	}
	f := strings.Fields(string(text))
	if len(f) < 6 {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	pages := func(s string) int64 { n, _ := strconv.ParseInt(s, 10, 64); return n * page }
	return pages(f[0]), pages(f[5])
}
