// Package docs tests the pages of documentation: code that they show is compiled and
// run, texts that they quote exist, and links lead somewhere.
package docs

import (
	"bytes"
	"flag"
	"go/format"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files whose code add-an-op.md shows")

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns what stands between fences with an info string.
func blocks(page, info string) (out []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+info+"\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestAddAnOp: what the page shows is the package docs/clampedsum, which is tested
// like any other.
func TestAddAnOp(t *testing.T) {
	page := read(t, "add-an-op.md")
	for name, info := range map[string]string{"clampedsum/clampedsum.go": "go", "clampedsum/clampedsum_test.go": "go test"} {
		want, err := format.Source([]byte(strings.Join(blocks(page, info), "\n")))
		if err != nil {
			t.Fatalf("what add-an-op.md shows as %q is no file: %v", info, err)
		}
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, name); !bytes.Equal([]byte(got), want) {
			t.Errorf("%s is not what add-an-op.md shows: change the page, then run go test ./docs -update", name)
		}
	}
}

// texts returns all that an error may say: the lines of the list of mistakes, and the
// sources of the library.
func texts(t *testing.T) (mistakes []string, sources string) {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"../tf", "../internal"} {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.Split(read(t, "../tf/session/testdata/mistakes.txt"), "\n"), all.String()
}

// inOrder reports whether line has all parts, one after the other.
func inOrder(line string, parts []string) bool {
	for _, p := range parts {
		at := strings.Index(line, p)
		if at < 0 {
			return false
		}
		line = line[at+len(p):]
	}
	return true
}

// TestTroubleshooting: the library says what the page quotes.
func TestTroubleshooting(t *testing.T) {
	mistakes, sources := texts(t)
	n := 0
	for _, block := range blocks(read(t, "troubleshooting.md"), "text") {
		for _, quote := range strings.Split(strings.TrimRight(block, "\n"), "\n") {
			n++
			parts, found := strings.Split(quote, "…"), strings.Contains(sources, quote)
			for _, m := range mistakes {
				found = found || inOrder(m, parts)
			}
			if !found {
				t.Errorf("no error says %q", quote)
			}
		}
	}
	if n < 50 {
		t.Errorf("the page has %d texts only", n)
	}
}

// pages returns the files of documentation.
func pages(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "*/*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// TestLinks follows the links between pages and to files.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, name := range pages(t) {
		page := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`").ReplaceAllString(read(t, name), "")
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if u.Scheme != "" || u.Path == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), u.Path)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}

// TestHowTo: the pieces that how-to.md shows are in the examples that run, and so is what
// it says that they print.
func TestHowTo(t *testing.T) {
	page, source := read(t, "how-to.md"), read(t, "how_to_example_test.go")
	code := flat(source)
	for _, b := range blocks(page, "go") {
		if !strings.Contains(code, flat(b)) {
			t.Errorf("how_to_example_test.go lacks\n%s", b)
		}
	}
	printed := flat(strings.ReplaceAll(source, "//", ""))
	for _, b := range blocks(page, "text") {
		if !strings.Contains(printed, "Output: "+flat(b)) {
			t.Errorf("no example in how_to_example_test.go prints\n%s", b)
		}
	}
}

// TestMetrics: operations.md names each metric of a server. The ones about queue pairs share a row.
func TestMetrics(t *testing.T) {
	page := read(t, "operations.md")
	sources := read(t, "../internal/statuspage/metrics.go") + read(t, "../internal/telemetry/telemetry.go")
	names := regexp.MustCompile(`"(gorge_[a-z_]+)"`).FindAllStringSubmatch(sources, -1)
	if len(names) < 15 {
		t.Fatalf("%d metrics only", len(names))
	}
	for _, m := range names {
		if !strings.Contains(page, "`"+m[1]+"`") {
			t.Errorf("operations.md does not name %s", m[1])
		}
	}
}

// TestTables: each row of a table has as many cells as its head, so that it is shown as it was
// meant, and no row stands without a head.
func TestTables(t *testing.T) {
	code := regexp.MustCompile("(?ms)^```.*?^```")
	rule := regexp.MustCompile(`^\|( *:?-+:? *\|)+$`)
	for _, name := range pages(t) {
		lines := strings.Split(strings.ReplaceAll(code.ReplaceAllString(read(t, name), ""), `\|`, ""), "\n")
		cells := 0
		for i, line := range lines {
			switch {
			case !strings.HasPrefix(line, "|"):
				cells = 0
			case cells == 0 && (i+1 == len(lines) || !rule.MatchString(lines[i+1])):
				t.Errorf("%s: a row without a head: %.80s", name, line)
			case cells == 0:
				cells = strings.Count(line, "|")
			case strings.Count(line, "|") != cells:
				t.Errorf("%s: a row of %d cells, its head has %d: %.80s", name, strings.Count(line, "|")-1, cells-1, line)
			}
		}
	}
}
