package imagefile

import (
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
)

const (
	pngMagic   = "\x89PNG\r\n\x1a\n"
	pngMaxSize = 1000000 // in pixels, as libpng has it
	// zlibRatio is more than any data can be compressed.
	zlibRatio = 1040
)

// The types of color that a header may name.
const (
	pngGray      = 0
	pngRGB       = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngRGBAlpha  = 6
)

var errPNG = errors.New("png: invalid data")

// A PNGFile is a PNG file up to its pixels.
type PNGFile struct {
	Height, Width int

	depth      int
	kind       byte
	interlaced bool
	palette    string
	alphas     string // of the palette, or the samples of the transparent color
	hasAlphas  bool
	gamma      int    // times 100000, 0 if it is not known
	rest       string // from the first chunk of pixels on
}

// A pngChunk is a part of a file.
type pngChunk struct {
	kind, data string
	damaged    bool
}

// nextChunk splits the first chunk off. Damaged ones that need not be
// understood are told apart.
func nextChunk(s string) (c pngChunk, rest string, err error) {
	if len(s) < 12 {
		return c, "", errPNG
	}
	n := binary.BigEndian.Uint32([]byte(s[:4]))
	if n > 1<<31-1 || int(n) > len(s)-12 {
		return c, "", errPNG
	}
	c = pngChunk{kind: s[4:8], data: s[8 : 8+n]}
	c.damaged = crc32.ChecksumIEEE([]byte(s[4:8+n])) != binary.BigEndian.Uint32([]byte(s[8+n:12+n]))
	for _, b := range []byte(c.kind) {
		if b|0x20 < 'a' || b|0x20 > 'z' {
			return c, "", errPNG
		}
	}
	if c.critical() && c.damaged {
		return c, "", errPNG
	}
	return c, s[12+n:], nil
}

// critical reports whether a reader has to understand the chunk.
func (c *pngChunk) critical() bool { return c.kind[0]&0x20 == 0 }

// ReadPNG reads a file up to its pixels.
func ReadPNG(data string) (*PNGFile, error) {
	if !strings.HasPrefix(data, pngMagic) {
		return nil, errPNG
	}
	c, rest, err := nextChunk(data[len(pngMagic):])
	if err != nil || c.kind != "IHDR" {
		return nil, errPNG
	}
	f := &PNGFile{}
	if err := f.header(c.data); err != nil {
		return nil, err
	}
	for !beginsPixels(rest) {
		if c, rest, err = nextChunk(rest); err != nil {
			return nil, err
		}
		if err := f.chunk(&c); err != nil {
			return nil, err
		}
	}
	if f.kind == pngPalette && f.palette == "" {
		return nil, errPNG
	}
	f.rest = rest
	return f, nil
}

// beginsPixels reports whether the first chunk of pixels, whole or not, is next.
func beginsPixels(s string) bool { return len(s) >= 8 && s[0] < 0x80 && s[4:8] == "IDAT" }

func (f *PNGFile) header(b string) error {
	if len(b) != 13 {
		return errPNG
	}
	w, h := binary.BigEndian.Uint32([]byte(b[:4])), binary.BigEndian.Uint32([]byte(b[4:8]))
	if w == 0 || h == 0 || w > pngMaxSize || h > pngMaxSize {
		return errPNG
	}
	f.Width, f.Height, f.depth, f.kind, f.interlaced = int(w), int(h), int(b[8]), b[9], b[12] == 1
	depths := map[byte]string{
		pngGray: "\x01\x02\x04\x08\x10", pngRGB: "\x08\x10", pngPalette: "\x01\x02\x04\x08", pngGrayAlpha: "\x08\x10", pngRGBAlpha: "\x08\x10",
	}
	if strings.IndexByte(depths[f.kind], b[8]) < 0 || b[10] != 0 || b[11] != 0 || b[12] > 1 {
		return errPNG
	}
	return nil
}

// chunk reads a chunk before the pixels.
func (f *PNGFile) chunk(c *pngChunk) error {
	switch {
	case c.kind == "PLTE":
		return f.readPalette(c.data)
	case c.critical():
		return errPNG
	case c.damaged:
	case c.kind == "tRNS":
		f.readAlphas(c.data)
	case c.kind == "sRGB" && len(c.data) == 1:
		f.gamma = 45455
	case c.kind == "gAMA" && len(c.data) == 4 && f.gamma == 0:
		if g := binary.BigEndian.Uint32([]byte(c.data)); g >= 16 && g <= 625000000 {
			f.gamma = int(g)
		}
	}
	return nil
}

func (f *PNGFile) readPalette(b string) error {
	switch {
	case f.palette != "":
		return errPNG
	case f.kind != pngPalette:
		return nil // a suggestion
	case len(b) == 0 || len(b) > 3*256 || len(b)%3 != 0:
		return errPNG
	}
	f.palette = b[:min(len(b), 3<<f.depth)]
	return nil
}

// readAlphas reads what is transparent, if it says so in the right place.
func (f *PNGFile) readAlphas(b string) {
	switch {
	case f.kind == pngGray && len(b) == 2, f.kind == pngRGB && len(b) == 6:
	case f.kind == pngPalette && f.palette != "" && len(b) > 0 && len(b) <= len(f.palette)/3:
	default:
		return
	}
	if !f.hasAlphas {
		f.alphas, f.hasAlphas = b, true
	}
}

// Channels returns how many channels the image has by default:
// those of the colors if it has a palette.
func (f *PNGFile) Channels() int {
	switch {
	case f.kind == pngGray:
		return 1
	case f.kind == pngGrayAlpha:
		return 2
	case f.kind == pngRGBAlpha, f.kind == pngPalette && f.hasAlphas:
		return 4
	}
	return 3
}

// samples returns how many samples a pixel has in the file.
func (f *PNGFile) samples() int {
	switch f.kind {
	case pngRGB:
		return 3
	case pngGrayAlpha:
		return 2
	case pngRGBAlpha:
		return 4
	}
	return 1
}

// size returns the bytes of rows of the given width, with their filters.
func (f *PNGFile) size(height, width int) int {
	if width == 0 {
		return 0
	}
	return height * (1 + ceilDiv(width*f.samples()*f.depth, 8))
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// A pass is a part of the pixels of an interlaced image.
type pass struct{ x, y, dx, dy int }

// passes are those of images that are interlaced.
var passes = []pass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

func (f *PNGFile) passes() []pass {
	if f.interlaced {
		return passes
	}
	return []pass{{0, 0, 1, 1}}
}

// within returns the height and width of a pass of an image.
func (p *pass) within(f *PNGFile) (h, w int) {
	return ceilDiv(max(0, f.Height-p.y), p.dy), ceilDiv(max(0, f.Width-p.x), p.dx)
}

// Plausible reports whether the file is large enough to hold all pixels:
// nothing can be compressed by more than about 1000.
func (f *PNGFile) Plausible() bool {
	total := 0
	for _, p := range f.passes() {
		total += f.size(p.within(f))
	}
	return total <= zlibRatio*len(f.rest)
}

// pixels reads all rows and gives each, without its filter, to row.
func (f *PNGFile) pixels(row func(p *pass, y, width int, line []byte)) error {
	in := &idats{rest: f.rest}
	z, err := zlib.NewReader(in)
	if err != nil {
		return errPNG
	}
	step := max(1, f.samples()*f.depth/8)
	for _, p := range f.passes() {
		h, w := p.within(f)
		n := f.size(1, w)
		line, above := memory.Make[byte](n), memory.Make[byte](n)
		for y := range h {
			if n == 0 {
				break
			}
			if _, err := io.ReadFull(z, line); err != nil || !unfilter(line, above, step) {
				return errPNG
			}
			row(&p, y, w, line[1:])
			line, above = above, line
		}
	}
	return in.finish()
}

// idats reads the data of consecutive chunks of pixels.
type idats struct {
	rest, data string
	err        error
}

func (r *idats) Read(b []byte) (int, error) {
	for r.data == "" {
		c, rest, err := nextChunk(r.rest)
		if err != nil {
			r.err = err
			return 0, err
		}
		if c.kind != "IDAT" {
			return 0, io.EOF
		}
		r.data, r.rest = c.data, rest
	}
	n := copy(b, r.data)
	r.data = r.data[n:]
	return n, nil
}

// finish reads up to the end of the file, which has to be there.
func (r *idats) finish() error {
	for r.err == nil {
		var c pngChunk
		if c, r.rest, r.err = nextChunk(r.rest); r.err != nil {
			break
		}
		switch {
		case c.kind == "IEND":
			return nil
		case c.critical() && c.kind != "IDAT" && c.kind != "PLTE":
			return errPNG
		}
	}
	return r.err
}

// unfilter undoes the filter of a row, which its first byte names.
func unfilter(line, above []byte, step int) bool {
	kind, a, b := line[0], line[1:], above[1:]
	switch kind {
	case 0:
	case 1:
		for i := step; i < len(a); i++ {
			a[i] += a[i-step]
		}
	case 2:
		for i := range a {
			a[i] += b[i]
		}
	case 3:
		for i := range a {
			left := 0
			if i >= step {
				left = int(a[i-step])
			}
			a[i] += byte((left + int(b[i])) / 2)
		}
	case 4:
		for i := range a {
			left, corner := 0, 0
			if i >= step {
				left, corner = int(a[i-step]), int(b[i-step])
			}
			a[i] += paeth(left, int(b[i]), corner)
		}
	default:
		return false
	}
	return true
}

// paeth returns the neighbour that is nearest to left + up − corner.
func paeth(left, up, corner int) byte {
	l, u, c := abs(up-corner), abs(left-corner), abs(left+up-2*corner)
	switch {
	case l <= u && l <= c:
		return byte(left)
	case u <= c:
		return byte(up)
	}
	return byte(corner)
}

func abs(v int) int { return max(v, -v) }
