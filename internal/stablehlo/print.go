package stablehlo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A printer writes modules, and their parts, as text for people. It cuts what is long:
// small artifacts can stand for very much of it.
type printer struct {
	strings.Builder
	end   int // where the attribute or the type that is being written is cut
	names map[*Value]string
}

// longest is how many bytes of an attribute or a type are written.
const longest = 1024

// String returns the module as text. Large constants are represented by a checksum.
func (m *Module) String() string {
	p := &printer{}
	p.put("module @%s", m.Name)
	p.attrs(m.Attrs)
	p.put("\n")
	for _, f := range m.Funcs {
		p.function(f)
	}
	return p.Builder.String()
}

// String returns the type in the form of MLIR, as "tensor<2x?xf32>".
func (t Type) String() string {
	p := &printer{}
	p.whole(func() { p.typ(t) })
	return p.Builder.String()
}

func (p *printer) put(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// whole writes one attribute or type and marks where it cuts it.
func (p *printer) whole(write func()) {
	p.end = p.Len() + longest
	write()
	if p.full() {
		p.put("…")
	}
}

func (p *printer) full() bool { return p.Len() > p.end }

// list writes items between brackets.
func (p *printer) list(open string, n int, item func(i int), end string) {
	p.put("%s", open)
	for i := 0; i < n && !p.full(); i++ {
		if i > 0 {
			p.put(", ")
		}
		item(i)
	}
	p.put("%s", end)
}

func (p *printer) types(ts []Type) {
	p.list("(", len(ts), func(i int) { p.typ(ts[i]) }, ")")
}

var kindNames = map[Kind]string{Tensor: "tensor", Unranked: "tensor", Token: "token", Tuple: "tuple", None: "none",
	Buffer: "memref", Future: "future", Witness: "witness"}

func (p *printer) typ(t Type) {
	switch t.Kind {
	case Function:
		p.types(t.Args)
		p.put(" -> ")
		p.types(t.Results)
	case Tuple, Future:
		p.list(kindNames[t.Kind]+"<", len(t.Elems), func(i int) { p.typ(t.Elems[i]) }, ">")
	case Scalar:
		p.elem(t)
	case Tensor, Unranked, Buffer:
		p.put("%s<", kindNames[t.Kind])
		p.sizes(t)
		p.elem(t)
		p.put(">")
	default:
		p.put("%s", kindNames[t.Kind])
	}
}

func (p *printer) elem(t Type) {
	if t.Quantized {
		p.put("quantized ")
	}
	p.put("%s", t.Elem)
	if t.Bounds != nil {
		p.put(", bounds=%s", strings.ReplaceAll(fmt.Sprint(t.Bounds), "-1", "?"))
	}
}

func (p *printer) sizes(t Type) {
	if t.Kind == Unranked {
		p.put("*x")
	}
	for _, n := range t.Shape {
		if p.full() {
			return
		}
		if n == Dynamic {
			p.put("?x")
		} else {
			p.put("%dx", n)
		}
	}
}

func (p *printer) attrs(set map[string]Attr) {
	if len(set) == 0 {
		return
	}
	p.put(" ")
	p.whole(func() { p.dict(set) })
}

func (p *printer) dict(set map[string]Attr) {
	keys := slices.Sorted(maps.Keys(set))
	p.list("{", len(keys), func(i int) {
		p.put("%s = ", keys[i])
		p.attr(set[keys[i]])
	}, "}")
}

func (p *printer) attr(a Attr) {
	switch a := a.(type) {
	case Array:
		p.list("[", len(a), func(i int) { p.attr(a[i]) }, "]")
	case Dict:
		p.dict(a)
	case Float:
		p.put("%v : %s", a.Value, a.Elem)
	case Int:
		p.put("%s : %s", a.text(), a.Elem)
	case String:
		p.put("%.*q", longest, string(a))
	case Symbol:
		p.put("@%.*s", longest, string(a))
	case TypeAttr:
		p.typ(a.Type)
	case Dense:
		p.dense(a)
	case Alias:
		p.put("alias<%v = %d %v>", a.Output, a.Operand, a.Inner)
	case Bounds:
		p.put("bounds<%v>", []int64(a))
	case Unit:
		p.put("unit")
	default: // Bool, Enum
		p.put("%v", a)
	}
}
