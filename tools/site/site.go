package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A site is the documentation as pages, by the paths of their sources.
type site struct {
	root  string
	pages map[string]*page
	files map[string]bool // copied as they are: pictures
}

// A page is one file of the site.
type page struct {
	source string // path in the repository, with slashes
	title  string
	body   template.HTML
	links  []string // what it links to in the repository
}

// first are the pages of the navigation, in its order.
var first = []string{
	"README.md", "docs/tutorial/README.md", "docs/how-to.md", "docs/concepts.md", "docs/models.md", "docs/savedmodel.md", "docs/serving.md", "docs/from-python.md",
	"docs/troubleshooting.md", "docs/options.md", "docs/add-an-op.md", "docs/add-a-device.md", "OPS.md",
	"docs/compatibility.md", "docs/operations.md", "docs/reliability.md", "docs/rdma.md", "docs/renamed.md", "docs/ported-tests.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "BENCHMARKS.md", "docs/decisions",
}

// load reads all pages, and what they link to.
func load(root string) (*site, error) {
	s := &site{root: root, pages: map[string]*page{}, files: map[string]bool{}}
	waiting := slices.Clone(first)
	for _, pattern := range []string{"docs/*.md", "docs/tutorial/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			rel, err := filepath.Rel(root, f)
			if err != nil {
				return nil, err
			}
			waiting = append(waiting, filepath.ToSlash(rel))
		}
	}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		links, err := s.add(next)
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, links...)
	}
	return s, nil
}

// add reads one file or directory, unless it has been read, and returns what it links
// to.
func (s *site) add(source string) (links []string, err error) {
	if s.pages[source] != nil || s.files[source] {
		return nil, nil
	}
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil {
		return nil, err
	}
	var p *page
	switch {
	case info.IsDir():
		p, err = s.listing(source)
	case strings.HasSuffix(source, ".md"):
		p, err = s.markdown(source)
	case isPicture(source):
		s.files[source] = true
		return nil, nil
	default:
		p, err = s.code(source)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	s.pages[source] = p
	return p.links, nil
}

func isPicture(name string) bool {
	return slices.Contains([]string{".svg", ".png", ".jpg"}, path.Ext(name))
}

func (s *site) read(source string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
}

// code shows a source file.
func (s *site) code(source string) (*page, error) {
	text, err := s.read(source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<h1>%s</h1>\n<pre><code>%s</code></pre>\n", template.HTMLEscapeString(source), template.HTMLEscapeString(string(text)))
	return &page{source: source, title: path.Base(source), body: template.HTML(b.String())}, nil
}

// listing shows what a directory holds: pages, or sources.
func (s *site) listing(source string) (*page, error) {
	entries, err := fs.ReadDir(os.DirFS(s.root), source)
	if err != nil {
		return nil, err
	}
	p := &page{source: source, title: source}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<h1>%s</h1>\n<ul>\n", template.HTMLEscapeString(source))
	for _, e := range entries {
		child := path.Join(source, e.Name())
		if e.IsDir() || !slices.Contains([]string{".md", ".go"}, path.Ext(child)) || strings.HasSuffix(child, "_test.go") {
			continue
		}
		p.links = append(p.links, child)
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a></li>\n", template.HTMLEscapeString(relative(target(source), target(child))), template.HTMLEscapeString(s.titleOf(child)))
	}
	b.WriteString("</ul>\n")
	p.body = template.HTML(b.String())
	return p, nil
}

// titleOf is the first heading of a page, or the name of the file.
func (s *site) titleOf(source string) string {
	if text, err := s.read(source); err == nil && strings.HasSuffix(source, ".md") {
		if line, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(line, "# ") {
			return strings.TrimPrefix(line, "# ")
		}
	}
	return path.Base(source)
}

// target is where a source is written to: pages keep their places, README.md is the
// index of its directory.
func target(source string) string {
	dir, name := path.Split(source)
	switch {
	case isPicture(source):
		return source
	case name == "README.md":
		return dir + "index.html"
	case strings.HasSuffix(name, ".md"):
		return strings.TrimSuffix(source, ".md") + ".html"
	case path.Ext(name) == "" && !strings.Contains(name, "LICENSE"):
		return source + "/index.html"
	}
	return source + ".html"
}

// relative is the address of one file of the site from another.
func relative(from, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
	if err != nil {
		return to
	}
	return filepath.ToSlash(rel)
}

// write writes all pages and files below a directory.
func (s *site) write(out string) error {
	put := func(name string, text []byte) error {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	}
	for source, p := range s.pages {
		var b bytes.Buffer
		if err := frame.Execute(&b, s.view(p)); err != nil {
			return err
		}
		if err := put(target(source), b.Bytes()); err != nil {
			return err
		}
	}
	for source := range s.files {
		text, err := s.read(source)
		if err != nil {
			return err
		}
		if err := put(source, text); err != nil {
			return err
		}
	}
	return put("style.css", []byte(style))
}
