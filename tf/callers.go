package tf

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// callers remembers who added a node. It is resolved to a line only when asked.
type callers struct {
	pcs  [8]uintptr
	text string // known already, for nodes that came from elsewhere
}

// caller records the calling program's position, skipping the innermost frames.
func caller() *callers {
	c := &callers{}
	runtime.Callers(3, c.pcs[:])
	return c
}

// own lists the packages whose frames are not the user's: those that build
// graphs on his behalf.
const own = "github.com/gorge-tf/gorge/"

// String returns "main.go:30", the innermost frame outside of Gorge.
func (c *callers) String() string {
	switch {
	case c == nil:
		return ""
	case c.text != "" || c.pcs[0] == 0:
		return c.text
	}
	frames := runtime.CallersFrames(c.pcs[:])
	for {
		f, more := frames.Next()
		if !isOwn(f) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// isOwn reports whether f is a frame of the library. Examples, commands and
// tests are users.
func isOwn(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(f.Function, own)
	if !ok || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	return strings.HasPrefix(rest, "tf") || strings.HasPrefix(rest, "internal/")
}
