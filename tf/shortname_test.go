package tf

import "testing"

// TestShortNames: a file is named by as much of its path as tells it from others.
func TestShortNames(t *testing.T) {
	for _, c := range [][2]string{
		{"/src/shortname/cmd/a/main.x", "main.x"}, {"/src/shortname/cmd/b/main.x", "b/main.x"}, {"/src/shortname/cmd/a/main.x", "main.x"},
		{"/src/shortname/other/b/main.x", "other/b/main.x"}, {"/src/shortname/cmd/b/main.x", "b/main.x"}, {"main.x", "main.x"},
	} {
		if got := shortName(c[0]); got != c[1] {
			t.Errorf("%s is called %s, want %s", c[0], got, c[1])
		}
	}
}
