package stablehlo

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// mostElements is how many elements of a constant are written.
const mostElements = 32

// dense writes a constant: its elements in order, or the checksum of many.
func (p *printer) dense(d Dense) {
	size := max(d.Type.Elem.size(), 1)
	n := len(d.Data) / size
	switch {
	case d.Splat:
		p.put("dense<%s>", d.element(0, size))
	case n > mostElements:
		p.put("dense<checksum %08x>", crc32.ChecksumIEEE(d.Data))
	default:
		p.list("dense<[", n, func(i int) { p.put("%s", d.element(i, size)) }, "]>")
	}
	p.put(" : ")
	p.typ(d.Type)
}

// element returns an element as text.
func (d Dense) element(i, size int) string {
	b := d.Data[i*size : (i+1)*size]
	if part, ok := strings.CutPrefix(string(d.Type.Elem), "complex<"); ok {
		e := Elem(strings.TrimSuffix(part, ">"))
		return fmt.Sprintf("(%s, %s)", e.text(b[:size/2]), e.text(b[size/2:]))
	}
	return d.Type.Elem.text(b)
}

// text returns a number in little-endian order as text.
func (e Elem) text(b []byte) string {
	var word [8]byte
	copy(word[:], b)
	u := binary.LittleEndian.Uint64(word[:])
	if f, ok := floats[e]; ok {
		return fmt.Sprint(f.value(u))
	}
	if e == "i1" {
		return fmt.Sprint(u == 1)
	}
	return integer(e, u).text()
}
