package imagefile

import (
	"errors"
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
)

// What giflib says of broken files.
var (
	errGIFRead   = errors.New("Failed to read from given file")
	errGIFScreen = errors.New("No screen descriptor detected")
	errGIFImage  = errors.New("No Image Descriptor detected")
	errGIFRecord = errors.New("Wrong record type detected")
	errGIFDefect = errors.New("Image is defective, decoding aborted")
	errGIFEnd    = errors.New("Image EOF detected before image complete")
)

// A gifFrame is a frame as the file has it.
type gifFrame struct {
	left, top, width, height int
	colors                   string // red, green and blue of each; empty: none
	clear                    int    // the transparent color, -1 for none
	pixels                   []byte
}

// A gifReader reads a file from its beginning on.
type gifReader struct {
	rest   string
	colors string // of frames that have none of their own
	clear  int
	seen   bool // the next frame's first control extension
	frames []gifFrame
}

// A GIFFile holds the frames of a GIF file as they are there.
type GIFFile struct {
	Frames, Height, Width int

	frames []gifFrame
}

// ReadGIF reads the frames of a GIF file. One that ends early, or is damaged,
// has the frames before that.
func ReadGIF(data string) (*GIFFile, error) {
	r := &gifReader{rest: data, clear: -1}
	if err := r.screen(); err != nil {
		return nil, fmt.Errorf("failed to open gif file: %w", err)
	}
	if err := r.records(); err != nil && len(r.frames) == 0 {
		return nil, fmt.Errorf("failed to slurp gif file: %w", err)
	}
	f := &GIFFile{Frames: len(r.frames), frames: r.frames}
	for _, g := range r.frames {
		f.Height, f.Width = max(f.Height, g.height), max(f.Width, g.width)
	}
	return f, nil
}

// Decode computes red, green and blue of as many frames as dst takes. As in
// TensorFlow the canvas is as large as the largest frame's sides, each frame is
// drawn on the one before, whatever its way of disposal, and what nothing covers
// is black.
func (f *GIFFile) Decode(dst []byte) error {
	size := f.Height * f.Width * 3
	for k := range len(dst) / size {
		canvas := dst[k*size:][:size]
		if k > 0 {
			copy(canvas, dst[(k-1)*size:])
		} else {
			clear(canvas)
		}
		if err := f.draw(canvas, k); err != nil {
			return err
		}
	}
	return nil
}

// draw draws frame k on a canvas.
func (file *GIFFile) draw(canvas []byte, k int) error {
	f := &file.frames[k]
	if f.colors == "" {
		return fmt.Errorf("missing color map for frame %d", k)
	}
	for y := f.top; y < min(f.top+f.height, file.Height); y++ {
		row := f.pixels[(y-f.top)*f.width:]
		for x := f.left; x < min(f.left+f.width, file.Width); x++ {
			c := int(row[x-f.left])
			if c == f.clear {
				continue
			}
			if c >= len(f.colors)/3 {
				return fmt.Errorf("found color index %d outside of color map range %d", c, len(f.colors)/3)
			}
			copy(canvas[(y*file.Width+x)*3:][:3], f.colors[3*c:])
		}
	}
	return nil
}

// take returns the next n bytes.
func (r *gifReader) take(n int) (string, error) {
	if len(r.rest) < n {
		r.rest = ""
		return "", errGIFRead
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

// palette reads the colors that a packed byte speaks of.
func (r *gifReader) palette(packed byte) (string, error) {
	if packed&0x80 == 0 {
		return "", nil
	}
	return r.take(3 << (packed&7 + 1))
}

// screen reads the header.
func (r *gifReader) screen() error {
	if _, err := r.take(6); err != nil {
		return err
	}
	b, err := r.take(7)
	if err == nil {
		r.colors, err = r.palette(b[4])
	}
	if err != nil {
		return errGIFScreen
	}
	return nil
}

// records reads all frames.
func (r *gifReader) records() error {
	for {
		b, err := r.take(1)
		if err != nil {
			return err
		}
		switch b {
		case ",":
			err = r.image()
		case "!":
			err = r.extension()
		case ";":
			if len(r.frames) == 0 {
				err = errGIFImage
			}
			return err
		default:
			err = errGIFRecord
		}
		if err != nil {
			return err
		}
	}
}

// extension reads an extension; only the first control extension before a frame
// counts.
func (r *gifReader) extension() error {
	kind, err := r.take(1)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		b, err := r.block()
		if err != nil || b == "" {
			return err
		}
		if kind == "\xf9" && i == 0 && !r.seen {
			r.seen = true
			if len(b) == 4 && b[0]&1 != 0 {
				r.clear = int(b[3])
			}
		}
	}
}

// block reads a block of data; the empty one is the last.
func (r *gifReader) block() (string, error) {
	n, err := r.take(1)
	if err != nil {
		return "", err
	}
	return r.take(int(n[0]))
}

// image reads a frame.
func (r *gifReader) image() error {
	b, err := r.take(9)
	if err != nil {
		return err
	}
	word := func(at int) int { return int(b[at]) | int(b[at+1])<<8 }
	f := gifFrame{left: word(0), top: word(2), width: word(4), height: word(6), clear: r.clear}
	if f.colors, err = r.palette(b[8]); err != nil {
		return err
	}
	if f.colors == "" {
		f.colors = r.colors
	}
	bits, err := r.take(1)
	if err != nil || bits[0] > 8 {
		return errGIFRead
	}
	if f.width == 0 || f.height == 0 {
		return errors.New("Unknown error")
	}
	if f.pixels, err = newLZW(r, uint(bits[0])).read(f.width * f.height); err != nil {
		return err
	}
	for end := false; !end; {
		b, err := r.block()
		if err != nil {
			return err
		}
		end = b == ""
	}
	if b[8]&0x40 != 0 {
		f.pixels = deinterlace(f.pixels, f.width, f.height)
	}
	r.frames = append(r.frames, f)
	r.clear, r.seen = -1, false
	return nil
}

// deinterlace puts rows where they belong.
func deinterlace(pixels []byte, width, height int) []byte {
	out := memory.Make[byte](len(pixels))
	from := 0
	for _, pass := range [...]struct{ first, step int }{{0, 8}, {4, 8}, {2, 4}, {1, 2}} {
		for y := pass.first; y < height; y += pass.step {
			copy(out[y*width:][:width], pixels[from:])
			from += width
		}
	}
	return out
}
