package record

import (
	"io"
	"testing"
)

// TestChunksOfEmptyRecords: a chunk ends although its records have no data, so that a file
// of many such records need not fit into memory.
func TestChunksOfEmptyRecords(t *testing.T) {
	left := 1 << 20
	next := func() ([]byte, bool, error) {
		if left == 0 {
			return nil, false, io.EOF
		}
		left--
		return nil, false, nil
	}
	if c, more := fill(next); len(c.records) > chunkBytes || !more {
		t.Errorf("a chunk has %d records, more may follow: %v", len(c.records), more)
	}
}
