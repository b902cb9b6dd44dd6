package graph

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// FromOperations returns the operations of a user's graph.
func FromOperations(ops []*tf.Operation, library *tf.Library, producer int) *Graph {
	g := &Graph{Library: library, Producer: producer, byName: make(map[string]*Node, len(ops))}
	byOp := make(map[*tf.Operation]*Node, len(ops))
	store := make([]Node, len(ops))
	for i, op := range ops {
		n := &store[i]
		n.Node, n.ID, n.Shapes = op.Node, i, op.Shapes()
		g.Nodes = append(g.Nodes, n)
		g.byName[n.Name], byOp[op] = n, n
	}
	for i, op := range ops {
		n := &store[i]
		n.In = make([]Edge, len(op.Inputs()))
		for k, x := range op.Inputs() {
			n.In[k] = Edge{byOp[x.Operation()], x.Index()}
		}
		for _, c := range op.ControlInputs() {
			n.Control = append(n.Control, byOp[c])
		}
	}
	return g
}

// FromProto reads a GraphDef, as a worker receives it: devices assigned, all
// attributes set. Nodes may stand in any order.
func FromProto(def *pb.GraphDef) (*Graph, error) {
	library, err := tf.NewLibrary(def.GetLibrary())
	if err != nil {
		return nil, err
	}
	return FromProtoWith(def, library)
}

// FromProtoWith is FromProto for a GraphDef whose functions have been read.
func FromProtoWith(def *pb.GraphDef, library *tf.Library) (*Graph, error) {
	g := New()
	g.Producer, g.Library = int(def.GetVersions().GetProducer()), library
	for _, p := range def.GetNode() {
		n, err := nodeFromProto(p, library)
		if err != nil {
			return nil, &tf.Error{Code: tf.CodeOf(err), Msg: tf.AsError(err).Message(), Node: p.GetName(), Op: p.GetOp()}
		}
		if err := g.Add(n); err != nil {
			return nil, err
		}
	}
	for i, p := range def.GetNode() {
		if err := g.Connect(g.Nodes[i], p.GetInput()); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func nodeFromProto(p *pb.NodeDef, library *tf.Library) (*Node, error) {
	def, err := library.LookupOp(p.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := tf.AttrsFromProto(p.GetAttr(), def)
	if err != nil {
		return nil, err
	}
	d, err := tf.NewNodeOf(p.GetName(), def, attrs)
	if err != nil {
		return nil, err
	}
	n := &Node{Node: *d}
	n.Device = p.GetDevice()
	if names := p.GetExperimentalDebugInfo().GetOriginalNodeNames(); len(names) > 0 {
		n.SetOrigin(names[0])
	}
	return n, nil
}

// Connect gives n, which has no inputs yet, those of the given names, written
// as in a GraphDef: "x", "x:1", "^x".
func (g *Graph) Connect(n *Node, inputs []string) error {
	for _, in := range inputs {
		if name, ok := strings.CutPrefix(in, "^"); ok {
			src := g.byName[name]
			if src == nil {
				return tf.Errorf(tf.InvalidArgument, "Node '%s': Unknown input node '%s'", n.Name, in)
			}
			n.AddControl(src)
			continue
		}
		name, k, err := tf.ParseTensorName(in)
		if err != nil {
			return err
		}
		src := g.byName[name]
		if src == nil {
			return tf.Errorf(tf.InvalidArgument, "Node '%s': Unknown input node '%s'", n.Name, in)
		}
		if k >= len(src.OutTypes) {
			return tf.NoSuchOutput(n.Name, &src.Node, k)
		}
		n.In = append(n.In, Edge{src, k})
	}
	return n.checkInputs()
}

func (n *Node) checkInputs() error {
	if len(n.In) != len(n.InTypes) {
		return tf.Errorf(tf.InvalidArgument, "Node '%s': %s takes %d inputs, got %d", n.Name, n.OpName(), len(n.InTypes), len(n.In))
	}
	for i, e := range n.In {
		want, got := n.InTypes[i], e.Type()
		if want.Base() != got.Base() || want.IsRef() && !got.IsRef() {
			return tf.Errorf(tf.InvalidArgument, "Input %d of node %s was passed %s from %s incompatible with expected %s.", i, n.Name, got.CName(), e.Name(), want.CName())
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
		attrs, err := tf.AttrsProto(n.Attrs)
		if err != nil {
			return nil, tf.AtNode(err, &n.Node, nil)
		}
		p := &pb.NodeDef{Name: n.Name, Op: n.OpName(), Device: n.Device, Attr: attrs}
		if o := n.Origin(); o != "" {
			p.ExperimentalDebugInfo = &pb.NodeDef_ExperimentalDebugInfo{OriginalNodeNames: []string{o}}
		}
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
