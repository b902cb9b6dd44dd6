package jpeg

import (
	"slices"
	"strings"
)

// The markers that mean something here.
const (
	markerTEM   = 0x01
	markerSOF0  = 0xc0
	markerSOF1  = 0xc1
	markerSOF2  = 0xc2
	markerDHT   = 0xc4
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDNL   = 0xdc
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP1  = 0xe1
	markerAPP14 = 0xee
	markerAPP15 = 0xef
	markerCOM   = 0xfe
)

const (
	maxSize       = 65500 // of images, in pixels
	maxComponents = 10
	maxBlocks     = 10 // of an MCU
	blockSize     = 8
)

// zigzag are the positions of coefficients in the order of files; damaged files
// go beyond the end.
var zigzag = [128]byte{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
}

// A file is what the markers say.
type file struct {
	source
	width, height int
	progressive   bool
	components    []component
	quant         [4]*[64]uint16
	dc, ac        [4]*huffman
	restart       int // MCUs between restarts, 0 for none
	jfif, adobe   bool
	transform     byte // of colors, by Adobe's marker
	scan          scan // the one whose header was read last
}

// A scan is a pass over the coefficients of some components.
type scan struct {
	components []*component
	first, end int // coefficients, in zigzag order
	high, low  uint
}

// readMarkers reads up to the next scan, or to the end of the image.
func (f *file) readMarkers() (end bool, err error) {
	for {
		m := f.marker
		if m == 0 {
			var ok bool
			if m, ok = f.nextMarker(); !ok {
				return false, f.err
			}
		}
		f.marker = 0
		if m == markerEOI {
			return true, nil
		}
		if err := f.segment(m); err != nil || m == markerSOS {
			return false, err
		}
		f.mark = f.pos
	}
}

// segment reads what follows a marker.
func (f *file) segment(m byte) error {
	if m >= markerRST0 && m <= markerRST7 || m == markerTEM {
		return nil
	}
	n, ok := f.word()
	left := len(f.data) - f.pos
	if !ok || n > left+2 && !(f.mend && isSkipped(m, left)) {
		return errInvalid // without it there is no image, however much of it may be missing
	}
	end := f.pos + min(max(0, n-2), left)
	body := f.data[f.pos:end]
	f.pos = end
	switch {
	case m == markerSOF0 || m == markerSOF1 || m == markerSOF2:
		f.progressive = m == markerSOF2
		return f.readFrame(body)
	case m == markerSOS:
		return f.readScan(body)
	case m == markerDHT:
		return f.readHuffman(body)
	case m == markerDQT:
		return f.readQuant(body)
	case m == markerDRI:
		if len(body) != 2 {
			return errInvalid
		}
		f.restart = int(body[0])<<8 | int(body[1])
	case m == markerAPP0 && len(body) >= 14 && strings.HasPrefix(body, "JFIF\x00"):
		f.jfif = true
	case m == markerAPP14 && len(body) >= 12 && strings.HasPrefix(body, "Adobe"):
		f.adobe, f.transform = true, body[11]
	case m >= markerAPP0 && m <= markerAPP15 || m == markerCOM || m == markerDNL:
	default:
		return errInvalid
	}
	return nil
}

// isSkipped reports whether a segment is skipped, even if it ends behind the data, of which
// some are left. In that of JFIF and that of Adobe libjpeg reads 14 bytes first.
func isSkipped(m byte, left int) bool {
	if m == markerAPP0 || m == markerAPP14 {
		return left >= 14
	}
	return m > markerAPP0 && m <= markerAPP15 || m == markerCOM || m == markerDNL
}

// readFrame reads the sizes of the image and its components.
func (f *file) readFrame(b string) error {
	if f.components != nil || len(b) < 6 || len(b) != 6+3*int(b[5]) {
		return errInvalid
	}
	f.height, f.width = int(b[1])<<8|int(b[2]), int(b[3])<<8|int(b[4])
	if f.height == 0 || f.width == 0 || b[5] == 0 {
		return errInvalid
	}
	if f.height > maxSize || f.width > maxSize || b[5] > maxComponents || b[0] != 8 {
		return errInvalid
	}
	for i := 6; i < len(b); i += 3 {
		c := component{id: b[i], h: int(b[i+1] >> 4), v: int(b[i+1] & 15), table: b[i+2]}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			return errInvalid
		}
		f.components = append(f.components, c)
	}
	return nil
}

func (f *file) readQuant(b string) error {
	for len(b) > 0 {
		deep, at := b[0]>>4 != 0, b[0]&15
		size := 64
		if deep {
			size = 128
		}
		if at > 3 || len(b) < 1+size {
			return errInvalid
		}
		q := &[64]uint16{}
		for i := range q {
			if deep {
				q[zigzag[i]] = uint16(b[1+2*i])<<8 | uint16(b[2+2*i])
			} else {
				q[zigzag[i]] = uint16(b[1+i])
			}
		}
		f.quant[at] = q
		b = b[1+size:]
	}
	return nil
}

func (f *file) readHuffman(b string) error {
	for len(b) > 0 {
		if len(b) < 17 {
			return errInvalid
		}
		h, total := &huffman{}, 0
		for n := 1; n <= 16; n++ {
			h.counts[n] = b[n]
			total += int(b[n])
		}
		at := b[0] & 0xef
		if total > 256 || total > len(b)-17 || at > 3 {
			return errInvalid
		}
		h.symbols = []byte(b[17 : 17+total])
		if b[0]&0x10 != 0 {
			f.ac[at] = h
		} else {
			f.dc[at] = h
		}
		b = b[17+total:]
	}
	return nil
}

// readScan reads the header of a scan.
func (f *file) readScan(b string) error {
	if f.components == nil || len(b) < 1 || b[0] < 1 || b[0] > 4 || len(b) != 4+2*int(b[0]) {
		return errInvalid
	}
	s := scan{}
	for i := 1; i < len(b)-3; i += 2 {
		c := f.component(b[i])
		if c == nil || slices.Contains(s.components, c) {
			return errInvalid
		}
		c.dc, c.ac = int(b[i+1]>>4), int(b[i+1]&15)
		s.components = append(s.components, c)
	}
	tail := b[len(b)-3:]
	s.first, s.end, s.high, s.low = int(tail[0]), int(tail[1]), uint(tail[2]>>4), uint(tail[2]&15)
	f.scan = s
	return nil
}

func (f *file) component(id byte) *component {
	for i := range f.components {
		if f.components[i].id == id {
			return &f.components[i]
		}
	}
	return nil
}

// readHeader reads up to the first scan.
func (f *file) readHeader() error {
	if !strings.HasPrefix(f.data, "\xff\xd8") {
		return errInvalid
	}
	f.pos, f.mark = 2, 2
	end, err := f.readMarkers()
	if end {
		return errInvalid
	}
	return err
}
