// Package versions decides which versions of a model a server loads and unloads,
// and when. It does no I/O and starts nothing: a source tells it which versions
// there are, it says what to do, and its caller does that and reports back.
package versions

import (
	"cmp"
	"slices"
	"strconv"
)

// A Policy chooses versions out of those that a directory has. The zero value
// chooses the latest one.
type Policy struct {
	Latest   int     // how many of the highest versions; 0: one
	All      bool    // every version
	Specific []int64 // these, if they are there; none of them if it is empty; nil: not asked for
}

// Choose returns the versions out of have that are to be served, the highest
// first.
func (p Policy) Choose(have []int64) []int64 {
	out := slices.Clone(have)
	slices.SortFunc(out, func(a, b int64) int { return cmp.Compare(b, a) })
	out = slices.Compact(out)
	switch {
	case p.All:
		return out
	case p.Specific != nil:
		return slices.DeleteFunc(out, func(v int64) bool { return !slices.Contains(p.Specific, v) })
	}
	return out[:min(len(out), max(p.Latest, 1))]
}

// Parse returns the version that the name of a directory stands for: a number
// without sign. Leading zeros do not count.
func Parse(name string) (version int64, ok bool) {
	if name == "" || name[0] < '0' || name[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseInt(name, 10, 64)
	return v, err == nil
}
