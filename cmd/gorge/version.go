package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version prints what this binary was built from.
func version(w io.Writer) error {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	_, err := fmt.Fprintf(w, "gorge %s %s %s/%s\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
