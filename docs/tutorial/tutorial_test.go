// Package tutorial tests the chapters of the tutorial: the pieces of Go that a
// chapter shows, one after the other, are the program beside it, and what the
// chapter says that it prints is what it prints.
package tutorial

import (
	"bytes"
	"flag"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the programs that the chapters show")

// A chapter is a page and the program beside it.
type chapter struct {
	page, dir string
	program   []byte // what the page shows, formatted
	output    string // what the page says that it prints
}

// blocks returns what stands between fences of a language, joined.
func blocks(page, language string) string {
	var out strings.Builder
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		out.WriteString(m[1])
		if language == "go" {
			out.WriteString("\n")
		}
	}
	return out.String()
}

func readChapter(t *testing.T, name string) chapter {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	program, err := format.Source([]byte(blocks(string(text), "go")))
	if err != nil {
		t.Fatalf("%s: its pieces are no program: %v", name, err)
	}
	return chapter{page: name, dir: strings.TrimSuffix(name, ".md"), program: tidy(program), output: blocks(string(text), "text")}
}

// tidy leaves out the empty lines that come from joining pieces.
func tidy(src []byte) []byte {
	src = regexp.MustCompile(`\n{3,}`).ReplaceAll(src, []byte("\n\n"))
	src = regexp.MustCompile(`\{\n\n+`).ReplaceAll(src, []byte("{\n"))
	src = regexp.MustCompile(`\n\n+(\t*\})`).ReplaceAll(src, []byte("\n$1"))
	return append(bytes.TrimSpace(src), '\n')
}

func (c chapter) source() string { return filepath.Join(c.dir, "main.go") }

// write makes the program of what the page shows.
func (c chapter) write(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.source(), c.program, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestChapters compares each page with its program and runs that.
func TestChapters(t *testing.T) {
	pages, err := filepath.Glob("[0-9]*.md")
	if err != nil || len(pages) != 8 && !*update {
		t.Fatalf("there are %d chapters, want 8 (%v)", len(pages), err)
	}
	for _, name := range pages {
		t.Run(strings.TrimSuffix(name, ".md"), func(t *testing.T) {
			t.Parallel()
			c := readChapter(t, name)
			if *update {
				c.write(t)
			}
			c.compare(t)
			c.run(t)
		})
	}
}

// compare fails if page and program differ. -update writes the program anew.
func (c chapter) compare(t *testing.T) {
	t.Helper()
	src, err := os.ReadFile(c.source())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(src, c.program) {
		t.Errorf("%s is not what %s shows: change the page, then run go test ./docs/tutorial -update", c.source(), c.page)
	}
}

func (c chapter) run(t *testing.T) {
	t.Helper()
	cmd := exec.Command("go", "run", "./"+c.dir)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &log)
	}
	if out.String() != c.output {
		t.Errorf("%s printed\n%s\nbut the page says\n%s", c.source(), &out, c.output)
	}
}

// TestIndex keeps the list of chapters complete, and its links alive.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("[0-9]*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if !strings.Contains(string(index), "]("+p+")") {
			t.Errorf("README.md has no link to %s", p)
		}
	}
}
