package tf

import (
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// minConsumer is the oldest consumer that may read our graphs.
const minConsumer = 0

// NodeProto returns op as a NodeDef.
func (op *Operation) NodeProto() (*pb.NodeDef, error) {
	attrs, err := core.AttrsProto(op.Attrs)
	if err != nil {
		return nil, err
	}
	p := &pb.NodeDef{Name: op.Name, Op: op.OpName(), Device: op.Device, Attr: attrs}
	for _, x := range op.in {
		p.Input = append(p.Input, core.InputName(x.op.Name, x.k))
	}
	for _, c := range op.control {
		p.Input = append(p.Input, "^"+c.Name)
	}
	return p, nil
}

// GraphProto returns the operations of g from number from on as a GraphDef,
// with the function library.
func (g *Graph) GraphProto(from int) (*pb.GraphDef, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	library, producer := g.Library()
	def := &pb.GraphDef{Versions: &pb.VersionDef{Producer: int32(producer), MinConsumer: minConsumer}}
	def.Library = library.Proto()
	ops := g.Operations()
	if from < 0 || from > len(ops) {
		return nil, Errorf(InvalidArgument, "the first operation to write must be one of the graph's %d, got number %d", len(ops), from)
	}
	for _, op := range ops[from:] {
		n, err := op.NodeProto()
		if err != nil {
			return nil, err
		}
		def.Node = append(def.Node, n)
	}
	return def, nil
}

// MarshalGraphDef returns g as a serialized GraphDef.
func (g *Graph) MarshalGraphDef() ([]byte, error) {
	def, err := g.GraphProto(0)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(def)
}

// MarshalGraphDefText returns g as a GraphDef in text format.
func (g *Graph) MarshalGraphDefText() ([]byte, error) {
	def, err := g.GraphProto(0)
	if err != nil {
		return nil, err
	}
	return prototext.MarshalOptions{Multiline: true, Indent: "  "}.Marshal(def)
}
