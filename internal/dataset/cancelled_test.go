package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// untilAsked is a context that ends when it has been asked so many times.
type untilAsked struct {
	context.Context
	left int
}

func (c *untilAsked) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestReadingGoesOnAfterACancelledCall: a call that is cancelled while it reads a file
// takes away no record, nor the rest of the file.
func TestReadingGoesOnAfterACancelledCall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines")
	line := strings.Repeat("x", 99) + "\n"
	const n = 10000 // more than is read at a time
	if err := os.WriteFile(name, []byte(strings.Repeat(line, n)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := must2(t)(Lines([]string{name}, ""))
	it := mustIterate(t, d)
	defer it.Close()
	got, failed := 0, 0
	for i := 0; ; i++ {
		ctx := context.Context(t.Context())
		if i%1000 < 999 { // such a call may read from its buffer alone
			ctx = &untilAsked{t.Context(), 1}
		}
		_, err := it.Next(ctx)
		if err == End {
			break
		}
		if err != nil {
			failed++
			continue
		}
		got++
	}
	if got != n || failed == 0 {
		t.Errorf("%d of %d lines came, %d calls were cancelled", got, n, failed)
	}
}
