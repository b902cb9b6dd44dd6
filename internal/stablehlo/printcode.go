package stablehlo

import "fmt"

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

// number gives names to values in the order in which they are written.
func (p *printer) number(vs []*Value) {
	for _, v := range vs {
		p.names[v] = fmt.Sprintf("%%%d", len(p.names))
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
