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
// goes when its memory is collected, or a little later: it then points to nothing. Weak
// pointers are made by Freeze only, since there are none to memory that is mapped.
var frozen struct {
	sync.RWMutex
	at map[uintptr]frozenBytes
}

type frozenBytes struct {
	first weak.Pointer[byte]
	n     int
}

// Freeze declares that b does not change any more. The caller must have made b, of Go's
// memory, and know every other holder of it. Small ones are not noted.
func Freeze(b []byte) {
	if len(b) < largeText {
		return
	}
	p := unsafe.SliceData(b)
	f := frozenBytes{weak.Make(p), len(b)}
	frozen.Lock()
	defer frozen.Unlock()
	if frozen.at[addressOf(p)].first == f.first {
		return
	}
	if frozen.at == nil {
		frozen.at = map[uintptr]frozenBytes{}
	}
	frozen.at[addressOf(p)] = f
	at := addressOf(p)
	runtime.AddCleanup(p, func(f frozenBytes) { thaw(at, f) }, f)
}

func addressOf(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }

// thaw forgets f, unless other bytes lie there by now.
func thaw(at uintptr, f frozenBytes) {
	frozen.Lock()
	defer frozen.Unlock()
	if frozen.at[at].first == f.first {
		delete(frozen.at, at)
	}
}

// Frozen reports whether b is large and has been frozen.
func Frozen(b []byte) bool {
	if len(b) < largeText {
		return false
	}
	p := unsafe.SliceData(b)
	frozen.RLock()
	f, ok := frozen.at[addressOf(p)]
	frozen.RUnlock()
	return ok && f.n == len(b) && f.first.Value() == p
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
