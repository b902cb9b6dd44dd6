package data

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// fromGraph makes the dataset that a graph describes, with functions of the
// graph's own besides those that there are.
func fromGraph(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		text, err := scalar[string](c, 0, "graph_def")
		if err != nil {
			return err
		}
		def := &pb.GraphDef{}
		if proto.Unmarshal([]byte(text), def) != nil {
			return tf.Errorf(tf.InvalidArgument, "Could not parse GraphDef")
		}
		r := &graphReader{nodes: map[string]*pb.NodeDef{}, values: map[string][]*core.Tensor{}, within: map[string]bool{}}
		if r.step, err = stepWith(c, def.GetLibrary()); err != nil {
			return err
		}
		for _, n := range def.GetNode() {
			r.nodes[n.GetName()] = n
			if n.GetOp() == "_Retval" && len(n.GetInput()) > 0 {
				r.result = n.GetInput()[0]
			}
		}
		t, err := r.output(r.result)
		if err == nil {
			c.Set(0, t.Share())
		}
		return err
	}), nil
}

// stepWith returns a step in which a library's functions can be called too. Where
// names are the same, those of the library count.
func stepWith(c *core.OpContext, more *pb.FunctionDefLibrary) (*core.Step, error) {
	s := &core.Step{}
	if c.Step == nil {
		return s, nil
	}
	s.Device, s.Resources, s.Functions = c.Device, c.Resources, c.Functions
	if len(more.GetFunction()) == 0 {
		return s, nil
	}
	have, ok := c.Functions.(core.FunctionLibrary)
	if !ok {
		return nil, tf.Errorf(tf.Internal, "No function library is provided.")
	}
	all := proto.CloneOf(more)
	named := map[string]bool{}
	for _, f := range more.GetFunction() {
		named[f.GetSignature().GetName()] = true
	}
	for _, f := range have.Library().Proto().GetFunction() {
		if !named[f.GetSignature().GetName()] {
			all.Function = append(all.Function, f)
		}
	}
	l, err := core.NewLibrary(all)
	if err == nil {
		s.Functions = have.With(l)
	}
	return s, err
}

// deepest bounds chains of nodes: a program has a few dozen.
const deepest = 10_000

// A graphReader computes nodes of a graph, each when its outputs are needed. The
// nodes are those that make datasets and what these need.
type graphReader struct {
	step   *core.Step
	nodes  map[string]*pb.NodeDef
	result string
	values map[string][]*core.Tensor // of the nodes that are computed
	within map[string]bool           // nodes that are being computed
}

// output returns an output by name: "node" or "node:1".
func (r *graphReader) output(name string) (*core.Tensor, error) {
	node, at, _ := strings.Cut(name, ":")
	k := 0
	if at != "" {
		var err error
		if k, err = strconv.Atoi(at); err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "%q is no name of an output", name)
		}
	}
	values, err := r.node(node)
	if err != nil {
		return nil, err
	}
	if k < 0 || k >= len(values) {
		return nil, tf.Errorf(tf.InvalidArgument, "node %q has %d outputs, there is no output %d", node, len(values), k)
	}
	return values[k], nil
}

func (r *graphReader) node(name string) ([]*core.Tensor, error) {
	if values, ok := r.values[name]; ok {
		return values, nil
	}
	p := r.nodes[name]
	switch {
	case p == nil:
		return nil, tf.Errorf(tf.InvalidArgument, "the graph of a dataset must have the node %q that others, or its result, refer to", name)
	case len(r.within) > deepest:
		return nil, tf.Errorf(tf.InvalidArgument, "the graph of a dataset must have no chain of more than %d nodes", deepest)
	case r.within[name]:
		return nil, tf.Errorf(tf.InvalidArgument, "the graph of a dataset must not have cycles, node %q is on one", name)
	}
	r.within[name] = true
	defer delete(r.within, name)
	values, err := r.compute(p)
	if err == nil {
		r.values[name] = values
	}
	return values, err
}

func (r *graphReader) compute(p *pb.NodeDef) ([]*core.Tensor, error) {
	def, err := core.LookupOp(p.GetOp())
	if err != nil {
		return nil, err
	}
	attrs, err := core.AttrsFromProto(p.GetAttr(), def)
	if err != nil {
		return nil, err
	}
	n, err := core.NewNodeOf(p.GetName(), def, attrs)
	if err != nil {
		return nil, err
	}
	var in []*core.Tensor
	for _, name := range p.GetInput() {
		if before, ok := strings.CutPrefix(name, "^"); ok {
			if _, err := r.node(before); err != nil {
				return nil, err
			}
			continue
		}
		t, err := r.output(name)
		if err != nil {
			return nil, err
		}
		in = append(in, t)
	}
	if err := fits(n, in); err != nil {
		return nil, err
	}
	return compute(r.step, n, in)
}

// fits compares inputs with what a node takes.
func fits(n *core.Node, in []*core.Tensor) error {
	if len(in) != len(n.InTypes) {
		return tf.Errorf(tf.InvalidArgument, "node %q must have %d inputs, got %d", n.Name, len(n.InTypes), len(in))
	}
	for i, d := range n.InTypes {
		if in[i] == nil || in[i].DType() != d {
			return tf.Errorf(tf.InvalidArgument, "input %d of node %q must be of type %v, got %v", i, n.Name, d, fmt.Sprint(in[i]))
		}
	}
	return nil
}
