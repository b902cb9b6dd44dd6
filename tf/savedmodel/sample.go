package savedmodel

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/sample"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// samples returns for inputs of strings what the first node can read that expects
// something of them, by key.
func (n *needs) samples(ins map[string]*TensorSpec) map[string]string {
	var out map[string]string
	var top *scope
	for key, spec := range ins {
		if spec.DType != tf.String {
			continue
		}
		if top == nil {
			top, out = newScope(n.library, maps.Values(n.nodes), nil), map[string]string{}
		}
		if text, ok := top.sample(spec.Name, map[string]bool{}); ok {
			out[key] = text
		}
	}
	return out
}

// A scope is the nodes of a graph, or of a function's body.
type scope struct {
	library   *core.Library
	nodes     map[string]*pb.NodeDef
	users     map[string][]*pb.NodeDef // by name of a tensor
	constants map[string]*core.Tensor  // values that the nodes do not have themselves
}

func newScope(l *core.Library, nodes func(func(*pb.NodeDef) bool), constants map[string]*core.Tensor) *scope {
	s := &scope{library: l, nodes: map[string]*pb.NodeDef{}, users: map[string][]*pb.NodeDef{}, constants: constants}
	for d := range nodes {
		s.nodes[d.GetName()] = d
		for _, in := range dataInputs(d) {
			x := firstOutput(in)
			s.users[x] = append(s.users[x], d)
		}
	}
	return s
}

// firstOutput is the name of a tensor, with ":0" for that of a node alone.
func firstOutput(name string) string {
	node, port, err := core.ParseTensorName(name)
	if err != nil || port != 0 {
		return name
	}
	return node + ":0"
}

// sample returns what a node can read that gets a tensor: at once, behind nodes that hand
// it on, or in a function. Each function is looked at once.
func (s *scope) sample(tensor string, looked map[string]bool) (string, bool) {
	seen := map[string]bool{}
	for queue := []string{firstOutput(tensor)}; len(queue) > 0; queue = queue[1:] {
		x := queue[0]
		if seen[x] {
			continue
		}
		seen[x] = true
		for _, d := range s.users[x] {
			if text, ok := s.read(d, x, looked); ok {
				return text, true
			}
			first := firstOutput(d.GetInput()[0]) == x
			if first && core.HasTrait(d.GetOp(), core.Passthrough|core.View|core.Reshapes) {
				queue = append(queue, d.GetName()+":0")
			}
		}
	}
	return "", false
}

// maxLooked bounds the functions that are looked at: this recurses, and a file says how deep
// calls go.
const maxLooked = 200

// read returns what d can read as x, which is one of its inputs.
func (s *scope) read(d *pb.NodeDef, x string, looked map[string]bool) (string, bool) {
	if f := sample.Of(d.GetOp()); f != nil && firstOutput(d.GetInput()[0]) == x {
		n, err := nodeFromProto(d)
		if err != nil {
			return "", false
		}
		return f(n, given{s, d})
	}
	name := calls(d)
	if s.library.Find(name) == nil || looked[name] || len(looked) == maxLooked {
		return "", false
	}
	looked[name] = true
	body, err := s.library.Body(core.Func{Name: name})
	if err != nil || len(body.Args) != len(dataInputs(d)) {
		return "", false
	}
	inner := newScope(s.library, slices.Values(body.Graph.GetNode()), body.Constants)
	for i, in := range dataInputs(d) {
		if firstOutput(in) == x {
			if text, ok := inner.sample(body.Args[i], looked); ok {
				return text, true
			}
		}
	}
	return "", false
}

// calls returns the function that d calls with its inputs, "" if there is none.
func calls(d *pb.NodeDef) string {
	if def := core.Lookup(d.GetOp()); def == nil || def.Role != core.Calls {
		return d.GetOp()
	}
	return d.GetAttr()["f"].GetFunc().GetName()
}

func nodeFromProto(d *pb.NodeDef) (*core.Node, error) {
	attrs, err := core.AttrsFromProto(d.GetAttr(), core.Lookup(d.GetOp()))
	if err != nil {
		return nil, err
	}
	return core.NewNode(d.GetName(), d.GetOp(), attrs)
}

// given are the inputs of a node of a scope.
type given struct {
	*scope
	of *pb.NodeDef
}

// Input returns the value of a constant.
func (g given) Input(i int) *core.Tensor {
	in := dataInputs(g.of)
	if i >= len(in) {
		return nil
	}
	c := g.nodes[nodeOf(in[i])]
	if t := g.constants[nodeOf(in[i])]; t != nil || core.RoleOf(c.GetOp()) != core.Constant {
		return t
	}
	t, err := core.TensorFromProto(c.GetAttr()["value"].GetTensor())
	if err != nil {
		return nil
	}
	return t
}
