package savedmodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// needs is what a MetaGraph consists of and what it takes to run it: the nodes
// that its signatures, its restoring and its initialization need, and what of
// that is not there.
type needs struct {
	mg      *pb.MetaGraphDef
	library *core.Library
	nodes   map[string]*pb.NodeDef // of the graph, by name
	used    map[string]bool        // nodes that some entry point needs
	bodies  map[string]bool        // functions that those nodes call, directly or not
	unread  []string               // of bodies those whose nodes have not been looked at
	lacks   map[string]string      // what is missing → the first node that needs it
	callers map[part][]part        // who needs a node or a function
	broken  map[part]bool          // parts that need what is missing
}

// part is a node of the graph or a function of its library.
type part struct {
	function bool
	name     string
}

// analyze finds what mg needs.
func analyze(mg *pb.MetaGraphDef) (*needs, error) {
	if mg.GetGraphDef() == nil {
		return nil, tf.Errorf(tf.DataLoss, "a MetaGraph must have a graph")
	}
	library, err := core.NewLibrary(mg.GetGraphDef().GetLibrary())
	if err != nil {
		return nil, err
	}
	n := &needs{
		mg: mg, library: library, nodes: map[string]*pb.NodeDef{}, bodies: map[string]bool{},
		lacks: map[string]string{}, callers: map[part][]part{}, broken: map[part]bool{},
	}
	for _, d := range mg.GetGraphDef().GetNode() {
		n.nodes[d.GetName()] = d
	}
	n.used = n.reach(append(n.base(), n.outputs()...)...)
	for name := range n.used {
		d, p := n.nodes[name], part{name: name}
		for _, in := range d.GetInput() {
			n.depend(p, part{name: nodeOf(in)})
		}
		n.look(d, p, "node "+name)
	}
	n.lookOn()
	n.spread()
	return n, nil
}

// depend notes that p needs another part.
func (n *needs) depend(p, on part) { n.callers[on] = append(n.callers[on], p) }

// spread marks all that depends on what is broken.
func (n *needs) spread() {
	queue := slices.Collect(maps.Keys(n.broken))
	for len(queue) > 0 {
		p := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, c := range n.callers[p] {
			if !n.broken[c] {
				n.broken[c] = true
				queue = append(queue, c)
			}
		}
	}
}

// base returns the nodes that loading the model needs.
func (n *needs) base() []string {
	saver := n.mg.GetSaverDef()
	out := []string{saver.GetRestoreOpName(), nodeOf(saver.GetFilenameTensorName())}
	if name, err := initOp(n.mg); err == nil {
		out = append(out, name)
	}
	assets, _ := assetsOf(n.mg)
	for _, a := range assets {
		out = append(out, nodeOf(a.GetTensorInfo().GetName()))
	}
	return out
}

// outputs returns the nodes of all inputs and outputs of signatures.
func (n *needs) outputs() (out []string) {
	for key, s := range n.mg.GetSignatureDef() {
		if key != initKey && key != trainKey {
			out = append(out, signatureNodes(s)...)
		}
	}
	return out
}

// signatureNodes returns the nodes of all inputs and outputs of a signature.
func signatureNodes(s *pb.SignatureDef) (out []string) {
	for _, infos := range []map[string]*pb.TensorInfo{s.GetInputs(), s.GetOutputs()} {
		for _, info := range infos {
			for _, name := range tensorNames(info) {
				out = append(out, nodeOf(name))
			}
		}
	}
	return out
}

// reach returns the names of nodes that are needed to compute the given ones.
func (n *needs) reach(from ...string) map[string]bool {
	seen := map[string]bool{}
	from = slices.Clone(from)
	for len(from) > 0 {
		name := from[len(from)-1]
		from = from[:len(from)-1]
		d := n.nodes[name]
		if d == nil || seen[name] {
			continue
		}
		seen[name] = true
		for _, in := range d.GetInput() {
			from = append(from, nodeOf(in))
		}
	}
	return seen
}

// look notes what a node of p needs that is missing, and which functions it calls: lookOn
// goes on with them.
func (n *needs) look(d *pb.NodeDef, p part, where string) {
	if f := n.library.Find(d.GetOp()); f != nil {
		n.call(d.GetOp(), p)
	} else if def, err := core.LookupOp(d.GetOp()); err != nil {
		n.lack("op "+d.GetOp(), p, where)
	} else {
		n.lookKernel(d, def, p, where)
	}
	for _, a := range d.GetAttr() {
		n.lookAttr(a, p)
	}
}

// lookAttr notes the functions that an attribute names.
func (n *needs) lookAttr(a *pb.AttrValue, p part) {
	fs := a.GetList().GetFunc()
	if f := a.GetFunc(); f != nil {
		fs = append(slices.Clone(fs), f)
	}
	for _, f := range fs {
		n.call(f.GetName(), p)
		for _, inner := range f.GetAttr() {
			n.lookAttr(inner, p)
		}
	}
}

// call notes that a function is called.
func (n *needs) call(name string, caller part) {
	if n.library.Find(name) == nil {
		return
	}
	p := part{true, name}
	n.depend(caller, p)
	if n.bodies[name] {
		return
	}
	n.bodies[name] = true
	n.unread = append(n.unread, name)
}

// lookOn looks at the nodes of the functions that are called, each once. It does not
// recurse: a file says how deep calls go.
func (n *needs) lookOn() {
	for len(n.unread) > 0 {
		name := n.unread[len(n.unread)-1]
		n.unread = n.unread[:len(n.unread)-1]
		for _, d := range n.library.Find(name).GetNodeDef() {
			n.look(d, part{true, name}, fmt.Sprintf("node %s of function %s", d.GetName(), name))
		}
	}
}

// called returns the library without the functions that nodes of the graph do not
// call, directly or not; nil if they call none. The gradient of a function counts as
// called by it.
func (n *needs) called(nodes ...string) *pb.FunctionDefLibrary {
	for _, name := range nodes {
		n.look(n.nodes[name], part{name: name}, "node "+name)
	}
	n.lookOn()
	all, out := n.mg.GetGraphDef().GetLibrary(), &pb.FunctionDefLibrary{}
	for before := -1; before != len(n.bodies); {
		before = len(n.bodies)
		for _, g := range all.GetGradient() {
			if name := g.GetFunctionName(); n.bodies[name] {
				n.call(g.GetGradientFunc(), part{true, name})
				n.lookOn()
			}
		}
	}
	for _, f := range all.GetFunction() {
		if n.bodies[f.GetSignature().GetName()] {
			out.Function = append(out.Function, f)
		}
	}
	for _, g := range all.GetGradient() {
		if n.bodies[g.GetFunctionName()] {
			out.Gradient = append(out.Gradient, g)
		}
	}
	if len(out.Function) == 0 {
		return nil
	}
	return out
}

// lookKernel notes that no kernel takes the types of a node. Nodes whose types
// come from the callers of their function are left to the session.
func (n *needs) lookKernel(d *pb.NodeDef, def *core.OpDef, p part, where string) {
	types := map[string]*pb.AttrValue{}
	for k, a := range d.GetAttr() {
		if a.GetPlaceholder() != "" {
			return
		}
		if core.RoleOf(d.GetOp()) != core.Constant {
			types[k] = a
		} else if k == "dtype" {
			return
		}
	}
	attrs, err := core.AttrsFromProto(types, def)
	if err != nil {
		return
	}
	node, err := core.NewNode(d.GetName(), d.GetOp(), attrs)
	if err != nil {
		return
	}
	if _, err := core.FindKernel("CPU", node); err != nil && strings.Contains(err.Error(), "with attr") {
		n.lack("a kernel for op "+d.GetOp()+" ("+tf.AsError(err).Message()+")", p, where)
	}
	n.lookBody(node, p, where)
}

// lookBody notes that a node whose op is put in terms of others has something that is
// not supported. Other mistakes of its attributes are left to the session.
func (n *needs) lookBody(node *core.Node, p part, where string) {
	if node.Def.Body == nil {
		return
	}
	if _, err := node.Def.Body(node, func(int) error { return nil }); tf.CodeOf(err) == tf.Unimplemented {
		n.lack("all of op "+node.OpName()+" ("+tf.AsError(err).Message()+")", p, where)
	}
}

func (n *needs) lack(what string, p part, where string) {
	n.broken[p] = true
	if at, ok := n.lacks[what]; !ok || where < at {
		n.lacks[what] = where
	}
}

// refuse reports all that is missing as one error, if loading needs it or all
// signatures do. Else the model is of use without it.
func (n *needs) refuse() error {
	if slices.ContainsFunc(n.base(), n.isBroken) {
		return n.missing()
	}
	whole, signatures := 0, 0
	for key, s := range n.mg.GetSignatureDef() {
		if key == initKey || key == trainKey {
			continue
		}
		signatures++
		if n.signature(s) == nil {
			whole++
		}
	}
	if signatures > 0 && whole == 0 {
		return n.missing()
	}
	return nil
}

// signature reports what is missing if a signature needs any of it.
func (n *needs) signature(s *pb.SignatureDef) error {
	if slices.ContainsFunc(signatureNodes(s), n.isBroken) {
		return n.missing()
	}
	return nil
}

func (n *needs) isBroken(node string) bool { return n.broken[part{name: node}] }

// missing lists what is missing.
func (n *needs) missing() error {
	var list []string
	for _, what := range slices.Sorted(maps.Keys(n.lacks)) {
		list = append(list, what+" (at "+n.lacks[what]+")")
	}
	return tf.Errorf(tf.Unimplemented, "the model needs what Gorge does not have: %s", strings.Join(list, "; "))
}
