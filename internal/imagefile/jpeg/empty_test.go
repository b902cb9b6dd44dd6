package jpeg

import (
	"slices"
	"strings"
	"testing"
)

// BenchmarkEmptyScans decodes a file of 14 KB whose scans have no data: going through all blocks
// of the image for each of them would take half a minute.
func BenchmarkEmptyScans(b *testing.B) {
	const side = 3072
	for b.Loop() {
		decodeEmptyScans(b, side)
	}
}

// TestEmptyScans: scans without data change nothing.
func TestEmptyScans(t *testing.T) { decodeEmptyScans(t, 64) }

func decodeEmptyScans(t testing.TB, side int) {
	t.Helper()
	size := string([]byte{byte(side >> 8), byte(side), byte(side >> 8), byte(side)})
	scan := "\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00\x00\x00\x10" // one more bit of the first coefficients
	file := "\xff\xd8\xff\xdb\x00\x43\x00" + strings.Repeat("\x01", 64) +
		"\xff\xc2\x00\x11\x08" + size + "\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00" + strings.Repeat(scan, maxScans-1) + "\xff\xd9"
	d, err := NewDecoder(file, Options{Ratio: 8, Channels: 3})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, d.Height*d.Width*d.Channels)
	if err := d.Decode(out); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(out, func(v byte) bool { return v != out[0] }); i >= 0 {
		t.Errorf("an image without data must have one color, element %d differs", i)
	}
}
