package jpeg

import "math/bits"

// A part is a scan that is written: some coefficients of some planes.
type part struct {
	planes     []int
	first, end int
}

// parts returns the scans of the file.
func (e *encoder) parts() []part {
	all := []int{0, 1, 2}[:len(e.planes)]
	if !e.Progressive {
		return []part{{all, 0, 63}}
	}
	out := []part{{all, 0, 0}, {all[:1], 1, 5}}
	for i := len(all) - 1; i > 0; i-- {
		out = append(out, part{all[i : i+1], 1, 63})
	}
	return append(out, part{all[:1], 6, 63})
}

// file returns the whole file.
func (e *encoder) file() string {
	out := []byte("\xff\xd8")
	out = segment(out, markerAPP0, "JFIF\x00\x01\x01"+string([]byte{
		e.Unit, byte(e.XDensity >> 8), byte(e.XDensity), byte(e.YDensity >> 8), byte(e.YDensity), 0, 0,
	}))
	if e.XMP != "" {
		out = segment(out, markerAPP1, "http://ns.adobe.com/xap/1.0/\x00"+e.XMP)
	}
	for i, p := range e.planes[:min(len(e.planes), 2)] {
		table := []byte{byte(i)}
		for _, at := range zigzag[:64] {
			table = append(table, byte(p.quant[at]))
		}
		out = segment(out, markerDQT, string(table))
	}
	out = segment(out, e.frameMarker(), e.header())
	if !e.Progressive && !e.Optimize {
		usual := usualTables()
		for i, t := range usual[:2*min(len(e.planes), 2)] {
			out = table(out, t, i/2, i%2)
		}
	}
	for _, p := range e.parts() {
		out = e.writePart(out, p)
	}
	return string(append(out, 0xff, markerEOI))
}

func (e *encoder) frameMarker() byte {
	if e.Progressive {
		return markerSOF2
	}
	return markerSOF0
}

// header returns the sizes of the image and its components.
func (e *encoder) header() string {
	b := []byte{8, byte(e.height >> 8), byte(e.height), byte(e.width >> 8), byte(e.width), byte(len(e.planes))}
	for i, p := range e.planes {
		b = append(b, byte(i+1), byte(p.h<<4|p.h), byte(p.chroma))
	}
	return string(b)
}

// segment appends a marker and what follows it.
func segment(out []byte, m byte, body string) []byte {
	n := len(body) + 2
	return append(append(out, 0xff, m, byte(n>>8), byte(n)), body...)
}

// table appends a table of codes for luma or chroma, DC or AC coefficients.
func table(out []byte, h *huffman, chroma, ac int) []byte {
	b := append([]byte{byte(ac<<4 | chroma)}, h.counts[1:]...)
	return segment(out, markerDHT, string(b)+string(h.symbols))
}

// A coder writes codes, or counts how often each would be written.
type coder struct {
	out    []byte
	acc    uint64
	have   uint
	count  *[4][257]int // by table; nil if codes are written
	length [4][256]byte
	code   [4][256]uint16
}

// setCodes gives a table its codes.
func (c *coder) setCodes(at int, h *huffman) {
	code, k := uint16(0), 0
	for n := 1; n <= 16; n++ {
		for range h.counts[n] {
			c.length[at][h.symbols[k]], c.code[at][h.symbols[k]] = byte(n), code
			code++
			k++
		}
		code <<= 1
	}
}

// put writes a symbol and the bits that belong to it.
func (c *coder) put(at int, symbol byte, value uint16, n uint) {
	if c.count != nil {
		c.count[at][symbol]++
		return
	}
	c.bits(c.code[at][symbol], uint(c.length[at][symbol]))
	c.bits(value, n)
}

func (c *coder) bits(v uint16, n uint) {
	c.acc = c.acc<<n | uint64(v)&(1<<n-1)
	c.have += n
	for c.have >= 8 {
		c.have -= 8
		b := byte(c.acc >> c.have)
		c.out = append(c.out, b)
		if b == 0xff {
			c.out = append(c.out, 0)
		}
	}
}

// number writes a value after a run of zeros: its length is in the symbol.
func (c *coder) number(at, run, v int) {
	n := uint(bits.Len(uint(max(v, -v))))
	if v < 0 {
		v--
	}
	c.put(at, byte(run<<4)|byte(n), uint16(v), n)
}

// writePart appends a scan, with tables of its own if the file has no others.
func (e *encoder) writePart(out []byte, p part) []byte {
	c := &coder{}
	tables := usualTables()
	if e.Progressive || e.Optimize {
		c.count = &[4][257]int{}
		e.code(c, p)
		for at := range c.count {
			if tables[at] = best(&c.count[at]); tables[at] != nil {
				out = table(out, tables[at], at/2, at%2)
			}
		}
		c.count = nil
	}
	head := []byte{byte(len(p.planes))}
	for _, i := range p.planes {
		chroma := byte(e.planes[i].chroma)
		head = append(head, byte(i+1), chroma<<4|chroma)
	}
	c.out = segment(out, markerSOS, string(append(head, byte(p.first), byte(p.end), 0)))
	for at, h := range tables {
		if h != nil {
			c.setCodes(at, h)
		}
	}
	e.code(c, p)
	c.bits(0x7f, 7)
	return c.out
}

// code writes the coefficients of a scan.
func (e *encoder) code(c *coder, p part) {
	var last [3]int
	if len(p.planes) == 1 {
		pl := e.planes[p.planes[0]]
		for y := range pl.rows {
			for x := range pl.columns {
				pl.code(c, p, y, x, &last[0])
			}
		}
		return
	}
	mcu := e.sampling * blockSize
	for y := range ceilDiv(e.height, mcu) {
		for x := range ceilDiv(e.width, mcu) {
			for _, i := range p.planes {
				pl := e.planes[i]
				for k := range pl.h * pl.h {
					pl.code(c, p, y*pl.h+k/pl.h, x*pl.h+k%pl.h, &last[i])
				}
			}
		}
	}
}

// code writes the coefficients of a block that belong to a scan.
func (p *plane) code(c *coder, s part, y, x int, last *int) {
	b := &p.blocks[y*p.stride+x]
	dc, ac := 2*p.chroma, 2*p.chroma+1
	if s.first == 0 {
		c.number(dc, 0, int(b[0])-*last)
		*last = int(b[0])
	}
	run := 0
	for k := max(1, s.first); k <= s.end; k++ {
		v := int(b[zigzag[k]])
		if v == 0 {
			run++
			continue
		}
		for ; run > 15; run -= 16 {
			c.put(ac, 0xf0, 0, 0)
		}
		c.number(ac, run, v)
		run = 0
	}
	if run > 0 {
		c.put(ac, 0, 0, 0)
	}
}
