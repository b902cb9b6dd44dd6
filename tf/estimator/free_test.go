package estimator

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestFreeIsLatest: a new export has a greater number than all before it, also where old
// ones have been removed in the same second.
func TestFreeIsLatest(t *testing.T) {
	base := t.TempDir()
	for _, ahead := range []int64{100, 102} {
		name := strconv.FormatInt(time.Now().Unix()+ahead, 10)
		if err := os.Mkdir(filepath.Join(base, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	all, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := free(base)
	if last := all[1].Name(); err != nil || filepath.Base(dir) <= last {
		t.Errorf("a new export is %s, %v, want a number greater than %s", dir, err, last)
	}
}
