package restjson

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// maxDepth bounds how deep arrays and objects are nested, before it is known
// which of them are tensors.
const maxDepth = 300

// maxRank is how many dimensions a tensor has at most.
const maxRank = 254

// parser reads JSON as RapidJSON does with TensorFlow Serving's flags: NaN, Inf
// and Infinity are numbers, and what follows the first value is ignored.
type parser struct {
	document
	pos  int
	open []int32 // the arrays and objects that have begun and not ended
}

// parse reads an object.
func parse(src []byte) (*document, error) {
	if len(src) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "JSON Parse error: The document is empty")
	}
	if len(src) > math.MaxInt32 {
		return nil, tf.Errorf(tf.InvalidArgument, "JSON Parse error: the document must have at most %d bytes, got %d", math.MaxInt32, len(src))
	}
	if err := core.Guard("the request", func() error { core.Room(roomFor(src)); return nil }); err != nil {
		return nil, err
	}
	p := &parser{document: document{src: src, nodes: make([]node, 0, len(src)/8+8)}}
	p.take("\xef\xbb\xbf") // a byte order mark is no part of the text
	if p.space(); p.pos == len(src) {
		return nil, p.error("The document is empty.")
	}
	if err := p.values(); err != nil {
		return nil, err
	}
	if !p.is(0, object) {
		return nil, p.fault(0, "Is not object")
	}
	return &p.document, nil
}

// roomFor estimates how many bytes the nodes of a document need: each value but the
// first of an array or object follows a comma. Commas in texts count as well.
func roomFor(src []byte) int {
	values := min(bytes.Count(src, []byte{','})+1, len(src)/2)
	return values * int(unsafe.Sizeof(node{}))
}

func (p *parser) error(what string) error { return p.errorAt(what, p.pos) }

func (p *parser) errorAt(what string, pos int) error {
	return tf.Errorf(tf.InvalidArgument, "JSON Parse error: %s at offset: %d", what, pos)
}

// values reads one value with all that is in it. It does not recurse: bodies come
// from anywhere.
func (p *parser) values() error {
	for {
		opened, err := p.value()
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		if more, err := p.after(); err != nil || !more {
			return err
		}
	}
}

// value reads a scalar or an empty array or object. Of one that is not empty it
// reads what comes before the first value, and reports that it has opened it.
func (p *parser) value() (opened bool, err error) {
	p.space()
	switch p.peek() {
	case '{':
		return p.begin(object, '}')
	case '[':
		return p.begin(array, ']')
	case '"':
		return false, p.string()
	case 'n':
		return false, p.word("null", null)
	case 't':
		return false, p.word("true", boolTrue)
	case 'f':
		return false, p.word("false", boolFalse)
	}
	return false, p.number()
}

func (p *parser) begin(k kind, closing byte) (opened bool, err error) {
	if len(p.open) == maxDepth {
		return false, p.error("Values are nested too deep.")
	}
	p.open = append(p.open, int32(len(p.nodes)))
	p.nodes = append(p.nodes, node{kind: k, begin: int32(p.pos)})
	p.pos++
	p.space()
	if p.peek() == closing {
		p.end()
		return false, nil
	}
	if k == object {
		return true, p.name()
	}
	return true, nil
}

// end ends the innermost array or object.
func (p *parser) end() {
	p.pos++
	n := &p.nodes[p.open[len(p.open)-1]]
	n.end, n.next = int32(p.pos), int32(len(p.nodes))
	p.open = p.open[:len(p.open)-1]
}

// after reads what follows a value, up to the next one, and reports whether there
// is one.
func (p *parser) after() (more bool, err error) {
	for len(p.open) > 0 {
		n := &p.nodes[p.open[len(p.open)-1]]
		n.size++
		p.space()
		switch c := p.peek(); {
		case c == ',':
			p.pos++
			if n.kind == object {
				return true, p.name()
			}
			return true, nil
		case n.kind == object && c != '}':
			return false, p.error("Missing a comma or } after an object member.")
		case n.kind == array && c != ']':
			return false, p.error("Missing a comma or ] after an array element.")
		}
		p.end()
	}
	return false, nil
}

// name reads the name of a member and the colon.
func (p *parser) name() error {
	p.space()
	if p.peek() != '"' {
		return p.error("Missing a name for object member.")
	}
	if err := p.string(); err != nil {
		return err
	}
	p.space()
	if p.peek() != ':' {
		return p.error("Missing a colon after a name of object member.")
	}
	p.pos++
	return nil
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// scalar adds a value that goes from begin to the parser's place.
func (p *parser) scalar(n node, begin int) {
	n.begin, n.end, n.next = int32(begin), int32(p.pos), int32(len(p.nodes)+1)
	p.nodes = append(p.nodes, n)
}

func (p *parser) word(w string, k kind) error {
	if !p.take(w) {
		return p.error("Invalid value.")
	}
	p.scalar(node{kind: k}, p.pos-len(w))
	return nil
}

// take skips w if it comes next. Else the parser goes to the first byte that
// differs, which is where RapidJSON reports a wrong word.
func (p *parser) take(w string) bool {
	for i := range len(w) {
		if p.peek() != w[i] {
			return false
		}
		p.pos++
	}
	return true
}
