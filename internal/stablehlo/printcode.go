package stablehlo

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// function writes a function and all that is in it.
func (p *printer) function(f *Func) {
	visibility := "private"
	if f.Public {
		visibility = "public"
	}
	p.put("func %s @%s", visibility, f.Name)
	p.names = map[*Value]string{}
	if f.Body == nil {
		p.whole(func() { p.types(f.Args) })
	} else {
		p.arguments(f.Body.Args)
	}
	p.put(" -> ")
	p.whole(func() { p.types(f.Results) })
	p.attrs(f.Attrs)
	p.put("\n")
	if f.Body != nil {
		p.body(f.Body, "  ")
	}
}

// number gives names to values, which may have one, in the order in which they are written.
func (p *printer) number(vs []*Value) {
	for _, v := range vs {
		if p.names[v] == "" {
			p.names[v] = fmt.Sprintf("%%%d", len(p.names))
		}
	}
}

func (p *printer) values(vs []*Value) {
	for i, v := range vs {
		if i > 0 {
			p.put(", ")
		}
		p.put("%s", p.names[v])
	}
}

// arguments writes the arguments of a block with their types.
func (p *printer) arguments(vs []*Value) {
	p.number(vs)
	p.put("(")
	for i, v := range vs {
		if i > 0 {
			p.put(", ")
		}
		p.put("%s: ", p.names[v])
		p.whole(func() { p.typ(v.Type) })
	}
	p.put(")")
}

// body writes the operations of a block, and deeper ones further to the right.
func (p *printer) body(b *Block, indent string) {
	for _, op := range b.Ops {
		p.put("%s", indent)
		p.number(op.Results)
		p.head(op)
		p.put("\n")
		for _, r := range op.Regions {
			p.put("%s", indent+"  region")
			p.arguments(r.Args)
			p.put("\n")
			p.body(r, indent+"    ")
		}
	}
}

// head writes an operation without its regions.
func (p *printer) head(op *Op) {
	if len(op.Results) > 0 {
		p.values(op.Results)
		p.put(" = ")
	}
	p.put("%s", op.Name)
	if len(op.Operands) > 0 {
		p.put(" ")
		p.values(op.Operands)
	}
	p.attrs(op.Attrs)
	for i, v := range op.Results {
		p.put("%s", [...]string{" : ", ", "}[min(i, 1)])
		p.whole(func() { p.typ(v.Type) })
	}
}

// String returns the operation as text without its regions. Its values have numbers
// that mean nothing outside of the text.
func (o *Op) String() string {
	p := &printer{names: map[*Value]string{}}
	p.number(o.Operands)
	p.number(o.Results)
	p.head(o)
	return p.Builder.String()
}

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
