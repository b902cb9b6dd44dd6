package jpeg

import (
	"strings"
	"testing"
	"time"
)

// TestEmptyScans: scans without data, of which a file of few kilobytes has a thousand, take
// little time even if the image is large.
func TestEmptyScans(t *testing.T) {
	const side = 3072
	size := string([]byte{side >> 8, side & 255, side >> 8, side & 255})
	scan := "\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00\x00\x00\x10" // one more bit of the first coefficients
	file := "\xff\xd8\xff\xdb\x00\x43\x00" + strings.Repeat("\x01", 64) +
		"\xff\xc2\x00\x11\x08" + size + "\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00" + strings.Repeat(scan, maxScans-1) + "\xff\xd9"
	d, err := NewDecoder(file, Options{Ratio: 8, Channels: 3})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := d.Decode(make([]byte, d.Height*d.Width*d.Channels)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("%d scans without data took %v", maxScans, took)
	}
}
