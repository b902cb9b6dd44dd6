package pass

import (
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/training"
)

// testCase is one case of a file in testdata: "== name", sections apart by
// "---". The first section is a graph.
type testCase struct {
	name     string
	sections []string
}

func readCases(t *testing.T, file string) []testCase {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out []testCase
	for _, part := range strings.Split("\n"+string(b), "\n== ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		out = append(out, testCase{name, strings.Split(body, "---\n")})
	}
	return out
}

func parse(t testing.TB, text string) *graph.Graph {
	t.Helper()
	g, err := graphtext.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// same compares texts line by line.
func same(t *testing.T, got, want string) {
	t.Helper()
	if got, want := strings.TrimSpace(got), strings.TrimSpace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// message is what a case expects of an error.
func message(err error) string {
	if err == nil {
		return ""
	}
	return core.CodeOf(err).String() + ": " + core.AsError(err).Message()
}
