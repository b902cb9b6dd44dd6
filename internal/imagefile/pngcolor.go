package imagefile

import "math"

// A pixel is a color in samples of 8 bits, or of 16 if the file has those.
type pixel struct{ r, g, b, a uint16 }

// A pngColors turns samples into colors.
type pngColors struct {
	*PNGFile
	line []byte
	deep bool // samples have 16 bits
	fine uint // bits of a sample that do not count for gray
}

// colors returns what makes colors, for an output in the given bits.
func (f *PNGFile) colors(bits int) *pngColors {
	c := &pngColors{PNGFile: f, deep: f.depth == 16}
	if bits == 8 {
		c.fine = 5 // as libpng's tables have them
	}
	return c
}

// sample returns sample i of the line as it is.
func (c *pngColors) sample(i int) uint16 {
	switch c.depth {
	case 8:
		return uint16(c.line[i])
	case 16:
		return uint16(c.line[2*i])<<8 | uint16(c.line[2*i+1])
	}
	at := i * c.depth
	return uint16(c.line[at/8]>>(8-c.depth-at%8)) & (1<<c.depth - 1)
}

// at returns pixel x of the line. What has no alpha gets all bits that its
// samples have in the file, even if they are widened.
func (c *pngColors) at(x int) pixel {
	opaque := uint16(1<<c.depth - 1)
	switch c.kind {
	case pngGray:
		v := c.sample(x)
		p := pixel{v, v, v, opaque}
		c.maskOut(&p)
		if c.depth < 8 {
			v *= 255 / opaque
			p.r, p.g, p.b = v, v, v
		}
		return p
	case pngGrayAlpha:
		v := c.sample(2 * x)
		return pixel{v, v, v, c.sample(2*x + 1)}
	case pngRGB:
		p := pixel{c.sample(3 * x), c.sample(3*x + 1), c.sample(3*x + 2), opaque}
		c.maskOut(&p)
		return p
	case pngPalette:
		return c.entry(int(c.sample(x)), opaque)
	}
	return pixel{c.sample(4 * x), c.sample(4*x + 1), c.sample(4*x + 2), c.sample(4*x + 3)}
}

// maskOut makes the color that the file calls transparent so.
func (c *pngColors) maskOut(p *pixel) {
	if !c.hasAlphas {
		return
	}
	key := func(i int) uint16 {
		return (uint16(c.alphas[2*i])<<8 | uint16(c.alphas[2*i+1])) & (1<<c.depth - 1)
	}
	p.a = math.MaxUint8
	if c.deep {
		p.a = math.MaxUint16
	}
	gray := c.kind == pngGray && p.r == key(0)
	if gray || c.kind == pngRGB && p.r == key(0) && p.g == key(1) && p.b == key(2) {
		p.a = 0
	}
}

// entry returns a color of the palette: black beyond its end.
func (c *pngColors) entry(i int, opaque uint16) pixel {
	p := pixel{a: opaque}
	if c.hasAlphas {
		p.a = 255
	}
	if i < len(c.alphas) {
		p.a = uint16(c.alphas[i])
	}
	if 3*i < len(c.palette) {
		p.r, p.g, p.b = uint16(c.palette[3*i]), uint16(c.palette[3*i+1]), uint16(c.palette[3*i+2])
	}
	return p
}

// gray returns how bright a color is.
func (c *pngColors) gray(p pixel) uint16 {
	if p.r == p.g && p.g == p.b {
		return p.r
	}
	const r, g = 9797, 19234 // 0.299 and 0.587, times 1<<15
	sum := func(x, y, z uint32) uint32 { return r*x + g*y + (1<<15-r-g)*z }
	if c.gamma != 0 && (c.gamma < 95000 || c.gamma > 105000) {
		return c.linearGray(p, sum)
	}
	if c.deep {
		return uint16((sum(uint32(p.r), uint32(p.g), uint32(p.b)) + 1<<14) >> 15)
	}
	return uint16(sum(uint32(p.r), uint32(p.g), uint32(p.b)) >> 15)
}

// linearGray is gray where the file says how samples relate to light.
func (c *pngColors) linearGray(p pixel, sum func(x, y, z uint32) uint32) uint16 {
	inverse := math.Floor(1e10/float64(c.gamma) + 0.5)
	back := math.Floor(1e10/inverse + 0.5)
	to := func(v uint16) uint32 { return uint32(c.power(v, inverse)) }
	return c.power(uint16((sum(to(p.r), to(p.g), to(p.b))+1<<14)>>15), back)
}

// power raises a sample to the power of gamma, times 100000.
func (c *pngColors) power(v uint16, gamma float64) uint16 {
	if !c.deep {
		return uint16(math.Floor(255*math.Pow(float64(v)/255, gamma*.00001) + 0.5))
	}
	v >>= c.fine
	return uint16(math.Floor(65535*math.Pow(float64(v)/float64(uint16(1<<(16-c.fine)-1)), gamma*.00001) + 0.5))
}

// DecodePNG computes the pixels of a file in samples of 8 or 16 bits, of the
// given number of channels.
func DecodePNG[T uint8 | uint16](f *PNGFile, dst []T, channels int) error {
	wide := ^T(0) > math.MaxUint8
	bits := 8
	if wide {
		bits = 16
	}
	c := f.colors(bits)
	convert := func(v uint16) T {
		switch {
		case wide && !c.deep:
			v |= v << 8
		case !wide && c.deep:
			v >>= 8
		}
		return T(v)
	}
	return f.pixels(func(p *pass, y, width int, line []byte) {
		c.line = line
		for x := range width {
			to := dst[((y*p.dy+p.y)*f.Width+x*p.dx+p.x)*channels:][:channels]
			px := c.at(x)
			switch channels {
			case 1, 2:
				to[0] = convert(c.gray(px))
			default:
				to[0], to[1], to[2] = convert(px.r), convert(px.g), convert(px.b)
			}
			if channels%2 == 0 {
				to[channels-1] = convert(px.a)
			}
		}
	})
}
