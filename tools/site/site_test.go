package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSite writes the whole site and follows all of its links: each leads to a file,
// and to a heading that is there.
func TestSite(t *testing.T) {
	s, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := s.write(out); err != nil {
		t.Fatal(err)
	}
	links := 0
	for source := range s.pages {
		name := filepath.Join(out, filepath.FromSlash(target(source)))
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(read(t, name), -1) {
			links++
			check(t, source, name, strings.ReplaceAll(m[1], "&amp;", "&"))
		}
	}
	if len(s.pages) < 25 || links < 500 || len(s.files) < 6 {
		t.Errorf("the site has %d pages, %d links, %d pictures", len(s.pages), links, len(s.files))
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// check follows one link.
func check(t *testing.T, source, name, link string) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Errorf("%s: %v", source, err)
		return
	}
	if u.Scheme != "" {
		return
	}
	to := name
	if u.Path != "" {
		to = filepath.Join(filepath.Dir(name), filepath.FromSlash(u.Path))
	}
	info, err := os.Stat(to)
	if err != nil || info.IsDir() {
		t.Errorf("%s links to %s, which is not in the site", source, link)
		return
	}
	if u.Fragment != "" && !strings.Contains(read(t, to), `id="`+u.Fragment+`"`) {
		t.Errorf("%s links to %s, which has no such heading", source, link)
	}
}

// TestTarget: pages keep their places.
func TestTarget(t *testing.T) {
	for source, want := range map[string]string{
		"README.md": "index.html", "docs/tutorial/README.md": "docs/tutorial/index.html", "OPS.md": "OPS.html",
		"docs/tutorial/01-first-graph/main.go": "docs/tutorial/01-first-graph/main.go.html", "docs/decisions": "docs/decisions/index.html",
		"docs/pictures/graph.svg": "docs/pictures/graph.svg",
	} {
		if got := target(source); got != want {
			t.Errorf("%s is written to %s, want %s", source, got, want)
		}
	}
}

// TestNavigation: readers find each page of docs from each other one.
func TestNavigation(t *testing.T) {
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(found) < 15 {
		t.Fatalf("%d pages (%v)", len(found), err)
	}
	for _, f := range found {
		if source := "docs/" + filepath.Base(f); !slices.Contains(first, source) {
			t.Errorf("the navigation lacks %s", source)
		}
	}
}
