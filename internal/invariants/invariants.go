// Package invariants holds the assertions that are too dear for production:
// they run when the program is built with the tag "invariants" or with the
// race detector and cost nothing otherwise.
package invariants

import "fmt"

// Assert panics with the formatted message when ok is false and assertions are
// on. It is inlined to nothing otherwise, but its arguments are still
// evaluated: put calls that cost something under "if Enabled".
func Assert(ok bool, format string, args ...any) {
	if Enabled && !ok {
		fail(format, args...)
	}
}

// fail is apart from Assert so that Assert stays small enough to be inlined.
func fail(format string, args ...any) {
	panic("invariant violated: " + fmt.Sprintf(format, args...))
}
