package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// An output is a set of generated files.
type output struct {
	dir   string
	owned string // which files of dir are this tool's, as a pattern
	files map[string]string
}

// write makes the generated files be exactly these.
func (o output) write() error {
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(o.files[name]), 0o644); err != nil {
			return err
		}
	}
	left, err := o.orphans()
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(filepath.Join(o.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// compare reports every generated file that differs.
func (o output) compare() error {
	var stale []error
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		got, err := os.ReadFile(filepath.Join(o.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			stale = append(stale, fmt.Errorf("%s is missing: run go generate", name))
		case err != nil:
			return err
		case string(got) != o.files[name]:
			stale = append(stale, fmt.Errorf("%s is stale: run go generate", name))
		}
	}
	left, err := o.orphans()
	if err != nil {
		return err
	}
	for _, name := range left {
		stale = append(stale, fmt.Errorf("%s has no .proto file: run go generate", name))
	}
	return errors.Join(stale...)
}

// orphans names the generated files whose .proto file is gone.
func (o output) orphans() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(o.dir, o.owned))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range paths {
		if _, ok := o.files[filepath.Base(p)]; !ok {
			names = append(names, filepath.Base(p))
		}
	}
	return names, nil
}
