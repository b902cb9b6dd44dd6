package main

import (
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A sentence has up to six words out of ten: chance translates none. The decoder
// looks at words in the other order, so the picture is bright along one diagonal.
func TestTranslates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attention.png")
	right, err := run(t.Context(), io.Discard, file)
	if err != nil {
		t.Fatal(err)
	}
	if right < 0.9 {
		t.Errorf("%.0f%% of new sentences are translated without a mistake", 100*right)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	gray := img.(*image.Gray)
	n, other, all := gray.Bounds().Dx()/24, 0, 0
	for y := range n {
		for x := range n {
			v := int(gray.GrayAt(x*24+12, y*24+12).Y)
			all += v
			if x == n-1-y {
				other += v
			}
		}
	}
	if other*n < all*2 {
		t.Errorf("the other diagonal has %d of %d", other, all)
	}
}
