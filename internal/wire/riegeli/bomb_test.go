package riegeli

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// TestBomb: what says that it becomes more than a protocol buffer can be is refused
// before anything is decompressed.
func TestBomb(t *testing.T) {
	for _, c := range []byte{brotliCompression, zstdCompression, snappyCompression} {
		_, err := decompress(c, binary.AppendUvarint(nil, 1<<40))
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "at most 2147483648 bytes, it says 1099511627776") {
			t.Errorf("%c: %v", c, err)
		}
	}
}
