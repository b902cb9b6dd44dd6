package estimator

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

const library = "github.com/gorge-tf/gorge/tf/"

// caller returns where the program called into the library: "main.go:30".
func caller() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, library) || strings.HasSuffix(f.File, "_test.go") {
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
	if strings.HasPrefix(f.Name(), library) && !strings.HasSuffix(file, "_test.go") {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}
