package savedmodel

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	planning "github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// foldNorms lets package pass compute batch normalizations in advance whose parameters,
// and the weights before them, follow from constants. The weights go into the place of
// constants that nothing else needs, so that the model takes no more memory. Weights that
// are variables stay as they are: sessions fold those of the graphs that they freeze.
//
// A graph whose constants cannot be computed is left alone; loading it says why.
func foldNorms(ctx context.Context, mg *pb.MetaGraphDef) {
	f := newNormFolder(mg)
	if !f.choose() {
		return
	}
	g, err := f.graph()
	if err != nil {
		return
	}
	_ = pass.FoldNorms(g, planning.Evaluate(ctx), func(n, weights *graph.Node) { f.takeOver(g, n, weights) })
	f.sweep()
}

// normFolder is a graph whose normalizations are folded. The pass sees a part of it:
// normalizations, what is linear, additions of biases, and the constants that they take.
type normFolder struct {
	def      *pb.GraphDef
	nodes    map[string]*pb.NodeDef
	uses     map[string]int  // inputs of nodes, control inputs among them
	kept     map[string]bool // what signatures and loading name
	more     map[string]bool // nodes of which an output behind the first one is used
	constant map[string]int  // by the name of a node: its height
	part     map[string]bool // nodes that the pass sees
	unneeded []string        // nodes that something has needed which is folded
}

func newNormFolder(mg *pb.MetaGraphDef) *normFolder {
	f := &normFolder{
		def: mg.GetGraphDef(), nodes: map[string]*pb.NodeDef{}, uses: map[string]int{},
		kept: map[string]bool{}, more: map[string]bool{}, constant: map[string]int{}, part: map[string]bool{},
	}
	n := &needs{mg: mg}
	for _, name := range append(n.base(), n.outputs()...) {
		f.kept[name] = true
	}
	for _, d := range f.def.GetNode() {
		f.nodes[d.GetName()] = d
		for _, in := range d.GetInput() {
			f.uses[nodeOf(in)]++
			f.note(in)
		}
	}
	for _, s := range mg.GetSignatureDef() {
		for _, infos := range []map[string]*pb.TensorInfo{s.GetInputs(), s.GetOutputs()} {
			for _, info := range infos {
				for _, name := range tensorNames(info) {
					f.note(name)
				}
			}
		}
	}
	return f
}

// note notes that a tensor is used.
func (f *normFolder) note(tensor string) {
	if node, port, err := core.ParseTensorName(tensor); err == nil && port > 0 {
		f.more[node] = true
	}
}

// choose fills part and reports whether there may be something to fold. There is not
// without something linear that has its weights for itself: so it is with variables.
func (f *normFolder) choose() bool {
	f.see(f.isLinear)
	if len(f.part) == 0 {
		return false
	}
	f.see(f.addsBias)
	before := len(f.part)
	f.see(f.isNorm)
	return len(f.part) > before
}

// see adds nodes to part.
func (f *normFolder) see(which func(*pb.NodeDef) bool) {
	for _, d := range f.def.GetNode() {
		if which(d) {
			f.part[d.GetName()] = true
		}
	}
}

// isNorm reports whether d normalizes or scales, and only its first output is used.
func (f *normFolder) isNorm(d *pb.NodeDef) bool {
	product := core.HasTrait(d.GetOp(), core.NeutralOne) && core.HasTrait(d.GetOp(), core.Commutative)
	return (product || core.HasTrait(d.GetOp(), core.NormalizesChannels)) && ofFloats(d) && !f.more[d.GetName()]
}

// addsBias reports whether d adds a constant vector, for one other node.
func (f *normFolder) addsBias(d *pb.NodeDef) bool {
	in := d.GetInput()
	return core.HasTrait(d.GetOp(), core.Adds) && !core.HasTrait(d.GetOp(), core.Commutative) && ofFloats(d) &&
		f.alone(d.GetName()) == d && len(in) == 2 && f.isConstant(nodeOf(in[1]))
}

// isLinear reports whether d is linear in weights that are a constant which nothing else
// needs, for one other node.
func (f *normFolder) isLinear(d *pb.NodeDef) bool {
	in := dataInputs(d)
	if !core.HasTrait(d.GetOp(), core.Convolution|core.MatrixProduct) || !ofFloats(d) || f.alone(d.GetName()) != d || len(in) != 2 {
		return false
	}
	w := f.alone(nodeOf(in[1]))
	for w != nil && core.HasTrait(w.GetOp(), core.Passthrough) && len(w.GetInput()) == 1 {
		w = f.alone(nodeOf(w.GetInput()[0]))
	}
	return w != nil && core.RoleOf(w.GetOp()) == core.Constant && f.isConstant(nodeOf(in[1]))
}

// alone returns the node of a name that one input uses only.
func (f *normFolder) alone(name string) *pb.NodeDef {
	if f.uses[name] != 1 || f.kept[name] {
		return nil
	}
	return f.nodes[name]
}

// maxHeight bounds how many operations in a row make a constant. What follows recurses, and
// a file says how deep.
const maxHeight = 1000

// isConstant reports whether a node computes the same in every step: it is a
// constant, or an operation without state on such.
func (f *normFolder) isConstant(name string) bool { return f.height(name, 0) > 0 }

// height returns how many operations in a row make what a node computes; 0: it is not
// constant. The node is so deep below the one that was asked for.
func (f *normFolder) height(name string, depth int) int {
	if h, ok := f.constant[name]; ok || depth > maxHeight {
		return h
	}
	f.constant[name] = 0 // while it is looked at: a loop is not constant
	d := f.nodes[name]
	if d == nil {
		return 0
	}
	def, err := core.LookupOp(d.GetOp())
	is, h := err == nil && !def.Stateful && !f.kept[name] && !def.Has(core.Overridable) && !def.Role.DirectsFlow() && (def.Role == core.Constant || len(d.GetInput()) > 0), 1
	for _, in := range d.GetInput() {
		if !is || strings.HasPrefix(in, "^") {
			return 0
		}
		below := f.height(nodeOf(in), depth+1)
		is, h = below > 0, max(h, below+1)
	}
	if is && h <= maxHeight {
		f.constant[name] = h
	}
	return f.constant[name]
}

func ofFloats(d *pb.NodeDef) bool { return d.GetAttr()["T"].GetType() == pb.DataType_DT_FLOAT }

// graph returns the part that the pass sees. Placeholders stand for what else it takes.
func (f *normFolder) graph() (*graph.Graph, error) {
	def := &pb.GraphDef{Versions: f.def.GetVersions()}
	for _, d := range f.def.GetNode() { // the loop adds constants to part, which have been written then
		if f.part[d.GetName()] && f.constant[d.GetName()] == 0 {
			f.write(def, d)
		}
	}
	g, err := graph.FromProto(def)
	if err != nil {
		return nil, err
	}
	for _, n := range g.Nodes {
		if n.Role() != core.Constant {
			continue
		}
		t, err := core.AdoptTensorProto(f.nodes[n.Name].GetAttr()["value"].GetTensor())
		if err != nil {
			return nil, err
		}
		n.Attrs["value"], n.Shapes = t, []core.Shape{t.Shape()}
	}
	return g, nil
}

// write adds a node to def, and the constants that it takes. Control inputs are left out:
// constants have none, and those of other nodes stay where they are.
func (f *normFolder) write(def *pb.GraphDef, d *pb.NodeDef) {
	f.part[d.GetName()] = true
	p := &pb.NodeDef{Name: d.GetName(), Op: d.GetOp(), Attr: d.GetAttr()}
	for _, in := range dataInputs(d) {
		source := f.nodes[nodeOf(in)]
		switch {
		case source != nil && f.isConstant(source.GetName()):
			if !f.part[source.GetName()] {
				f.write(def, source)
			}
		case !f.part[nodeOf(in)]:
			in = f.cut(def)
		}
		p.Input = append(p.Input, in)
	}
	if core.RoleOf(d.GetOp()) == core.Constant { // the tensor comes later, without a copy
		dtype := d.GetAttr()["dtype"]
		empty := &pb.TensorProto{Dtype: dtype.GetType(), TensorShape: core.ShapeProto(core.Shape{0})}
		p.Attr = map[string]*pb.AttrValue{"dtype": dtype, "value": {Value: &pb.AttrValue_Tensor{Tensor: empty}}}
	}
	def.Node = append(def.Node, p)
}

// cut adds a placeholder to def and returns its name.
func (f *normFolder) cut(def *pb.GraphDef) string {
	name := f.unused("cut/" + strconv.Itoa(len(def.GetNode())))
	def.Node = append(def.Node, &pb.NodeDef{Name: name, Op: "Placeholder", Attr: map[string]*pb.AttrValue{"dtype": typeAttr(pb.DataType_DT_FLOAT)}})
	return name
}

// unused returns a name that no node has.
func (f *normFolder) unused(name string) string {
	for f.nodes[name] != nil {
		name += "_1"
	}
	return name
}

// takeOver changes a node as the pass has changed it: a norm has become an addition or
// hands on, and the node before it has other weights. The weights that there were can be
// collected from then on: g does not keep them.
func (f *normFolder) takeOver(g *graph.Graph, n, weights *graph.Node) {
	d, linear := f.nodes[n.Name], n.In[0].Node
	attrs, _ := core.AttrsProto(n.Attrs) // a type and a string: there is no error
	was := f.nodes[linear.Name].Input[1]
	f.nodes[linear.Name].Input[1] = f.add(linear.In[1].Node)
	in := []string{linear.Name}
	if len(n.In) > 1 {
		in = append(in, f.add(n.In[1].Node))
	}
	data := dataInputs(d)
	f.unneeded = append(append(f.unneeded, data...), was)
	d.Op, d.Attr, d.Input = n.OpName(), attrs, append(in, d.Input[len(data):]...)
	delete(weights.Attrs, "value")
	for w := f.nodes[nodeOf(was)]; ; w = f.nodes[nodeOf(w.Input[0])] {
		if core.RoleOf(w.GetOp()) == core.Constant {
			delete(g.Node(w.GetName()).Attrs, "value")
			w.Attr = nil // sweep drops it
			return
		}
	}
}

// add adds a constant that the pass has made and returns its name. The message keeps the
// memory of the tensor.
func (f *normFolder) add(n *graph.Node) string {
	t := n.TensorAttr("value")
	t.Buffer().Escape()
	value := &pb.TensorProto{Dtype: pb.DataType(t.DType()), TensorShape: core.ShapeProto(t.Shape()), TensorContent: t.Buffer().Bytes()}
	d := &pb.NodeDef{Name: f.unused(n.Name), Op: n.OpName(), Attr: map[string]*pb.AttrValue{
		"dtype": typeAttr(value.Dtype), "value": {Value: &pb.AttrValue_Tensor{Tensor: value}},
	}}
	f.def.Node, f.nodes[d.Name] = append(f.def.Node, d), d
	return d.Name
}

// sweep drops what nothing needs any more.
func (f *normFolder) sweep() {
	dead := map[string]bool{}
	uses := map[string]int{}
	for _, d := range f.def.GetNode() {
		for _, in := range d.GetInput() {
			uses[nodeOf(in)]++
		}
	}
	var drop func(name string)
	drop = func(name string) {
		d := f.nodes[name]
		if d == nil || dead[name] || uses[name] > 0 || f.kept[name] {
			return
		}
		dead[name] = true
		for _, in := range d.GetInput() {
			uses[nodeOf(in)]--
			drop(nodeOf(in))
		}
	}
	for _, in := range f.unneeded {
		drop(nodeOf(in))
	}
	f.def.Node = slices.DeleteFunc(f.def.Node, func(d *pb.NodeDef) bool { return dead[d.GetName()] })
}
