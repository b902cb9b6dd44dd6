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

// generatedSuffix marks the files that this tool owns.
const generatedSuffix = ".pb.go"

// write makes the generated files of dir be exactly want.
func write(dir string, want map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(want[name]), 0o644); err != nil {
			return err
		}
	}
	left, err := orphans(dir, want)
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// compare reports every generated file of dir that differs from want.
func compare(dir string, want map[string]string) error {
	var stale []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			stale = append(stale, fmt.Errorf("%s is missing: run go generate", name))
		case err != nil:
			return err
		case string(got) != want[name]:
			stale = append(stale, fmt.Errorf("%s is stale: run go generate", name))
		}
	}
	left, err := orphans(dir, want)
	if err != nil {
		return err
	}
	for _, name := range left {
		stale = append(stale, fmt.Errorf("%s has no .proto file: run go generate", name))
	}
	return errors.Join(stale...)
}

// orphans names the generated files of dir whose .proto file is gone.
func orphans(dir string, want map[string]string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+generatedSuffix))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range paths {
		if _, ok := want[filepath.Base(p)]; !ok {
			names = append(names, filepath.Base(p))
		}
	}
	return names, nil
}
