package imagefile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A BMPFile is the header of a BMP file whose rows are bytes, not palette
// indices.
type BMPFile struct {
	Height, Width, Channels int // Channels: those of the file

	rows    string
	rowSize int
	topDown bool
}

// ReadBMP reads the header of a BMP file and checks its size. Errors have
// TensorFlow's words.
func ReadBMP(data string) (*BMPFile, error) {
	if len(data) < 32 {
		return nil, fmt.Errorf("Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got %d bytes", len(data))
	}
	word := func(at int) int { return int(int32(binary.LittleEndian.Uint32([]byte(data[at : at+4])))) }
	header, width, height := word(10), word(18), word(22)
	f := &BMPFile{Width: width, Height: max(height, -height), Channels: int(int16(binary.LittleEndian.Uint16([]byte(data[28:30])))) / 8, topDown: height < 0}
	switch {
	case f.Channels != 1 && f.Channels != 3 && f.Channels != 4:
		return nil, fmt.Errorf("Number of channels inherent in the image must be 1, 3 or 4, was %d", f.Channels)
	case width <= 0:
		return nil, fmt.Errorf("Width must be positive")
	case height == 0:
		return nil, fmt.Errorf("Height must be nonzero")
	case header < 0:
		return nil, fmt.Errorf("header size must be nonnegative")
	case width*f.Height >= math.MaxInt32/8:
		return nil, fmt.Errorf("Total possible pixel bytes must be less than 2^30")
	}
	f.rowSize = (f.Channels*width + 3) / 4 * 4
	if differ := int32(len(data) - header - f.rowSize*f.Height); differ != 0 {
		return nil, fmt.Errorf("Input size should match (header_size + row_size * abs_height) but they differ by %d", differ)
	}
	if need := header + (f.Height-1)*f.rowSize + width*f.Channels; need > len(data) {
		return nil, fmt.Errorf("Incomplete bmp content, requires at least %d bytes, got %d bytes", need, len(data))
	}
	f.rows = data[header:]
	return f, nil
}

// Decode computes the pixels, of 1, 3 or 4 channels.
func (f *BMPFile) Decode(dst []byte, channels int) {
	for y := range f.Height {
		from := y
		if !f.topDown {
			from = f.Height - 1 - y
		}
		row := f.rows[from*f.rowSize:]
		for x := range f.Width {
			f.pixel(dst[(y*f.Width+x)*channels:][:channels], row[x*f.Channels:][:f.Channels])
		}
	}
}

// pixel computes a pixel; what the file has not is opaque.
func (f *BMPFile) pixel(dst []byte, src string) {
	b, g, r, a := src[0], src[0], src[0], byte(255)
	if len(src) > 1 {
		g, r = src[1], src[2]
	}
	if len(src) > 3 {
		a = src[3]
	}
	dst[0] = r
	if len(dst) > 1 {
		dst[1], dst[2] = g, b
	}
	if len(dst) > 3 {
		dst[3] = a
	}
}
