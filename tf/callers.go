package tf

import (
	"cmp"
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

// positions caches, by program counter, the calls there. A program has few places
// that add nodes, so each is resolved once.
var positions sync.Map

// A call is one of the program into the library.
type call struct {
	at       string // "main.go:30", "" where all frames are the library's
	function string // of the library that is called: "Dense"
}

// caller returns where the program called into the library: "main.go:30".
func caller() string { return calledAt().at }

// calledAt returns the program's call into the library.
func calledAt() call {
	const deepest = 128
	var pcs [deepest]uintptr
	function := ""
	for _, pc := range pcs[:runtime.Callers(3, pcs[:])] {
		c := callAt(pc)
		function = cmp.Or(c.function, function)
		if c.at != "" {
			return call{c.at, function}
		}
	}
	return call{}
}

// calling returns err as one of the function that the program called: "main.go:30: Device: …".
// An error that says that, or names a node, stays as it is.
func calling(err error) error {
	e := *AsError(err)
	if e.Node != "" || e.Op != "" {
		return err
	}
	c := calledAt()
	e.Op, e.Pos = c.function, c.at
	return &e
}

func callAt(pc uintptr) call {
	if c, ok := positions.Load(pc); ok {
		return c.(call)
	}
	c := resolve(pc)
	positions.Store(pc, c)
	return c
}

// resolve looks at all the frames that inlining has put at one program counter.
func resolve(pc uintptr) (c call) {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		if f.Function != "" && !isOwn(f) {
			c.at = fmt.Sprintf("%s:%d", shortName(f.File), f.Line)
			return c
		}
		c.function = plainName(f.Function)
		if !more {
			return c
		}
	}
}

// plainName returns what a program calls a function: "Map" of "a/b/data.(*Dataset).Map".
func plainName(function string) string {
	function = strings.ReplaceAll(function, "[...]", "") // type arguments
	return function[strings.LastIndexByte(function, '.')+1:]
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
