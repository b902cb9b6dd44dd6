package memory

import (
	"fmt"
	"strings"
)

// Exhausted is the error of memory that is not to be had. [New], [Pool.Get],
// [Make] and [Room] panic with it, so that loops that compute need no errors:
// the code that runs a kernel recovers it and makes it the error of the node.
type Exhausted struct {
	Asked int64
	InUse int64 // at that time, by all
	Limit int64 // that stands against it
	// Of names the holder that the limit is a share for, "" for the process.
	Of      string
	Holders []Holder // the largest first
}

// A Holder has some of the memory.
type Holder struct {
	Name  string
	Bytes int64
}

// Error says what was asked for, how much there is and which holders have it.
func (e *Exhausted) Error() string {
	of := e.Of
	if of == "" {
		of = "the process"
	}
	text := fmt.Sprintf("memory of %s must stay within its limit of %d bytes: %d more were asked for, %d are in use", of, e.Limit, e.Asked, e.InUse)
	if len(e.Holders) == 0 {
		return text
	}
	return text + "; who holds most: " + Held(e.Holders)
}

// Held lists holders for messages.
func Held(list []Holder) string {
	parts := make([]string, len(list))
	for i, h := range list {
		parts[i] = fmt.Sprintf("%s %d", h.Name, h.Bytes)
	}
	return strings.Join(parts, ", ")
}
