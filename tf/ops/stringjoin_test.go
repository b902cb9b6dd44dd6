package ops

import (
	"slices"
	"strings"
	"testing"
)

// TestJoinShort: strings that share memory are those that do not.
func TestJoinShort(t *testing.T) {
	many := make([]string, joinedTogether+7)
	for i := range many {
		many[i] = strings.Repeat("ab", i%5)
	}
	for _, sep := range []string{"", "-", "::"} {
		for _, in := range [][][]string{{}, {many}, {many, {"x"}, many}, {{"x"}, {""}}} {
			steps, size := make([]int, len(in)), 0
			for k := range in {
				steps[k] = min(1, len(in[k])-1)
			}
			got, want := make([]string, joinedTogether), make([]string, joinedTogether)
			joinLong(want, 7, in, steps, sep)
			joinShort(got, 7, in, steps, sep, size)
			if !slices.Equal(got, want) {
				t.Fatalf("%d inputs with %q: %q, want %q", len(in), sep, got, want)
			}
		}
	}
}
