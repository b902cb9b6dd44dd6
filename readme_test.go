package gorge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// program returns the complete program that the README shows.
func program(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("README.md shows no complete program")
	}
	return m[1]
}

// TestReadmeProgram builds the README's program as a user would: in a module of
// its own that requires Gorge, without cgo, and runs it.
func TestReadmeProgram(t *testing.T) {
	src := program(t)
	if n := len(strings.FieldsFunc(src, func(r rune) bool { return r == '\n' })); n > 25 {
		t.Errorf("the program has %d lines that are not blank, it promises brevity", n)
	}
	dir := t.TempDir()
	write(t, dir, "main.go", src)
	write(t, dir, "go.mod", userModule(t))
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.sum", string(sum))
	cmd := exec.Command("go", "run", "-mod=mod", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkLine(t, string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// userModule is the go.mod of a user: Gorge from this directory, everything
// else at the versions that Gorge asks for.
func userModule(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return "module example.com/user\n\ngo 1.26.0\n\nrequire github.com/gorge-tf/gorge v0.0.0\n\nreplace github.com/gorge-tf/gorge => " + here + "\n"
}

// checkLine looks for "[float32[]{3.0…} float32[]{1.0…}] <nil>".
func checkLine(t *testing.T, out string) {
	t.Helper()
	m := regexp.MustCompile(`\{([-0-9.e]+)\} float32\[\]\{([-0-9.e]+)\}\] <nil>`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("the program printed %q", out)
	}
	for i, want := range []float64{3, 1} {
		got, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil || got < want-1e-2 || got > want+1e-2 {
			t.Errorf("coefficient %d is %v, want %v", i, m[i+1], want)
		}
	}
}
