package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

func table(t *testing.T) []row {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "docs", "from-python.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := readTable(f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCounterpartsExist resolves every counterpart in the sources.
func TestCounterpartsExist(t *testing.T) {
	x, err := readIndex(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(x) < 5000 {
		t.Fatalf("the index has %d names only", len(x))
	}
	library := map[string]bool{}
	for _, r := range table(t) {
		for _, g := range r.goes {
			if name, ok := strings.CutPrefix(g, goLib); ok {
				library[name] = true
			} else if !x[g] {
				t.Errorf("line %d: there is no %s", r.source, g)
			}
		}
	}
	for name := range library {
		at := strings.LastIndex(name, ".")
		if out, err := exec.Command("go", "doc", "-short", name[:at], name[at+1:]).CombinedOutput(); err != nil {
			t.Errorf("go doc %s: %v %s", name, err, out)
		}
	}
}

// TestPageIsCurrent: the page is what the table says.
func TestPageIsCurrent(t *testing.T) {
	got, err := os.ReadFile(filepath.Join(root, "docs", "from-python.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page(table(t)) {
		t.Error("docs/from-python.md is not what the table says: run go run ./internal/gen/frompython")
	}
}

// least is which part of the names of a namespace must have counterparts, in
// percent; what is being written does not count.
var least = map[string]int{
	"tf": 90, "tf.math": 90, "tf.nn": 90, "tf.train": 90, "tf.image": 90, "tf.io": 90, "tf.strings": 90, "tf.sparse": 90,
	"tf.random": 90, "tf.signal": 90, "tf.losses": 90, "tf.metrics": 90, "tf.initializers": 90, "tf.linalg": 90,
}

func TestCoverage(t *testing.T) {
	counts := coverage(table(t))
	for space, want := range least {
		c := counts[space]
		if got := 100 * c.have / max(c.all, 1); got < want {
			t.Errorf("%s: %d %% of %d names have a counterpart, want %d %%", space, got, c.all, want)
		}
	}
}

// TestTableRefuses: what is wrong with a table is found.
func TestTableRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"abs | ops.Abs\nabs | ops.Abs | twice": "one line only",
		"b | ops.B\na | ops.A":                 "sorted",
		"a":                                    "NAMES",
		"a | ":                                 "counterpart",
		"a | -":                                "why",
		"a | later":                            "why",
		"a | b | c | d":                        "NAMES",
		" | ops.A":                             "name",
	} {
		if _, err := readTable(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}
