package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/gorge-tf/gorge/tf"
)

// versionCommand prints the version. It takes nothing.
func versionCommand(args []string, stdout io.Writer) error {
	s := flag.NewFlagSet("gorge version", flag.ContinueOnError)
	s.Usage = func() { fmt.Fprintf(s.Output(), "usage: %s\n", s.Name()) }
	rest, err := arguments(s, args, stdout)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return tf.Errorf(tf.InvalidArgument, "version takes no arguments, got %q", rest)
	}
	return version(stdout)
}

// version prints what this binary was built from.
func version(w io.Writer) error {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	_, err := fmt.Fprintf(w, "gorge %s %s %s/%s\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
