package graph

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Of returns the graph of nodes, whose edges lead to others of them.
func Of(nodes []Node, library *core.Library, producer int) *Graph {
	g := &Graph{Library: library, Producer: producer, byName: make(map[string]*Node, len(nodes))}
	for i := range nodes {
		n := &nodes[i]
		n.ID = i
		g.Nodes = append(g.Nodes, n)
		g.byName[n.Name] = n
	}
	return g
}

// FromProto reads a GraphDef, as a worker receives it: devices assigned, all
// attributes set. Nodes may stand in any order.
func FromProto(def *pb.GraphDef) (*Graph, error) {
	library, err := core.NewLibrary(def.GetLibrary())
	if err != nil {
		return nil, err
	}
	return FromProtoWith(def, library)
}

// FromProtoWith is FromProto for a GraphDef whose functions have been read.
func FromProtoWith(def *pb.GraphDef, library *core.Library) (*Graph, error) {
	return Read(nil, def, library)
}

// Read is FromProtoWith within a budget, which is the graph's from then on.
func Read(b *Budget, def *pb.GraphDef, library *core.Library) (*Graph, error) {
	return read(b, def, library, nil)
}

// read is Read for a message that leaves out the values of some constants.
func read(b *Budget, def *pb.GraphDef, library *core.Library, values map[string]*core.Tensor) (g *Graph, err error) {
	defer core.Recover(&err, "the reading of a graph")
	if err := b.CheckSize(len(def.GetNode())); err != nil {
		return nil, err
	}
	g = &Graph{byName: make(map[string]*Node, len(def.GetNode())), Producer: int(def.GetVersions().GetProducer()), Library: library, Budget: b}
	g.Nodes = make([]*Node, 0, len(def.GetNode()))
	if err := g.readNodes(def, values); err != nil {
		return nil, err
	}
	for i, p := range def.GetNode() {
		if err := b.Visit(1); err != nil {
			return nil, err
		}
		if err := g.Connect(g.Nodes[i], p.GetInput()); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// readNodes adds the nodes of def, without inputs.
func (g *Graph) readNodes(def *pb.GraphDef, values map[string]*core.Tensor) error {
	size := len(def.GetNode())
	for _, p := range def.GetNode() {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		n, err := nodeFromProto(p, g.Library, values[p.GetName()])
		if err != nil {
			return &core.Error{Code: core.CodeOf(err), Msg: core.AsError(err).Message(), Node: p.GetName(), Op: p.GetOp()}
		}
		if err := g.Add(n); err != nil {
			return err
		}
		if more := len(n.OutTypes) / outputsOfANode; more > 0 {
			size += more
			if err := g.Budget.CheckSize(size); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadBody reads the body of a function within a budget, as Read does. Its nodes know
// that they are from there.
func ReadBody(b *Budget, body *core.FunctionBody, library *core.Library) (*Graph, error) {
	g, err := read(b, body.Graph, library, body.Constants)
	if err != nil {
		return nil, err
	}
	for _, n := range g.Nodes {
		n.SetOrigin(cmp.Or(n.Origin(), core.Origin{Function: body.Name, Node: n.Name}))
	}
	return g, nil
}

// An attribute of a few bytes says how many inputs and outputs a node has. Nodes that claim
// many inputs, and do not have them, are refused before there are more of them; that many
// outputs take as much memory as a node.
const (
	manyInputs     = 1 << 10
	outputsOfANode = 1 << 5
)

// nodeFromProto reads a node. value, if there, is its attribute of that name.
func nodeFromProto(p *pb.NodeDef, library *core.Library, value *core.Tensor) (*Node, error) {
	def, err := library.LookupOp(p.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := core.AttrsFromProto(p.GetAttr(), def)
	if err != nil {
		return nil, err
	}
	if value != nil {
		attrs["value"] = value
	}
	d, err := core.NewNodeOf(p.GetName(), def, attrs)
	if err == nil {
		err = Bound(d)
	}
	if err == nil && len(d.InTypes) > max(len(p.GetInput()), manyInputs) {
		err = wrongInputs(d, len(p.GetInput()))
	}
	if err != nil {
		return nil, err
	}
	n := &Node{Node: *d}
	n.Device = p.GetDevice()
	n.SetOrigin(originFromProto(p.GetExperimentalDebugInfo()))
	return n, nil
}

// Bound refuses a node with attributes that stand for those of a function: such a node
// runs only when they have got their values.
func Bound(n *core.Node) error {
	for i := range n.Def.AttrDefs {
		name := n.Def.AttrDefs[i].Name
		if p, ok := n.Attrs[name].(core.Placeholder); ok {
			return core.Errorf(core.InvalidArgument, "attr %q of %s must have a value outside of functions, got the placeholder %q", name, n.Def.Name, string(p))
		}
	}
	return nil
}

// originFromProto returns the first of the nodes that became one: TensorFlow lists
// all of them.
func originFromProto(p *pb.NodeDef_ExperimentalDebugInfo) (o core.Origin) {
	if names := p.GetOriginalNodeNames(); len(names) > 0 {
		o.Node = names[0]
	}
	if names := p.GetOriginalFuncNames(); len(names) > 0 && o.Node != "" {
		o.Function = names[0]
	}
	return o
}

func originProto(o core.Origin) *pb.NodeDef_ExperimentalDebugInfo {
	if o.Node == "" {
		return nil
	}
	p := &pb.NodeDef_ExperimentalDebugInfo{OriginalNodeNames: []string{o.Node}}
	if o.Function != "" {
		p.OriginalFuncNames = []string{o.Function}
	}
	return p
}

// Connect gives n, which has no inputs yet, those of the given names, written
// as in a GraphDef: "x", "x:1", "^x".
func (g *Graph) Connect(n *Node, inputs []string) error {
	var after []*Node
	for _, in := range inputs {
		if name, ok := strings.CutPrefix(in, "^"); ok {
			src := g.byName[name]
			if src == nil {
				return core.Errorf(core.InvalidArgument, "Node '%s': Unknown input node '%s'", n.Name, in)
			}
			after = append(after, src)
			continue
		}
		name, k, err := core.ParseTensorName(in)
		if err != nil {
			return err
		}
		src := g.byName[name]
		if src == nil {
			return core.Errorf(core.InvalidArgument, "Node '%s': Unknown input node '%s'", n.Name, in)
		}
		if k >= len(src.OutTypes) {
			return core.NoSuchOutput(n.Name, &src.Node, k)
		}
		n.In = append(n.In, Edge{src, k})
	}
	n.AddControls(after...)
	return n.checkInputs()
}

func wrongInputs(n *core.Node, got int) error {
	return core.Errorf(core.InvalidArgument, "Node '%s': %s takes %d inputs, got %d", n.Name, n.OpName(), len(n.InTypes), got)
}

func (n *Node) checkInputs() error {
	if len(n.In) != len(n.InTypes) {
		return wrongInputs(&n.Node, len(n.In))
	}
	for i, e := range n.In {
		want, got := n.InTypes[i], e.Type()
		if want.Base() != got.Base() || want.IsRef() && !got.IsRef() {
			return core.Errorf(core.InvalidArgument, "Input %d of node %s was passed %s from %s incompatible with expected %s.", i, n.Name, got.CName(), e.Name(), want.CName())
		}
	}
	return nil
}

// Proto returns g as a GraphDef with all attributes written out, as real
// TensorFlow workers need it.
func (g *Graph) Proto() (*pb.GraphDef, error) {
	def := &pb.GraphDef{Versions: &pb.VersionDef{Producer: int32(g.Producer)}}
	def.Library = g.Library.Proto()
	for _, n := range g.Nodes {
		attrs, err := core.AttrsProto(n.Attrs)
		if err != nil {
			return nil, core.AtNode(err, &n.Node, nil)
		}
		p := &pb.NodeDef{Name: n.Name, Op: n.OpName(), Device: n.Device, Attr: attrs, ExperimentalDebugInfo: originProto(n.Origin())}
		for _, e := range n.In {
			p.Input = append(p.Input, edgeText(e))
		}
		for _, c := range n.Control {
			p.Input = append(p.Input, "^"+c.Name)
		}
		def.Node = append(def.Node, p)
	}
	return def, nil
}

func edgeText(e Edge) string {
	if e.Out == 0 {
		return e.Node.Name
	}
	return fmt.Sprintf("%s:%d", e.Node.Name, e.Out)
}
