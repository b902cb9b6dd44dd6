package jpeg

import "github.com/gorge-tf/gorge/internal/memory"

// maxXMP is what fits in a marker beside the name of the metadata.
const maxXMP = 65533 - 29

// An Encoding says how an image is encoded.
type Encoding struct {
	Quality     int // 0 to 100
	Progressive bool
	Optimize    bool // tables are made for the image
	Subsample   bool // chroma of 2 by 2 pixels is taken together
	Unit        byte // of the density: 1 for inches, 2 for centimeters
	XDensity    uint16
	YDensity    uint16
	XMP         string // metadata
}

// An encoder holds the coefficients of an image.
type encoder struct {
	Encoding
	height, width int
	channels      int
	planes        []*plane
	sampling      int // pixels by which chroma is coarser
}

// A plane is a component of an image that is encoded.
type plane struct {
	h             int // sampling factor, in both directions
	height, width int // samples, with those that fill blocks up
	columns, rows int // of blocks that count
	samples       []byte
	quant         [64]uint16
	blocks        [][64]int16 // by rows, those that fill MCUs up too
	stride        int         // of blocks
	chroma        int         // 1 if it is, for the tables
}

// Encode returns the file of an image of height rows of width pixels of 1 or 3
// channels.
func Encode(pix []byte, height, width, channels int, o Encoding) (string, error) {
	if width <= 0 || height <= 0 || width > maxSize || height > maxSize || len(pix) != height*width*channels || len(o.XMP) > maxXMP || channels != 1 && channels != 3 {
		return "", errInvalid
	}
	e := &encoder{Encoding: o, height: height, width: width, channels: channels, sampling: 1}
	if o.Subsample && channels == 3 {
		e.sampling = 2
	}
	e.split(pix)
	for _, p := range e.planes {
		p.transform()
	}
	return e.file(), nil
}

// split makes planes of pixels.
func (e *encoder) split(pix []byte) {
	e.addPlane(e.sampling, 0)
	if e.channels == 1 {
		p := e.planes[0]
		for y := range e.height {
			copy(p.samples[y*p.width:], pix[y*e.width:][:e.width])
		}
		p.extend(e.height, e.width)
		return
	}
	e.addPlane(1, 1)
	e.addPlane(1, 1)
	luma := e.planes[0]
	rows := [2][2][]byte{}
	for i := range rows {
		rows[i] = [2][]byte{memory.Make[byte](luma.width), memory.Make[byte](luma.width)}
	}
	for y := range luma.height {
		from := min(y, e.height-1)
		line := luma.samples[y*luma.width:][:luma.width]
		chroma := rows[y%e.sampling]
		toYCC(line, chroma[0], chroma[1], pix[from*e.width*3:][:e.width*3])
		extend(chroma[0], e.width)
		extend(chroma[1], e.width)
		if y%e.sampling == e.sampling-1 {
			e.takeTogether(y/e.sampling, &rows)
		}
	}
	luma.extend(e.height, e.width)
	for _, p := range e.planes[1:] {
		p.extend(ceilDiv(e.height, e.sampling), p.width)
	}
}

// takeTogether makes row y of both planes of chroma of one or two rows.
func (e *encoder) takeTogether(y int, rows *[2][2][]byte) {
	for k, p := range e.planes[1:] {
		at := p.samples[y*p.width:]
		if e.sampling == 1 {
			copy(at, rows[0][k])
		} else {
			average(at, rows[0][k], rows[1][k])
		}
	}
}

// addPlane adds a component with the given sampling factor.
func (e *encoder) addPlane(h, chroma int) {
	p := &plane{h: h, chroma: chroma}
	mcu := e.sampling * blockSize
	p.stride = ceilDiv(e.width, mcu) * h
	p.columns, p.rows = ceilDiv(e.width*h, mcu), ceilDiv(e.height*h, mcu)
	p.width, p.height = p.stride*blockSize, ceilDiv(e.height, mcu)*h*blockSize
	p.samples = memory.Make[byte](p.width * p.height)
	base := &lumaQuant
	if chroma == 1 {
		base = &chromaQuant
	}
	p.quant = scaleQuant(base, e.Quality)
	e.planes = append(e.planes, p)
}

// scaleQuant returns the quantization for a quality.
func scaleQuant(base *[64]byte, quality int) (q [64]uint16) {
	quality = max(1, min(quality, 100))
	scale := 200 - 2*quality
	if quality < 50 {
		scale = 5000 / quality
	}
	for i, v := range base {
		q[i] = uint16(max(1, min((int(v)*scale+50)/100, 255)))
	}
	return q
}

// toYCC makes luma and chroma of red, green and blue.
func toYCC(y, cb, cr, rgb []byte) {
	const middle = 128<<16 + half - 1
	for i := 0; i < len(rgb); i += 3 {
		r, g, b := int32(rgb[i]), int32(rgb[i+1]), int32(rgb[i+2])
		y[i/3] = luma(byte(r), byte(g), byte(b))
		cb[i/3] = byte((-11059*r - 21709*g + 32768*b + middle) >> 16)
		cr[i/3] = byte((32768*r - 27439*g - 5329*b + middle) >> 16)
	}
}

// extend repeats sample n-1 of a line up to its end.
func extend(line []byte, n int) {
	for i := n; i < len(line); i++ {
		line[i] = line[n-1]
	}
}

// average takes 2 by 2 samples together. What is rounded goes up and down in
// turn.
func average(dst, upper, lower []byte) {
	for i := 0; i < len(upper); i += 2 {
		sum := int(upper[i]) + int(upper[i+1]) + int(lower[i]) + int(lower[i+1])
		dst[i/2] = byte((sum + 1 + i/2%2) >> 2)
	}
}

// extend repeats the last samples that count to the right and below.
func (p *plane) extend(height, width int) {
	for y := range p.height {
		line := p.samples[y*p.width:][:p.width]
		if y >= height {
			copy(line, p.samples[(height-1)*p.width:])
			continue
		}
		extend(line, width)
	}
}

// transform computes the coefficients of all blocks. Of those that only fill
// MCUs up all but the first are 0, and that is the one of the block before.
func (p *plane) transform() {
	p.blocks = memory.Make[[64]int16](p.stride * p.height / blockSize)
	var b [64]int32
	for y := range p.height / blockSize {
		for x := range p.stride {
			at := &p.blocks[y*p.stride+x]
			if y >= p.rows || x >= p.columns {
				at[0] = p.before(y, x)[0]
				continue
			}
			p.load(&b, y, x)
			forward(&b)
			*at = quantize(&b, &p.quant)
		}
	}
}

// before returns the block that is written before one that fills an MCU up.
func (p *plane) before(y, x int) *[64]int16 {
	if y < p.rows || x%p.h > 0 {
		return &p.blocks[y*p.stride+x-1]
	}
	return &p.blocks[(y-1)*p.stride+x+p.h-1] // the last of the row above in the same MCU
}

// load reads the samples of a block, around 0.
func (p *plane) load(b *[64]int32, y, x int) {
	for v := range 8 {
		line := p.samples[(y*8+v)*p.width+8*x:][:8]
		for h, s := range line {
			b[8*v+h] = int32(s) - 128
		}
	}
}
