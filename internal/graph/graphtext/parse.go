package graphtext

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Parse reads a graph. Nodes may be used before they are defined.
func Parse(text string) (*graph.Graph, error) {
	p := &parser{byName: map[string]*line{}}
	for i, s := range strings.Split(text, "\n") {
		if err := p.line(s); err != nil {
			return nil, core.Errorf(core.InvalidArgument, "line %d: %s", i+1, core.AsError(err).Message())
		}
	}
	if err := p.complete(); err != nil {
		return nil, err
	}
	return p.graph()
}

// line is a node as it is written.
type line struct {
	number  int
	name    string
	op      *core.OpDef
	attrs   core.Attrs
	inputs  []input
	control []string
	device  string
	node    *core.Node // once its attributes are known
}

// input is an output of another node.
type input struct {
	name string
	out  int
}

type parser struct {
	lines  []*line
	byName map[string]*line
	number int
}

func (p *parser) line(s string) error {
	p.number++
	sc := scanner{s: s}
	if sc.blank(); sc.done() {
		return nil
	}
	l := &line{number: p.number, name: sc.word(), attrs: core.Attrs{}}
	if l.name == "" || !sc.eat('=') {
		return sc.fail("a node has the form name = Op[attrs](inputs) @device")
	}
	if p.byName[l.name] != nil {
		return sc.fail("node " + l.name + " is defined twice")
	}
	var err error
	if l.op, err = core.LookupOp(sc.word()); err != nil {
		return err
	}
	if err := l.rest(&sc); err != nil {
		return err
	}
	p.lines, p.byName[l.name] = append(p.lines, l), l
	return nil
}

// rest reads what follows the op.
func (l *line) rest(sc *scanner) error {
	if sc.eat('[') {
		if err := sc.list(']', l.attr); err != nil {
			return err
		}
	}
	if sc.eat('(') {
		if err := sc.list(')', l.input); err != nil {
			return err
		}
	}
	if sc.eat('@') {
		l.device = sc.word()
	}
	if sc.blank(); !sc.done() {
		return sc.fail("nothing may follow the device")
	}
	return nil
}

func (l *line) attr(sc *scanner) error {
	name := sc.word()
	if name == "" || !sc.eat('=') {
		return sc.fail("an attribute has the form name=value")
	}
	if l.attrs[name] != nil {
		return sc.fail("attribute " + name + " is given twice")
	}
	v, err := sc.value(l.op.Attr(name))
	if err != nil {
		return err
	}
	l.attrs[name] = v
	return nil
}

func (l *line) input(sc *scanner) error {
	if sc.eat('^') {
		l.control = append(l.control, sc.word())
		return nil
	}
	name, k, err := core.ParseTensorName(sc.word())
	if err == nil && name == "" {
		return sc.fail("an input must have a name")
	}
	l.inputs = append(l.inputs, input{name, k})
	return err
}

// graph links the nodes.
func (p *parser) graph() (*graph.Graph, error) {
	g := graph.New()
	for _, l := range p.lines {
		if err := g.Add(&graph.Node{Node: *l.node}); err != nil {
			return nil, err
		}
	}
	for _, l := range p.lines {
		if err := g.Connect(g.Node(l.name), l.inputNames()); err != nil {
			return nil, err
		}
	}
	return g, g.InferShapes()
}

func (l *line) inputNames() []string {
	var out []string
	for _, in := range l.inputs {
		out = append(out, in.String())
	}
	for _, c := range l.control {
		out = append(out, "^"+c)
	}
	return out
}
