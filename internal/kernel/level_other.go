//go:build !amd64 || noasm

package kernel

// Levels returns the levels that this build has.
func Levels() []Level { return []Level{Portable} }
