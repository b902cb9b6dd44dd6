package tf

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// own is where the module's sources were when it was compiled. Frames of its packages build
// graphs on the program's behalf and are not what a message should name. Files tell them from
// the program's: a closure of the library's, inlined into a function of the program's, has that
// function's name.
var own = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(filepath.ToSlash(file), "tf/callers.go")
}()

// positions caches, by program counter, the text of the program's innermost
// frame there, "" if all frames are the library's. A program has few places
// that add nodes, so each is resolved once.
var positions sync.Map

// caller returns where the program called into the library: "main.go:30".
func caller() string {
	const deepest = 128
	var pcs [deepest]uintptr
	for _, pc := range pcs[:runtime.Callers(3, pcs[:])] {
		if at := position(pc); at != "" {
			return at
		}
	}
	return ""
}

func position(pc uintptr) string {
	if at, ok := positions.Load(pc); ok {
		return at.(string)
	}
	at := resolve(pc)
	positions.Store(pc, at)
	return at
}

// resolve looks at all the frames that inlining has put at one program counter.
func resolve(pc uintptr) string {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		if f.Function != "" && !isOwn(f) {
			return fmt.Sprintf("%s:%d", shortName(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// files holds, by short name, the files that positions have been named in.
var files = struct {
	sync.Mutex
	by map[string]string
}{by: map[string]string{}}

// shortName returns as much of a file's path, from its end, as tells it from the
// files named before: "main.go", or "cmd/a/main.go".
func shortName(file string) string {
	file = filepath.ToSlash(file)
	files.Lock()
	defer files.Unlock()
	for i := strings.LastIndexByte(file, '/'); i > 0; i = strings.LastIndexByte(file[:i], '/') {
		short := file[i+1:]
		if have, ok := files.by[short]; !ok || have == file {
			files.by[short] = file
			return short
		}
	}
	return file
}

// isOwn reports whether f is a frame of the library. Examples, commands and
// tests are users.
func isOwn(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(filepath.ToSlash(f.File), own)
	if !ok || strings.HasSuffix(f.File, "_test.go") {
		return strings.HasPrefix(f.Function, "runtime.") && strings.HasSuffix(f.File, ".s")
	}
	return strings.HasPrefix(rest, "tf/") || strings.HasPrefix(rest, "internal/")
}
