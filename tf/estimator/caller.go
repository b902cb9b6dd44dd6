package estimator

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// library is where the library's sources were when it was compiled.
var library = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(filepath.ToSlash(file), "estimator/caller.go")
}()

// isOwn reports whether a file is the library's. Functions do not tell: one of the library's may
// be inlined into the program's, with its closures.
func isOwn(file string) bool {
	return strings.HasPrefix(filepath.ToSlash(file), library) && !strings.HasSuffix(file, "_test.go")
}

// caller returns where the program called into the library: "main.go:30".
func caller() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !isOwn(f.File) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// placeOf returns where a function is written, "" for one of the library.
func placeOf(fn any) string {
	f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
	if f == nil {
		return ""
	}
	file, line := f.FileLine(f.Entry())
	if isOwn(file) {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}
