package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/gorge-tf/gorge/examples/internal/digits"
)

const (
	columns = 10
	zoom    = 2
	caption = 16
)

// drawMistakes writes a PNG of the digits that were guessed wrong, each with
// its label and what was guessed.
func drawMistakes(file string, d *digits.Set, wrong []int, guesses []int64) error {
	cell := d.Size*zoom + 4
	rows := max((len(wrong)+columns-1)/columns, 1)
	img := image.NewGray(image.Rect(0, 0, columns*cell, rows*(cell+caption)))
	for i, k := range wrong {
		x, y := i%columns*cell, i/columns*(cell+caption)
		drawDigit(img, d, k, x, y)
		drawText(img, fmt.Sprintf("%d not %d", d.Labels[k], guesses[k]), x, y+cell+caption-6)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func drawDigit(img *image.Gray, d *digits.Set, k, x, y int) {
	pixels := d.Pixels[k*d.Size*d.Size:]
	for r := range d.Size * zoom {
		for c := range d.Size * zoom {
			v := pixels[r/zoom*d.Size+c/zoom]
			img.SetGray(x+c, y+r, color.Gray{Y: uint8(v * 255)})
		}
	}
}

func drawText(img *image.Gray, s string, x, y int) {
	d := font.Drawer{Dst: img, Src: image.NewUniform(color.Gray{Y: 200}), Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(s)
}
