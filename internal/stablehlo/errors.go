package stablehlo

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is the cause of errors about artifacts that break the rules of their format.
	ErrCorrupt = errors.New("the artifact is damaged")
	// ErrUnsupported is the cause of errors about artifacts of versions, dialects or
	// encodings that this package does not know.
	ErrUnsupported = errors.New("it is not supported")
)

// corrupt notes that the artifact is damaged at the place of the cursor.
func (c *cursor) corrupt(format string, args ...any) { c.note(ErrCorrupt, format, args...) }

// unsupported notes that the artifact needs more than this package knows.
func (c *cursor) unsupported(format string, args ...any) { c.note(ErrUnsupported, format, args...) }

// note keeps the first error.
func (c *cursor) note(cause error, format string, args ...any) {
	if c.r.err != nil {
		return
	}
	msg := fmt.Sprintf(format, args...)
	c.r.err = fmt.Errorf("stablehlo: %s (in the %s, at byte %d of the artifact): %w", msg, c.what, c.base+c.at, cause)
}
