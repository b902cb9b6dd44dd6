// Command asmgen writes the vector loops of the packages below internal/kernel, of internal/random and of
// internal/imagefile/jpeg: one assembly file and one file of Go declarations per family and instruction set.
//
//	go run . -out ../../internal
//	go run . -out ../../internal -check
//
// With -check nothing is written; the command fails if a file differs from
// what it would write.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	// A flag set of its own: avo has an -out among the global flags.
	flags := flag.NewFlagSet("asmgen", flag.ExitOnError)
	out := flags.String("out", ".", "the `directory` of the packages")
	check := flags.Bool("check", false, "compare instead of writing")
	_ = flags.Parse(os.Args[1:]) // exits on error
	if err := run(*out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "asmgen:", err)
		os.Exit(1)
	}
}

// run generates all files into a directory or compares them with it.
func run(dir string, check bool) error {
	files, err := generate()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		errs = append(errs, put(filepath.Join(dir, name), files[name], check))
	}
	return errors.Join(errs...)
}

func put(path string, data []byte, check bool) error {
	if !check {
		return os.WriteFile(path, data, 0o644)
	}
	have, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(have, data) {
		err = fmt.Errorf("%s is not what the generator writes", path)
	}
	return err
}
