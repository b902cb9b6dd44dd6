package core

import (
	"math"
	"strings"
)

// Join is strings.Join within the memory limit; see Make.
func Join(parts []string, sep string) string {
	n := len(sep) * max(0, len(parts)-1)
	for _, p := range parts {
		n += len(p)
	}
	if n >= 0 {
		Room(n)
	}
	return strings.Join(parts, sep)
}

// Repeat is strings.Repeat within the memory limit; see Make.
func Repeat(s string, n int) string {
	if n > 0 && len(s) > math.MaxInt/n {
		Room(math.MaxInt)
	}
	Room(len(s) * n)
	return strings.Repeat(s, n)
}
