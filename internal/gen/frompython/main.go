// Command frompython writes docs/from-python.md from docs/from-python.txt and prints
// how much of each namespace of tf.compat.v1 has a counterpart. It is run in the
// root of the repository:
//
//	go run ./internal/gen/frompython
//
// tools/frompython/list.py lists the names of the installed TensorFlow.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string) error {
	f, err := os.Open(filepath.Join(root, "docs", "from-python.txt"))
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := readTable(f)
	if err != nil {
		return err
	}
	counts := coverage(rows)
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		c := counts[s]
		fmt.Printf("%-20s %4d names %4d counterparts %4d being written %4d%%\n", s, c.all, c.have, c.later, c.share())
	}
	return os.WriteFile(filepath.Join(root, "docs", "from-python.md"), []byte(page(rows)), 0o644)
}
