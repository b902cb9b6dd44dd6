package graphtext

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// String formats in as GraphDefs do.
func (in input) String() string {
	if in.out == 0 {
		return in.name
	}
	return fmt.Sprintf("%s:%d", in.name, in.out)
}

// complete works out the attributes that follow from inputs, each node as soon
// as enough of its inputs are known: in loops that is not all of them.
func (p *parser) complete() error {
	for todo := p.lines; len(todo) > 0; {
		var rest []*line
		for _, l := range todo {
			if !p.infer(l) {
				rest = append(rest, l)
				continue
			}
			if err := l.make(); err != nil {
				return err
			}
		}
		if len(rest) == len(todo) {
			return rest[0].make() // which says what is missing
		}
		todo = rest
	}
	return nil
}

// make makes the node. Errors name the line.
func (l *line) make() (err error) {
	if l.node, err = core.NewNode(l.name, l.op.Name, l.attrs); err == nil {
		var d core.DeviceSpec
		d, err = core.ParseDevice(l.device)
		l.node.Device = d.String()
	}
	if err != nil {
		return core.Errorf(core.CodeOf(err), "line %d: node %s: %s", l.number, l.name, core.AsError(err).Message())
	}
	return nil
}

// infer sets what follows from inputs that are known, and reports whether all
// attributes are.
func (p *parser) infer(l *line) bool {
	at := 0
	for i := range l.op.Inputs {
		a := &l.op.Inputs[i]
		n := l.length(a)
		if n < 0 || at+n > len(l.inputs) {
			return true // the error is found when the node is connected
		}
		p.bind(l, a, l.inputs[at:at+n])
		at += n
	}
	for i := range l.op.AttrDefs {
		d := &l.op.AttrDefs[i]
		if l.attrs[d.Name] == nil && d.Default == nil && bound(l.op, d.Name) {
			return false
		}
	}
	return true
}

// length returns how many inputs argument a takes, if it is clear: that of the
// only list follows from the number of all inputs.
func (l *line) length(a *core.ArgDef) int {
	if !a.IsList() {
		return 1
	}
	if n, ok := l.attrs[a.NumAttr].(int64); ok {
		return int(n)
	}
	lists, others := 0, 0
	for i := range l.op.Inputs {
		if b := &l.op.Inputs[i]; b.IsList() {
			lists++
		} else {
			others++
		}
	}
	if lists != 1 {
		return -1
	}
	return len(l.inputs) - others
}

// bind sets the attributes that argument a, given as in, implies.
func (p *parser) bind(l *line, a *core.ArgDef, in []input) {
	if a.NumAttr != "" && l.attrs[a.NumAttr] == nil {
		l.attrs[a.NumAttr] = int64(len(in))
	}
	types := make([]core.DType, 0, len(in))
	for _, x := range in {
		if t := p.typeOf(x); t != core.Invalid {
			types = append(types, t)
		}
	}
	switch {
	case a.TypeAttr != "" && l.attrs[a.TypeAttr] == nil && len(types) > 0:
		l.attrs[a.TypeAttr] = types[0]
	case a.ListAttr != "" && l.attrs[a.ListAttr] == nil && len(types) == len(in):
		l.attrs[a.ListAttr] = types
	}
}

func (p *parser) typeOf(x input) core.DType {
	l := p.byName[x.name]
	if l == nil || l.node == nil || x.out >= len(l.node.OutTypes) {
		return core.Invalid
	}
	return l.node.OutTypes[x.out].Base()
}

// bound reports whether inputs of op imply the attribute.
func bound(op *core.OpDef, attr string) bool {
	for i := range op.Inputs {
		if a := &op.Inputs[i]; a.TypeAttr == attr || a.ListAttr == attr || a.NumAttr == attr {
			return true
		}
	}
	return false
}
