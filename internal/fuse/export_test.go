package fuse

// SetLeastStretched changes from how many bytes on results are computed in stretches, and
// returns what changes it back.
func SetLeastStretched(bytes int) (back func()) {
	before := leastStretched
	leastStretched = bytes
	return func() { leastStretched = before }
}
