package memory

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"
)

// largeText is the size from which on it is worth it that strings share memory with the
// bytes that they are made of. Such strings are whole programs with their constants,
// hundreds of megabytes.
const largeText = 1 << 20

// frozen has the large bytes that do not change any more, by where they begin. An entry
// goes when its memory is collected.
var frozen struct {
	sync.RWMutex
	size map[weak.Pointer[byte]]int
}

// Freeze declares that b does not change any more. The caller must have made b and know
// every other holder of it. Small ones are not noted.
func Freeze(b []byte) {
	if len(b) < largeText {
		return
	}
	p := unsafe.SliceData(b)
	at := weak.Make(p)
	frozen.Lock()
	defer frozen.Unlock()
	if _, ok := frozen.size[at]; ok {
		return
	}
	if frozen.size == nil {
		frozen.size = map[weak.Pointer[byte]]int{}
	}
	frozen.size[at] = len(b)
	runtime.AddCleanup(p, thaw, at)
}

func thaw(at weak.Pointer[byte]) {
	frozen.Lock()
	delete(frozen.size, at)
	frozen.Unlock()
}

// Frozen reports whether b is large and has been frozen.
func Frozen(b []byte) bool {
	if len(b) < largeText {
		return false
	}
	at := weak.Make(unsafe.SliceData(b))
	frozen.RLock()
	defer frozen.RUnlock()
	return frozen.size[at] == len(b)
}

// Text is string(b), without a copy if b is frozen.
func Text(b []byte) string {
	if Frozen(b) {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	return string(b)
}

// BytesOf returns the bytes of a string, which must not be changed, without a copy.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
