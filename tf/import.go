package tf

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ImportOptions says how a GraphDef becomes part of a graph.
type ImportOptions struct {
	Prefix string            // put before all names, with a "/"
	Inputs map[string]Output // replaces inputs ("node:1") of the imported nodes
	// Adopt lets ImportProto keep memory of the GraphDef, which the program gives
	// away: large constants are not copied. Nodes may share messages of attributes.
	Adopt bool
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

// ImportReturning is ImportGraphDef, and returns what elements name in the
// GraphDef: outputs ("node:1", an [Output]) or operations ("node", an
// *Operation).
func (g *Graph) ImportReturning(data []byte, o ImportOptions, elements ...string) ([]Fetchable, error) {
	if err := g.ImportGraphDef(data, o); err != nil {
		return nil, err
	}
	in := finder{g: g, scope: strings.TrimSuffix(o.Prefix, "/")}
	out := make([]Fetchable, len(elements))
	for i, name := range elements {
		if strings.Contains(name, ":") {
			out[i] = in.output(name)
		} else {
			out[i] = in.operation(name)
		}
		if in.err != nil {
			return nil, Errorf(InvalidArgument, "Requested return_element '%s' not found in graph_def.", name)
		}
	}
	return out, nil
}

// ImportProto adds the nodes of def to g. Nothing is added if there is an
// error. Nodes may stand in any order.
func (g *Graph) ImportProto(def *pb.GraphDef, o ImportOptions) error {
	if g.IsEager() {
		return Errorf(FailedPrecondition, "an eager graph computes as it is built, a GraphDef cannot become part of it")
	}
	if err := g.checkOpen(); err != nil {
		return err
	}
	if v := def.GetVersions().GetMinConsumer(); int(v) > core.ProducerVersion {
		return Errorf(InvalidArgument, "the graph asks for a consumer of version %d or later, this is %d", v, core.ProducerVersion)
	}
	im := &importer{g: g, ops: make(map[string]*Operation, len(def.GetNode())), used: map[endpoint]bool{}, adopt: o.Adopt, producer: int(def.GetVersions().GetProducer())}
	if o.Prefix != "" {
		im.prefix = strings.TrimSuffix(o.Prefix, "/") + "/"
	}
	return im.add(def, o.Inputs)
}

// importer turns NodeDefs into operations in two passes, so that the order of
// nodes and the back edges of loops do not matter.
type importer struct {
	g       *Graph
	library *core.Library // with what def adds
	prefix  string
	inputs  map[endpoint]Output // what replaces inputs
	used    map[endpoint]bool   // those of them that some node has
	ops     map[string]*Operation
	order   []*Operation
	adopt   bool // constants may keep the memory of the GraphDef

	outputs  int // of the nodes, without the first few of each
	producer int // version of what made the GraphDef
}

// endpoint is an output as a GraphDef names it.
type endpoint struct {
	node string
	k    int
}

// add does the whole import; the graph changes in its last step only.
func (im *importer) add(def *pb.GraphDef, inputs map[string]Output) error {
	if err := im.replace(inputs); err != nil {
		return err
	}
	have, _ := im.g.Library()
	merge := have.Merge
	if im.adopt {
		merge = have.Adopt
	}
	library, err := merge(def.GetLibrary())
	if err != nil {
		return err
	}
	im.library = library
	if err := im.declare(def); err != nil {
		return err
	}
	if err := im.connect(def); err != nil {
		return err
	}
	if err := im.checkReplaced(); err != nil {
		return err
	}
	if err := im.inferShapes(); err != nil {
		return err
	}
	return im.commit(def)
}

// replace notes which inputs come from elsewhere.
func (im *importer) replace(inputs map[string]Output) error {
	im.inputs = make(map[endpoint]Output, len(inputs))
	for name, x := range inputs {
		node, k, err := core.ParseTensorName(name)
		if err != nil {
			return err
		}
		if err := x.Err(); err != nil {
			return err
		}
		if x.op.g != im.g {
			return Errorf(InvalidArgument, "what replaces inputs must belong to the graph, %v does not", x)
		}
		im.inputs[endpoint{node, k}] = x
	}
	return nil
}

// checkReplaced refuses replacements of inputs that no node has.
func (im *importer) checkReplaced() error {
	var missing []string
	for e := range im.inputs {
		if !im.used[e] {
			missing = append(missing, core.InputName(e.node, e.k))
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return Errorf(InvalidArgument, "Attempted to map inputs that were not found in graph_def: [%s]", strings.Join(missing, ", "))
}

// declare makes an operation of each node, without inputs.
func (im *importer) declare(def *pb.GraphDef) error {
	for _, n := range def.GetNode() {
		name := im.prefix + n.GetName()
		switch {
		case im.ops[n.GetName()] != nil:
			return Errorf(InvalidArgument, "Node '%s' is not unique", n.GetName())
		case im.g.Operation(name) != nil:
			return Errorf(InvalidArgument, "Node name '%s' already exists in the Graph", name)
		}
		op, err := im.node(n)
		if err != nil {
			return &Error{Code: CodeOf(err), Msg: AsError(err).Message(), Node: n.GetName(), Op: n.GetOp(), Err: err}
		}
		op.grad = op.override()
		im.ops[n.GetName()] = op
		im.order = append(im.order, op)
	}
	return nil
}

func (im *importer) node(n *pb.NodeDef) (*Operation, error) {
	if !validName(n.GetName()) {
		return nil, Errorf(InvalidArgument, "Node '%s': Node name contains invalid characters", n.GetName())
	}
	def, err := im.library.LookupOp(n.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := im.attrs(n, def)
	if err != nil {
		return nil, err
	}
	dev, err := ParseDevice(n.GetDevice())
	if err != nil {
		return nil, err
	}
	im.prefixGroups(attrs)
	if s, ok := attrs["shape"].(Shape); ok && def.Role == core.Fed && im.producer < scalarPlaceholders && len(s) == 0 {
		attrs["shape"] = Shape(nil)
	}
	op := &Operation{g: im.g, Node: core.Node{Name: im.prefix + n.GetName(), Def: def, Attrs: attrs, Device: dev.String()}}
	op.SetPos("node " + op.Name)
	if err := op.Complete(); err != nil {
		return op, err
	}
	if len(op.InTypes) > max(len(n.GetInput()), manyInputs) {
		return op, wrongNumber(op, len(n.GetInput()))
	}
	if im.outputs += max(0, len(op.OutTypes)-fewOutputs); im.outputs > manyOutputs {
		return op, Errorf(ResourceExhausted, "the nodes of a GraphDef must have at most %d outputs beyond %d each", manyOutputs, fewOutputs)
	}
	return op, nil
}

// manyOutputs bounds the outputs of all nodes together, without the first few of each: an
// attribute of a few bytes may claim many, and each takes memory for what is known of it.
const (
	manyOutputs = 1 << 22
	fewOutputs  = 16
)

// manyInputs is how many inputs an attribute of a few bytes may claim. A node that claims
// more, and does not have them, is refused before there are more such.
const manyInputs = 1 << 10

func wrongNumber(op *Operation, got int) error {
	return Errorf(InvalidArgument, "%s takes %d inputs, got %d", op.OpName(), len(op.InTypes), got)
}

// attrs reads the attributes of a node.
func (im *importer) attrs(n *pb.NodeDef, def *core.OpDef) (core.Attrs, error) {
	value := n.GetAttr()["value"].GetTensor()
	if !im.adopt || def.Role != core.Constant || len(value.GetTensorContent()) < largeConst {
		return core.AttrsFromProto(n.GetAttr(), def)
	}
	t, err := core.AdoptTensorProto(value)
	if err != nil {
		return nil, err
	}
	others := maps.Clone(n.GetAttr())
	delete(others, "value")
	attrs, err := core.AttrsFromProto(others, def)
	if err != nil {
		return nil, err
	}
	attrs["value"] = t
	return attrs, nil
}

// largeConst is the size of constants from which on it pays not to copy them.
const largeConst = 1 << 16

// scalarPlaceholders is the version of graphs from which on a Placeholder of shape
// [] is a scalar. Before, that meant that nothing is known of its shape.
const scalarPlaceholders = 24

// prefixGroups renames the nodes that attribute _class names.
func (im *importer) prefixGroups(attrs core.Attrs) {
	groups, _ := attrs["_class"].([]string)
	for i, c := range groups {
		if node, ok := strings.CutPrefix(c, colocationPrefix); ok {
			groups[i] = colocationPrefix + im.prefix + node
		}
	}
}

// connect resolves the inputs of all nodes.
func (im *importer) connect(def *pb.GraphDef) error {
	for i, n := range def.GetNode() {
		if err := im.connectNode(im.order[i], n.GetInput()); err != nil {
			return core.AtNode(err, &im.order[i].Node, n.GetInput())
		}
	}
	return nil
}

func (im *importer) connectNode(op *Operation, inputs []string) error {
	for _, in := range inputs {
		if err := im.input(op, in); err != nil {
			return err
		}
	}
	if len(op.in) != len(op.InTypes) {
		return wrongNumber(op, len(op.in))
	}
	return op.checkInputs()
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
	if op.control != nil {
		return Errorf(InvalidArgument, "Non-control input '%s' after control input", in)
	}
	node, k, err := core.ParseTensorName(in)
	if err != nil {
		return err
	}
	if x, ok := im.inputs[endpoint{node, k}]; ok {
		im.used[endpoint{node, k}] = true
		op.in = append(op.in, x)
		return nil
	}
	src := im.ops[node]
	switch {
	case src == nil:
		return Errorf(InvalidArgument, "Node '%s': Unknown input node '%s'", op.Name, in)
	case k >= len(src.OutTypes):
		return core.NoSuchOutput(op.Name, &src.Node, k)
	}
	op.in = append(op.in, Output{src, k})
	return nil
}

// inferShapes works out what is known of the new operations' outputs, inputs
// first.
func (im *importer) inferShapes() error {
	order, err := im.sorted()
	if err != nil {
		return err
	}
	for _, op := range order {
		if err := op.inferShapes(); err != nil {
			return core.AtNode(err, &op.Node, describe(op.in))
		}
	}
	return nil
}

// commit adds all nodes to the graph.
func (im *importer) commit(def *pb.GraphDef) error {
	_, producer := im.g.Library()
	if v := int(def.GetVersions().GetProducer()); len(im.g.Operations()) == 0 || v < producer {
		producer = v
	}
	for _, op := range im.order {
		im.g.scope.names.take(op.Name)
	}
	im.g.published.setFunctions(im.library, producer) // before the operations that call them are seen
	im.g.published.add(im.order...)
	return nil
}
