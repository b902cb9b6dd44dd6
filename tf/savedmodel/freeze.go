package savedmodel

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Freeze returns a graph that computes the outputs of signatures, of all if none
// is named, from their inputs, with constants in place of variables: a frozen
// graph, as programs of TensorFlow 1 and converters take it. Inputs and outputs
// have the names that [Signature.Inputs] and [Signature.Outputs] say. Functions
// are taken apart.
//
// Tables stay, and the operation [FrozenInit] fills them with what they hold now. A
// graph without tables does not have it.
//
// It fails with FailedPrecondition if a signature changes variables, and with
// Unimplemented if it uses dense tables that change.
func (m *Model) Freeze(ctx context.Context, signatures ...string) (*pb.GraphDef, error) {
	outputs, err := m.frozenOutputs(signatures)
	if err != nil {
		return nil, err
	}
	return m.frozen(ctx, outputs, m.fedBy(signatures))
}

// frozen freezes what computes nodes, without the functions of which the results are fed.
func (m *Model) frozen(ctx context.Context, outputs, fed []string) (*pb.GraphDef, error) {
	if err := core.NeedContext(ctx, "freezing"); err != nil {
		return nil, err
	}
	library, producer := m.graph.Library()
	g := source.Graph(m.graph.Operations(), library, producer)
	def, err := g.Proto()
	if err != nil {
		return nil, err
	}
	f := newFreezer(def)
	f.prune(outputs)
	if err := f.takeApart(library, fed); err != nil {
		return nil, err
	}
	f.prune(outputs)
	if err := f.freeze(ctx, m); err != nil {
		return nil, err
	}
	if err := f.freezeTables(ctx, m); err != nil {
		return nil, err
	}
	f.prune(append(outputs, FrozenInit))
	return f.def, f.dropFunctions()
}

// frozenOutputs returns the nodes of all tensors of signatures.
func (m *Model) frozenOutputs(names []string) (out []string, err error) {
	if len(names) == 0 {
		names = m.Signatures()
	}
	for _, name := range names {
		s := m.Signature(name)
		if s.err != nil {
			return nil, s.err
		}
		out = append(out, signatureNodes(s.def)...)
	}
	return out, nil
}

// fedBy returns the tensors that are fed to signatures.
func (m *Model) fedBy(names []string) (out []string) {
	if len(names) == 0 {
		names = m.Signatures()
	}
	for _, name := range names {
		for _, info := range m.Signature(name).def.GetInputs() {
			out = append(out, tensorNames(info)...)
		}
	}
	return out
}

// freezer changes a graph to one without variables.
type freezer struct {
	def   *pb.GraphDef
	nodes map[string]*pb.NodeDef
	uses  map[string][]use // by the name of a node: who reads it
}

// use is an input of a node.
type use struct {
	node *pb.NodeDef
	i    int
}

func newFreezer(def *pb.GraphDef) *freezer {
	f := &freezer{def: def}
	f.index()
	return f
}

// index notes the nodes by name and what reads them.
func (f *freezer) index() {
	f.nodes, f.uses = map[string]*pb.NodeDef{}, map[string][]use{}
	for _, n := range f.def.GetNode() {
		f.nodes[n.GetName()] = n
		for i, in := range dataInputs(n) {
			f.uses[nodeOf(in)] = append(f.uses[nodeOf(in)], use{n, i})
		}
	}
}

// prune drops all nodes that do not compute the given ones.
func (f *freezer) prune(outputs []string) {
	n := needs{nodes: f.nodes}
	keep := n.reach(outputs...)
	f.def.Node = slices.DeleteFunc(f.def.Node, func(d *pb.NodeDef) bool { return !keep[d.GetName()] })
	f.index()
}

// dropFunctions leaves the functions in the library that the nodes call, directly or
// not, and those that compute their gradients.
func (f *freezer) dropFunctions() error {
	old := f.def.GetLibrary()
	n, err := analyze(&pb.MetaGraphDef{GraphDef: f.def})
	if err != nil || old == nil {
		return err
	}
	f.def.Library = n.called(slices.Collect(maps.Keys(f.nodes))...)
	return nil
}

// takeApart puts the nodes of functions in the place of calls. What is fed for results of
// these is still read.
func (f *freezer) takeApart(library *core.Library, fed []string) error {
	library, err := inlinable(library)
	if err != nil {
		return err
	}
	g, err := graph.FromProtoWith(f.def, library)
	if err != nil {
		return err
	}
	if err := pass.Lower(g, nil); err != nil {
		return err
	}
	for n, in := range pass.ReadsOfFed(g, pass.Signature{Feeds: fed}) {
		n.In = in
	}
	if f.def, err = g.Proto(); err != nil {
		return err
	}
	f.index()
	return nil
}

// inlinable returns library without the marks of functions that are to stay calls.
func inlinable(library *core.Library) (*core.Library, error) {
	p := library.Proto()
	if p == nil {
		return library, nil
	}
	p = proto.CloneOf(p)
	for _, f := range p.GetFunction() {
		delete(f.Attr, "_noinline")
	}
	return core.NewLibrary(p)
}

// freeze makes constants of variables, and what reads variables read those.
func (f *freezer) freeze(ctx context.Context, m *Model) error {
	var names []string
	for _, n := range f.def.GetNode() {
		if core.HasTrait(n.GetOp(), core.HoldsVariable) {
			names = append(names, n.GetName())
		}
	}
	if names == nil {
		return nil
	}
	values, err := m.valuesOf(ctx, names)
	if err != nil {
		return err
	}
	for i, name := range names {
		if err := f.freezeVariable(f.nodes[name], values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *freezer) freezeVariable(n *pb.NodeDef, value *tf.Tensor) error {
	d := n.GetAttr()["dtype"].GetType()
	resource := isHandle(n)
	n.Op = "Const"
	n.Attr = map[string]*pb.AttrValue{"dtype": typeAttr(d), "value": {Value: &pb.AttrValue_Tensor{Tensor: core.TensorProto((*core.Tensor)(value))}}}
	if resource {
		return f.hand(n, d)
	}
	return f.checkReferences(n)
}

// isHandle reports whether a node's output is the resource of a variable.
func isHandle(n *pb.NodeDef) bool {
	d := core.Lookup(n.GetOp())
	return d.Has(core.HoldsVariable) && !d.Outputs[0].Ref
}

// valuesOf returns the values of the variables that nodes stand for. All reads are
// added before anything runs: a graph that grows is planned again.
func (m *Model) valuesOf(ctx context.Context, nodes []string) ([]*tf.Tensor, error) {
	reads, err := m.readsOf(nodes)
	if err != nil {
		return nil, err
	}
	return m.s.Run(ctx, nil, reads...)
}

func (m *Model) readsOf(nodes []string) ([]tf.Fetchable, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reads := make([]tf.Fetchable, len(nodes))
	for i, node := range nodes {
		op := m.graph.Operation(node)
		if op == nil {
			return nil, tf.Errorf(tf.Unimplemented, "variables must belong to the graph, node %q belongs to a function", node)
		}
		reads[i] = m.readOf(op)
	}
	return reads, nil
}

// checkReferences refuses operations that change what was a variable of the old
// kind.
func (f *freezer) checkReferences(n *pb.NodeDef) error {
	for _, u := range f.uses[n.GetName()] {
		def, err := core.LookupOp(u.node.GetOp())
		if err != nil {
			return err
		}
		if u.i < len(def.Inputs) && def.Inputs[u.i].Ref && !def.Has(core.TestsVariable) {
			return changes(n, u.node)
		}
	}
	return nil
}

func changes(variable, n *pb.NodeDef) error {
	return tf.Errorf(tf.FailedPrecondition, "a graph that is frozen must only read its variables, node %q (%s) does more with %q", n.GetName(), n.GetOp(), variable.GetName())
}

// hand follows the value of a constant that was a handle to all that reads it:
// nodes that hand it on get its type, nodes that read variables become ones that
// read tensors. Thus it enters loops and branches as handles do.
func (f *freezer) hand(variable *pb.NodeDef, d pb.DataType) error {
	type output struct {
		node string
		port int
	}
	queue, seen := []output{{variable.GetName(), 0}}, map[output]bool{}
	for len(queue) > 0 {
		x := queue[0]
		queue = queue[1:]
		if seen[x] {
			continue
		}
		seen[x] = true
		for _, u := range f.uses[x.node] {
			if _, port, err := core.ParseTensorName(u.node.Input[u.i]); err != nil || port != x.port {
				continue
			}
			on, err := f.retype(variable, u, d)
			if err != nil {
				return err
			}
			for _, port := range on {
				queue = append(queue, output{u.node.GetName(), port})
			}
		}
	}
	return nil
}

// retype changes a node that reads what was a handle, and returns the outputs by
// which it hands it on.
func (f *freezer) retype(variable *pb.NodeDef, u use, d pb.DataType) (on []int, err error) {
	n := u.node
	switch role := core.RoleOf(n.GetOp()); {
	case role == core.Switches:
		n.Attr["T"] = typeAttr(d)
		for i := range max(2, int(n.GetAttr()["num_outs"].GetI())) {
			on = append(on, i)
		}
		return on, nil
	case role.DirectsFlow(), core.HasTrait(n.GetOp(), core.Passthrough):
		n.Attr["T"] = typeAttr(d)
		return []int{0}, nil
	case core.HasTrait(n.GetOp(), core.ReadsVariable):
		n.Op, n.Attr = "Identity", map[string]*pb.AttrValue{"T": typeAttr(d)}
		return nil, nil
	}
	switch n.GetOp() {
	case "IdentityN":
		n.Attr["T"].GetList().Type[u.i] = d
		return []int{u.i}, nil
	case "ResourceGather":
		f.gather(n, d)
	case "ResourceGatherNd":
		n.Op, n.Attr = "GatherNd", map[string]*pb.AttrValue{"Tparams": typeAttr(d), "Tindices": n.GetAttr()["Tindices"]}
	case "VariableShape":
		n.Op = "Shape"
		n.Attr["T"] = typeAttr(d)
	default:
		return nil, changes(variable, n)
	}
	return nil, nil
}

// gather makes n gather from a tensor. The constant that says on which dimension
// runs where n runs, which may be in a loop.
func (f *freezer) gather(n *pb.NodeDef, d pb.DataType) {
	dims := n.GetAttr()["batch_dims"].GetI()
	axis := core.TensorProto(core.Scalar(int32(dims)))
	name := n.GetName() + "/axis"
	for f.nodes[name] != nil {
		name += "_1"
	}
	c := &pb.NodeDef{Name: name, Op: "Const", Input: []string{"^" + nodeOf(n.Input[1])}, Attr: map[string]*pb.AttrValue{
		"dtype": typeAttr(pb.DataType_DT_INT32), "value": {Value: &pb.AttrValue_Tensor{Tensor: axis}},
	}}
	f.def.Node, f.nodes[name] = append(f.def.Node, c), c
	n.Op = "GatherV2"
	n.Input = slices.Insert(slices.Clone(n.Input), 2, name)
	attrs := map[string]*pb.AttrValue{"Tparams": typeAttr(d), "Tindices": n.GetAttr()["Tindices"], "Taxis": typeAttr(pb.DataType_DT_INT32)}
	if dims != 0 {
		attrs["batch_dims"] = n.GetAttr()["batch_dims"]
	}
	n.Attr = attrs
}

func typeAttr(d pb.DataType) *pb.AttrValue {
	return &pb.AttrValue{Value: &pb.AttrValue_Type{Type: d}}
}
