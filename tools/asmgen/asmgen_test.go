package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommittedFiles fails when the package's files are not what the
// generator writes now.
func TestCommittedFiles(t *testing.T) {
	if err := run("../../internal/kernel", true); err != nil {
		t.Error(err)
	}
}

func TestGenerateIsRepeatable(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err != nil {
		t.Error(err)
	}
	path := filepath.Join(dir, "cpuid_amd64.s")
	if err := os.WriteFile(path, []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, true); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a changed file is reported as %v", err)
	}
}

// TestEveryFileIsGuarded looks for the build constraint and, in functions that
// use vector registers, for the instruction that cleans them at the end.
func TestEveryFileIsGuarded(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		text := string(data)
		if !strings.Contains(text, "//go:build !noasm") {
			t.Errorf("%s has no build constraint", name)
		}
		if !strings.HasSuffix(name, ".s") || name == "cpuid_amd64.s" {
			continue
		}
		if ends, cleaned := strings.Count(text, "\tRET\n"), strings.Count(text, "\tVZEROUPPER\n\tRET\n"); ends != cleaned {
			t.Errorf("%s: %d of %d functions clean the vector registers", name, cleaned, ends)
		}
	}
}
