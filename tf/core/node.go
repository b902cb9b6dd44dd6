package core

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A Node is what is fixed about one use of an op: its name, attributes, types
// and device. Graphs of every kind (the user's, a pass's, an executor's) hold
// nodes; kernel factories read them.
type Node struct {
	Name     string
	Def      *OpDef
	Attrs    Attrs
	Device   string // requested, or assigned once placed; canonical text
	InTypes  []DType
	OutTypes []DType
	where    string
	origin   Origin
	sources  func(i int) string
}

// OpName returns the name of the node's op.
func (n *Node) OpName() string {
	if n.Def == nil {
		return ""
	}
	return n.Def.Name
}

// Pos returns where the program added the node ("main.go:30"), or "".
func (n *Node) Pos() string { return n.where }

// SetPos says where that was.
func (n *Node) SetPos(pos string) { n.where = pos }

// An Origin is a function and what a node is called in its body. It is zero for
// nodes that are from no function's body.
type Origin struct {
	Function string // "" where only the node's name is known
	Node     string
}

// String returns the origin in the form in which TensorFlow's clients look for
// nodes: "{{function_node f}}{{node n}}".
func (o Origin) String() string {
	if o == (Origin{}) {
		return ""
	}
	text := "{{node " + o.Node + "}}"
	if o.Function != "" {
		text = "{{function_node " + o.Function + "}}" + text
	}
	return text
}

// Origin returns the function of whose body the node is a part, or was before the
// body took the place of a call.
func (n *Node) Origin() Origin { return n.origin }

// SetOrigin notes that.
func (n *Node) SetOrigin(o Origin) { n.origin = o }

// CopyPos makes n report the position and the origin of m, from which a pass
// derived it.
func (n *Node) CopyPos(m *Node) { n.where, n.origin = m.where, m.origin }

// Source returns what input i is called in the graph that runs, for messages: "x"
// or "x:1"; "" where there is no such graph.
func (n *Node) Source(i int) string {
	if n.sources == nil {
		return ""
	}
	return n.sources(i)
}

// SetSources says what Source returns.
func (n *Node) SetSources(f func(i int) string) { n.sources = f }

// Attr returns the value of an attribute, nil if it has none.
func (n *Node) Attr(name string) any { return n.Attrs[name] }

// Bool returns a bool attribute, false if it is not set.
func (n *Node) Bool(name string) bool { v, _ := n.Attrs[name].(bool); return v }

// Int returns an int attribute, 0 if it is not set.
func (n *Node) Int(name string) int { v, _ := n.Attrs[name].(int64); return int(v) }

// Float returns a float attribute, 0 if it is not set.
func (n *Node) Float(name string) float32 { v, _ := n.Attrs[name].(float32); return v }

// Str returns a string attribute, "" if it is not set.
func (n *Node) Str(name string) string { v, _ := n.Attrs[name].(string); return v }

// Type returns a type attribute, Invalid if it is not set.
func (n *Node) Type(name string) DType { v, _ := n.Attrs[name].(DType); return v }

// ShapeAttr returns a shape attribute, the unknown shape if it is not set.
func (n *Node) ShapeAttr(name string) Shape { v, _ := n.Attrs[name].(Shape); return v }

// TensorAttr returns a tensor attribute, nil if it is not set.
func (n *Node) TensorAttr(name string) *Tensor { v, _ := n.Attrs[name].(*Tensor); return v }

// FuncAttr returns a function attribute.
func (n *Node) FuncAttr(name string) Func { v, _ := n.Attrs[name].(Func); return v }

// Ints returns a list(int) attribute.
func (n *Node) Ints(name string) []int {
	v, _ := n.Attrs[name].([]int64)
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// CheckInt32s refuses int and list(int) attributes that do not fit into 32 bits, with
// INVALID_ARGUMENT: kernels for which TensorFlow has them so.
func (n *Node) CheckInt32s(names ...string) error {
	for _, name := range names {
		for _, v := range append(n.Ints(name), n.Int(name)) {
			if v != int(int32(v)) {
				return Errorf(InvalidArgument, "Attr %s has value %d out of range for an int32", name, v)
			}
		}
	}
	return nil
}

// Strs returns a list(string) attribute.
func (n *Node) Strs(name string) []string { v, _ := n.Attrs[name].([]string); return v }

// TypesAttr returns a list(type) attribute.
func (n *Node) TypesAttr(name string) []DType { v, _ := n.Attrs[name].([]DType); return v }

// NewNode returns a node of op with attrs completed by defaults and checked,
// and with its types worked out. Unknown attributes that begin with "_" are
// kept, and so are those that a message has brought: its producer may be newer, and
// TensorFlow keeps and does not read them either. Others are refused.
func NewNode(name, op string, attrs Attrs) (*Node, error) {
	def, err := LookupOp(op)
	if err != nil {
		return nil, err
	}
	return NewNodeOf(name, def, attrs)
}

// NewNodeOf is NewNode for a definition at hand, perhaps of a function.
func NewNodeOf(name string, def *OpDef, attrs Attrs) (*Node, error) {
	n := &Node{Name: name, Def: def, Attrs: attrs}
	return n, n.Complete()
}

// Complete fills in default attrs, checks all and derives the types.
func (n *Node) Complete() (err error) {
	if err := checkDenied(n.Name, n.Def); err != nil {
		return err
	}
	if n.Attrs == nil {
		n.Attrs = Attrs{}
	}
	for i := range n.Def.AttrDefs {
		d := &n.Def.AttrDefs[i]
		v, ok := n.Attrs[d.Name]
		if !ok {
			if d.Default == nil {
				return missingAttr(n.Def.Name, d.Name)
			}
			v = d.Default
			n.Attrs[d.Name] = v
		}
		if err := d.Check(v); err != nil {
			normal := NormalAttr(v) // programs write int
			if d.Check(normal) != nil {
				return err
			}
			n.Attrs[d.Name] = normal
		}
	}
	for name, v := range n.Attrs {
		if _, brought := v.(*pb.AttrValue); !brought && !strings.HasPrefix(name, "_") && n.Def.attrs[name] == nil {
			return unknownAttr(n.Def.Name, name)
		}
	}
	if n.InTypes, err = argTypes(n.Def.Inputs, n.Attrs); err != nil {
		return err
	}
	n.OutTypes, err = argTypes(n.Def.Outputs, n.Attrs)
	return err
}

// InBody returns the name of an output of n in a function's body: "node:product:0".
func (n *Node) InBody(output int) string {
	k := output
	for i := range n.Def.Outputs {
		a := &n.Def.Outputs[i]
		types, _ := a.Types(n.Attrs)
		if k < len(types) {
			return fmt.Sprintf("%s:%s:%d", n.Name, a.Name, k)
		}
		k -= len(types)
	}
	return fmt.Sprintf("%s:%d", n.Name, output)
}
