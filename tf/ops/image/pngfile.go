package image

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	maxPixels = 1 << 29 // as in TensorFlow
)

// A picture is an image with samples of 16 bits, those of 8 bits times 257.
type picture struct {
	height, width, channels int
	samples                 []uint16
}

// The types of color that a PNG file's header may name.
const (
	pngGray      = 0
	pngRGB       = 2
	pngPalette   = 3
	pngGrayAlpha = 4
	pngRGBAlpha  = 6
)

// decodePNG returns the picture in a PNG file, with the given number of
// channels; 0: as many as it has.
func decodePNG(data string, channels int) (*picture, error) {
	if !strings.HasPrefix(data, pngMagic) {
		return nil, invalid("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.")
	}
	header, err := png.DecodeConfig(strings.NewReader(data))
	if err != nil {
		return nil, invalid("Invalid PNG. Failed to initialize decoder: %v", err)
	}
	if header.Width <= 0 || header.Height <= 0 || header.Width > maxPixels/header.Height {
		return nil, invalid("PNG image is too large: %d x %d", header.Width, header.Height)
	}
	m, err := png.Decode(strings.NewReader(data))
	if err != nil {
		return nil, invalid("Invalid PNG data, size %d: %v", len(data), err)
	}
	if channels == 0 {
		channels = pngChannels(data)
	}
	return newPicture(m, channels), nil
}

// pngChannels returns the number of channels of a PNG file, those of the colors
// if it has a palette.
func pngChannels(data string) int {
	switch data[25] { // in the header, after width, height and depth
	case pngGray:
		return 1
	case pngGrayAlpha:
		return 2
	case pngRGBAlpha:
		return 4
	case pngPalette:
		if before, _, _ := strings.Cut(data, "IDAT"); strings.Contains(before, "tRNS") {
			return 4
		}
	}
	return 3
}

// newPicture converts m to the given number of channels. Transparent pixels
// keep their color.
func newPicture(m image.Image, channels int) *picture {
	b := m.Bounds()
	p := &picture{b.Dy(), b.Dx(), channels, make([]uint16, 0, b.Dx()*b.Dy()*channels)}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			p.add(straight(m, x, y))
		}
	}
	return p
}

// straight returns a pixel whose colors are not multiplied by alpha.
func straight(m image.Image, x, y int) [4]uint16 {
	switch m := m.(type) {
	case *image.NRGBA:
		c := m.NRGBAAt(x, y)
		return [4]uint16{uint16(c.R) * 257, uint16(c.G) * 257, uint16(c.B) * 257, uint16(c.A) * 257}
	case *image.NRGBA64:
		c := m.NRGBA64At(x, y)
		return [4]uint16{c.R, c.G, c.B, c.A}
	}
	c := m.At(x, y)
	if c, ok := c.(color.NRGBA); ok { // of a palette
		return [4]uint16{uint16(c.R) * 257, uint16(c.G) * 257, uint16(c.B) * 257, uint16(c.A) * 257}
	}
	r, g, b, a := c.RGBA()
	return [4]uint16{uint16(r), uint16(g), uint16(b), uint16(a)}
}

// add appends a pixel.
func (p *picture) add(c [4]uint16) {
	gray := c[0]
	if p.channels < 3 && (c[0] != c[1] || c[1] != c[2]) {
		gray = uint16((uint32(c[0])*6968 + uint32(c[1])*23434 + uint32(c[2])*2366 + 1<<14) >> 15)
	}
	switch p.channels {
	case 1:
		p.samples = append(p.samples, gray)
	case 2:
		p.samples = append(p.samples, gray, c[3])
	default:
		p.samples = append(p.samples, c[:p.channels]...)
	}
}

// encodePNG returns the PNG file of an image whose samples, of 1 or 2 bytes,
// are in data.
func encodePNG(data []byte, h, w, channels, level int) (string, error) {
	depth := byte(8 * len(data) / (h * w * channels))
	kind := map[int]byte{1: pngGray, 2: pngGrayAlpha, 3: pngRGB, 4: pngRGBAlpha}[channels]
	var packed bytes.Buffer
	z, err := zlib.NewWriterLevel(&packed, level)
	if err != nil {
		return "", tf.Errorf(tf.Internal, "PNG encoding failed: %v", err)
	}
	line := len(data) / h
	for y := range h {
		z.Write([]byte{0}) // no filter; writing to a buffer cannot fail
		z.Write(data[y*line : (y+1)*line])
	}
	z.Close()
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = append(binary.BigEndian.AppendUint32(head, uint32(h)), depth, kind, 0, 0, 0)
	out := appendChunk([]byte(pngMagic), "IHDR", head)
	out = appendChunk(out, "IDAT", packed.Bytes())
	return string(appendChunk(out, "IEND", nil)), nil
}

// appendChunk appends a part of a PNG file.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	body := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[body:]))
}
