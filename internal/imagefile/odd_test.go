package imagefile

import (
	"slices"
	"strings"
	"testing"
)

// TestPNGTransparentColor: of the samples of a transparent color as many bits count as
// those of the image have.
func TestPNGTransparentColor(t *testing.T) {
	for _, c := range []struct {
		kind byte
		data []byte
		key  string
		want []byte
	}{
		{pngRGB, []byte{1, 2, 3, 7, 8, 9}, "\x01\x01\x00\x02\x00\x03", []byte{1, 2, 3, 0, 7, 8, 9, 255}},
		{pngGray, []byte{1, 2}, "\x01\x01", []byte{1, 1, 1, 0, 2, 2, 2, 255}},
	} {
		file, err := EncodePNG(c.data, 1, 2, len(c.data)/2, 6)
		if err != nil {
			t.Fatal(err)
		}
		head := len(pngMagic) + 25
		f, err := ReadPNG(file[:head] + string(appendChunk(nil, "tRNS", []byte(c.key))) + file[head:])
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 8)
		if err := DecodePNG(f, got, 4); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("kind %d: pixels must be %v, got %v, %v", c.kind, c.want, got, err)
		}
	}
}

// TestGIFOfClearCodes: codes that start over forget what has been learned and go through
// nothing else, since a file may consist of them.
func TestGIFOfClearCodes(t *testing.T) {
	file := "GIF89a\x01\x00\x01\x00\x80\x00\x00" + "\x00\x00\x00\xff\xff\xff" + ",\x00\x00\x00\x00\x01\x00\x01\x00\x00" + "\x00" +
		strings.Repeat("\xff"+strings.Repeat("\xff", 255), 1<<12)
	if _, err := ReadGIF(file); err == nil {
		t.Error("a frame without pixels must be refused")
	}
	const untouched = 7
	d := newLZW(nil, 2)
	d.prefix[d.next], d.prefix[lzwLast] = 1, untouched
	d.next++
	if d.start(); d.prefix[d.next] != lzwNone || d.prefix[lzwLast] != untouched {
		t.Errorf("starting over leaves %d of what was learned and %d of what was not", d.prefix[d.next], d.prefix[lzwLast])
	}
}
