package jpeg

// colors says what the planes of a file mean, and what becomes of them.
type colors int

const (
	copied   colors = iota // gray, or red, green and blue, as they are
	spread                 // gray for three channels
	fromYCC                // luma and chroma
	grayOf                 // red, green and blue for one channel
	fromCMYK               // inks
	fromYCCK               // luma, chroma and black
)

// chooseColors finds the colors of the file by its markers and what converts
// them.
func (d *Decoder) chooseColors() error {
	ycc := d.isYCC()
	needed := len(d.components)
	switch n := len(d.components); {
	case n == 1 && d.Channels == 1:
		d.colors = copied
	case n == 1 && d.Channels == 3:
		d.colors = spread
	case n == 3 && d.Channels == 3 && ycc:
		d.colors = fromYCC
	case n == 3 && d.Channels == 1 && ycc:
		d.colors, needed = copied, 1
	case n == 3 && d.Channels == 3:
		d.colors = copied
	case n == 3 && d.Channels == 1:
		d.colors = grayOf
	case n == 4 && d.Channels == 3 && ycc:
		d.colors = fromYCCK
	case n == 4 && d.Channels == 3:
		d.colors = fromCMYK
	default:
		return errInvalid
	}
	for i := range d.components {
		c := &d.components[i]
		c.needed = i < needed
		if c.needed && (d.maxH*d.size%(c.h*c.size) != 0 || d.maxV*d.size%(c.v*c.size) != 0) {
			return errInvalid // libjpeg has no upsampling by fractions
		}
	}
	return nil
}

// isYCC reports whether the components are luma and chroma.
func (d *Decoder) isYCC() bool {
	c := d.components
	switch {
	case len(c) == 4:
		return d.adobe && d.file.transform != 0
	case len(c) != 3 || d.jfif:
		return true
	case d.adobe:
		return d.file.transform != 0
	}
	return !(c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B')
}

// The factors of luma and chroma, times 1<<16.
const (
	crToR = 91881  // 1.402
	cbToB = 116130 // 1.772
	crToG = 46802  // 0.71414
	cbToG = 22554  // 0.34414
	half  = 1 << 15
)

func rgbOf(y, cb, cr byte) (r, g, b int32) {
	l, u, v := int32(y), int32(cb)-128, int32(cr)-128
	return l + (crToR*v+half)>>16, l + (-cbToG*u-crToG*v+half)>>16, l + (cbToB*u+half)>>16
}

func clamp(v int32) byte { return byte(max(0, min(v, 255))) }

// convert computes pixels from samples, from number left.
func (c colors) convert(dst []byte, lines [][]byte, left int, adobe bool) {
	a := lines[0][left:]
	switch c {
	case copied:
		if len(lines) == 1 {
			copy(dst, a)
			return
		}
		for i := 0; i < len(dst); i += 3 {
			dst[i], dst[i+1], dst[i+2] = a[i/3], lines[1][left+i/3], lines[2][left+i/3]
		}
	case spread:
		for i := range dst {
			dst[i] = a[i/3]
		}
	case fromYCC:
		convertYCC(dst, a, lines[1][left:], lines[2][left:])
	case grayOf:
		for i := range dst {
			dst[i] = luma(a[i], lines[1][left+i], lines[2][left+i])
		}
	default:
		c.convertInks(dst, lines, left, adobe)
	}
}

func convertYCC(dst, y, cb, cr []byte) {
	n := len(dst) / 3
	y, cb, cr = y[:n], cb[:n], cr[:n]
	if done := n &^ (atOnce - 1); done > 0 && simd.pixels != nil {
		simd.pixels(&dst[0], &y[0], &cb[0], &cr[0], done/atOnce)
		dst, y, cb, cr = dst[3*done:], y[done:], cb[done:], cr[done:]
	}
	for i := range y {
		r, g, b := rgbOf(y[i], cb[i], cr[i])
		p := dst[3*i:][:3]
		p[0], p[1], p[2] = clamp(r), clamp(g), clamp(b)
	}
}

// luma returns how bright a color is.
func luma(r, g, b byte) byte {
	return byte((19595*int32(r) + 38470*int32(g) + 7471*int32(b) + half) >> 16)
}

// convertInks multiplies inks with black. Adobe's files have them inverted.
func (c colors) convertInks(dst []byte, lines [][]byte, left int, adobe bool) {
	for i := 0; i < len(dst); i += 3 {
		at := left + i/3
		ink := [3]int32{int32(lines[0][at]), int32(lines[1][at]), int32(lines[2][at])}
		if c == fromYCCK {
			r, g, b := rgbOf(lines[0][at], lines[1][at], lines[2][at])
			ink = [3]int32{255 - int32(clamp(r)), 255 - int32(clamp(g)), 255 - int32(clamp(b))}
		}
		k := int32(lines[3][at])
		for j, v := range ink {
			if !adobe {
				dst[i+j] = byte((255 - k) * (255 - v) / 255)
			} else {
				dst[i+j] = byte(k * v / 255)
			}
		}
	}
}
