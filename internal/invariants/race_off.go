//go:build !race

package invariants

// Race says whether the race detector watches the program.
const Race = false
