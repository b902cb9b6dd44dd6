package tf

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/pb"
)

// ProducerVersion is the GraphDef version that Gorge writes: TensorFlow 2.21's.
const ProducerVersion = 2314

// minConsumer is the oldest consumer that may read our graphs.
const minConsumer = 0

// NodeProto returns op as a NodeDef.
func (op *Operation) NodeProto() (*pb.NodeDef, error) {
	attrs, err := AttrsProto(op.Attrs)
	if err != nil {
		return nil, err
	}
	p := &pb.NodeDef{Name: op.Name, Op: op.OpName(), Device: op.Device, Attr: attrs}
	for _, x := range op.in {
		p.Input = append(p.Input, inputName(x.op.Name, x.k))
	}
	for _, c := range op.control {
		p.Input = append(p.Input, "^"+c.Name)
	}
	return p, nil
}

func inputName(node string, k int) string {
	if k == 0 {
		return node
	}
	return fmt.Sprintf("%s:%d", node, k)
}

// GraphProto returns the operations of g from number from on as a GraphDef,
// with the function library.
func (g *Graph) GraphProto(from int) (*pb.GraphDef, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	def := &pb.GraphDef{Versions: &pb.VersionDef{Producer: int32(ProducerVersion), MinConsumer: minConsumer}}
	if g.version != 0 {
		def.Versions.Producer = int32(g.version)
	}
	def.Library, _ = g.library.(*pb.FunctionDefLibrary)
	for _, op := range g.Operations()[from:] {
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

// ImportOptions says how a GraphDef becomes part of a graph.
type ImportOptions struct {
	Prefix string            // put before all names, with a "/"
	Inputs map[string]Output // replaces inputs ("node:1") of the imported nodes
}

// ImportGraphDef adds the nodes of a GraphDef, binary or text, to g.
func (g *Graph) ImportGraphDef(data []byte, o ImportOptions) error {
	def := &pb.GraphDef{}
	if err := proto.Unmarshal(data, def); err != nil {
		if terr := prototext.Unmarshal(data, def); terr != nil {
			return Errorf(InvalidArgument, "a GraphDef must be in binary or text format: %v; %v", err, terr)
		}
	}
	return g.ImportProto(def, o)
}

// ImportProto adds the nodes of def to g. Nothing is added if there is an
// error. Nodes may stand in any order.
func (g *Graph) ImportProto(def *pb.GraphDef, o ImportOptions) error {
	im := &importer{g: g, o: o, ops: make(map[string]*Operation, len(def.GetNode()))}
	if o.Prefix != "" {
		im.prefix = strings.TrimSuffix(o.Prefix, "/") + "/"
	}
	if v := def.GetVersions().GetMinConsumer(); int(v) > ProducerVersion {
		return Errorf(InvalidArgument, "the graph asks for a consumer of version %d or later, this is %d", v, ProducerVersion)
	}
	if err := im.declare(def); err != nil {
		return err
	}
	if err := im.connect(def); err != nil {
		return err
	}
	return im.commit(def)
}

// importer turns NodeDefs into operations in two passes, so that the order of
// nodes and the back edges of loops do not matter.
type importer struct {
	g      *Graph
	o      ImportOptions
	prefix string
	ops    map[string]*Operation
	order  []*Operation
}

// declare makes an operation of each node, without inputs.
func (im *importer) declare(def *pb.GraphDef) error {
	for _, n := range def.GetNode() {
		if im.ops[n.GetName()] != nil || im.g.Operation(im.prefix+n.GetName()) != nil {
			return Errorf(InvalidArgument, "Node '%s' already exists in the Graph", im.prefix+n.GetName())
		}
		op, err := im.node(n)
		if err != nil {
			return &Error{Code: CodeOf(err), Msg: AsError(err).Message(), Node: n.GetName(), Op: n.GetOp(), Err: err}
		}
		im.ops[n.GetName()] = op
		im.order = append(im.order, op)
	}
	return nil
}

func (im *importer) node(n *pb.NodeDef) (*Operation, error) {
	if !validName(n.GetName()) {
		return nil, Errorf(InvalidArgument, "Node '%s': Node name contains invalid characters", n.GetName())
	}
	def, err := LookupOp(n.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := AttrsFromProto(n.GetAttr(), def)
	if err != nil {
		return nil, err
	}
	dev, err := ParseDevice(n.GetDevice())
	if err != nil {
		return nil, err
	}
	op := &Operation{g: im.g, Node: Node{Name: im.prefix + n.GetName(), Def: def, Attrs: attrs, Device: dev.String()}}
	op.where = "node " + op.Name
	return op, op.complete()
}

// connect resolves the inputs of all nodes.
func (im *importer) connect(def *pb.GraphDef) error {
	for i, n := range def.GetNode() {
		op := im.order[i]
		for _, in := range n.GetInput() {
			if err := im.input(op, in); err != nil {
				return AtNode(err, &op.Node, n.GetInput())
			}
		}
		if len(op.in) != len(op.InTypes) {
			return AtNode(Errorf(InvalidArgument, "%s takes %d inputs, got %d", op.OpName(), len(op.InTypes), len(op.in)), &op.Node, n.GetInput())
		}
		if err := op.checkInputs(); err != nil {
			return AtNode(err, &op.Node, n.GetInput())
		}
	}
	return nil
}

func (im *importer) input(op *Operation, in string) error {
	if ctl, ok := strings.CutPrefix(in, "^"); ok {
		src := im.ops[ctl]
		if src == nil {
			return Errorf(InvalidArgument, "Node '%s': Unknown input node '%s'", op.Name, in)
		}
		op.control = append(op.control, src)
		return nil
	}
	if x, ok := im.o.Inputs[in]; ok {
		op.in = append(op.in, x)
		return nil
	}
	node, k, err := ParseTensorName(in)
	if err != nil {
		return err
	}
	src := im.ops[node]
	switch {
	case src == nil:
		return Errorf(InvalidArgument, "Node '%s': Unknown input node '%s'", op.Name, in)
	case k >= len(src.OutTypes):
		return Errorf(InvalidArgument, "Node '%s': Connecting to invalid output %d of source node %s which has %d outputs.", op.Name, k, node, len(src.OutTypes))
	}
	op.in = append(op.in, Output{src, k})
	return nil
}

// commit infers shapes, inputs first, and adds all nodes to the graph.
func (im *importer) commit(def *pb.GraphDef) error {
	for _, op := range im.sorted() {
		op.shapes = make([]Shape, len(op.OutTypes))
		if err := op.inferShapes(); err != nil {
			// What is inconsistent fails when it is run, if it ever is;
			// TensorFlow loads such graphs too.
			op.shapes = make([]Shape, len(op.OutTypes))
		}
	}
	for _, op := range im.order {
		im.g.names[strings.ToLower(op.Name)]++
		im.g.add(op)
	}
	if def.GetLibrary() != nil {
		im.g.library = def.GetLibrary()
	}
	im.g.version = int(def.GetVersions().GetProducer())
	return nil
}

// sorted returns the new operations, inputs first as far as loops allow.
func (im *importer) sorted() []*Operation {
	state := make(map[*Operation]int8, len(im.order))
	out := make([]*Operation, 0, len(im.order))
	type frame struct {
		op   *Operation
		next int
	}
	var stack []frame
	for _, root := range im.order {
		stack = append(stack, frame{root, 0})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == 0 {
				if state[top.op] != 0 {
					stack = stack[:len(stack)-1]
					continue
				}
				state[top.op] = 1
			}
			if top.next < len(top.op.in) {
				src := top.op.in[top.next].op
				top.next++
				if state[src] == 0 && im.ops[strings.TrimPrefix(src.Name, im.prefix)] == src {
					stack = append(stack, frame{src, 0})
				}
				continue
			}
			if state[top.op] == 1 {
				state[top.op] = 2
				out = append(out, top.op)
			}
			stack = stack[:len(stack)-1]
		}
	}
	return out
}
