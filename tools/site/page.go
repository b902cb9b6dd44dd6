package main

import (
	"bytes"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var converter = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// markdown converts a page. Links to files of the repository lead to their pages.
func (s *site) markdown(source string) (*page, error) {
	src, err := s.read(source)
	if err != nil {
		return nil, err
	}
	p := &page{source: source, title: s.titleOf(source)}
	doc := converter.Parser().Parse(text.NewReader(src), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = s.follow(p, n.Destination)
		case *ast.Image:
			n.Destination = s.follow(p, n.Destination)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := converter.Renderer().Render(&b, src, doc); err != nil {
		return nil, err
	}
	p.body = template.HTML(b.String())
	return p, nil
}

// follow notes what a link leads to, and returns its address in the site.
func (s *site) follow(p *page, link []byte) []byte {
	u, err := url.Parse(string(link))
	if err != nil || u.Scheme != "" || u.Path == "" {
		return link
	}
	to := path.Join(path.Dir(p.source), u.Path)
	if info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(to))); err == nil && info.IsDir() {
		if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(to), "README.md")); err == nil {
			to = path.Join(to, "README.md")
		}
	}
	p.links = append(p.links, to)
	u.Path = relative(target(p.source), target(to))
	return []byte(u.String())
}

// A view is what the frame shows around a page.
type view struct {
	Title, Style string
	Body         template.HTML
	Nav          []entry
}

// An entry is a line of the navigation.
type entry struct {
	Title, Href string
	Here, Sub   bool
}

// view returns a page with the navigation as seen from it.
func (s *site) view(p *page) view {
	from := target(p.source)
	v := view{Title: p.title, Style: relative(from, "style.css"), Body: p.body}
	for _, source := range first {
		v.Nav = append(v.Nav, s.entry(p, source, false))
		if source == "docs/tutorial/README.md" {
			for _, chapter := range s.chapters() {
				v.Nav = append(v.Nav, s.entry(p, chapter, true))
			}
		}
	}
	return v
}

func (s *site) entry(p *page, source string, sub bool) entry {
	title := s.titleOf(source)
	switch source {
	case "README.md":
		title = "Gorge"
	case "docs/decisions":
		title = "Decisions"
	}
	return entry{Title: title, Href: relative(target(p.source), target(source)), Here: p.source == source, Sub: sub}
}

// chapters lists the tutorial's.
func (s *site) chapters() (out []string) {
	found, err := filepath.Glob(filepath.Join(s.root, "docs", "tutorial", "[0-9]*.md"))
	if err != nil {
		return nil
	}
	for _, f := range found {
		out = append(out, "docs/tutorial/"+filepath.Base(f))
	}
	return out
}

var frame = template.Must(template.New("page").Parse(strings.TrimSpace(`
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}} · Gorge</title>
<link rel="stylesheet" href="{{.Style}}">
</head>
<body>
<nav>
<ul>
{{range .Nav}}<li{{if .Sub}} class="sub"{{end}}><a href="{{.Href}}"{{if .Here}} aria-current="page"{{end}}>{{.Title}}</a></li>
{{end}}</ul>
</nav>
<main>
{{.Body}}
</main>
</body>
</html>
`) + "\n"))

const style = `:root { color-scheme: light; --line: #d5dbdb; --soft: #f4f6f7; --link: #1f618d; }
* { box-sizing: border-box; }
body { margin: 0; display: flex; font: 16px/1.55 system-ui, "Helvetica Neue", Arial, sans-serif; color: #1c2833; }
nav { flex: 0 0 15.5rem; height: 100vh; position: sticky; top: 0; overflow-y: auto; padding: 1.2rem; background: var(--soft); border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: .3rem 0; line-height: 1.3; }
nav li.sub { margin-left: .9rem; font-size: .88rem; }
nav a[aria-current] { font-weight: 600; color: #1c2833; }
main { flex: 1 1 auto; min-width: 0; max-width: 62rem; padding: 1.2rem 2.5rem 4rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 1.9rem; line-height: 1.2; }
h2 { margin-top: 2.2rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line); }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; font-size: .86rem; line-height: 1.45; tab-size: 4; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: .9em; }
pre code { font-size: 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .92rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
img { max-width: 100%; height: auto; }
@media (max-width: 50rem) { body { display: block; } nav { height: auto; position: static; border: 0; } main { padding: 1rem; } }
`
