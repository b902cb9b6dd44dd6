package swish_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/examples/customop/swish"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

func ExampleSwish() {
	g := eager.New()
	y, err := swish.Swish(ops.Const(g, []float64{-1, 0, 1}), 0).Value()
	fmt.Println(y, err) // with β = 0 it is x/2
	// Output: float64[3]{-0.5, 0, 0.5} <nil>
}

// TestContributingShowsThisPackage keeps the op that CONTRIBUTING.md explains
// equal to the one that is compiled and tested here.
func TestContributingShowsThisPackage(t *testing.T) {
	shown := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "../../../CONTRIBUTING.md"), -1)
	if len(shown) != 2 {
		t.Fatalf("CONTRIBUTING.md shows %d pieces of Go, want the op and a test", len(shown))
	}
	if op := shown[0][1]; op != read(t, "swish.go") {
		t.Error("the op in CONTRIBUTING.md is not swish.go")
	}
	if test := shown[1][1]; !strings.Contains(read(t, "swish_test.go"), test) {
		t.Error("the test in CONTRIBUTING.md is not in swish_test.go")
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
