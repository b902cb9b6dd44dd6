package eagerservice

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A spread is a function made ready to run in several tasks: where its nodes ask
// to be, where the arguments are that it is called with, and where their resources
// are.
type spread struct {
	args  []argument
	rets  []string    // the devices of the results
	own   *step.Graph // this task's part; nil: there is none
	parts []*part
}

// An argument is one of the call; of one that is packed, that of a device.
type argument struct{ arg, packed int }

// A part is what another task runs, on one device.
type part struct {
	device, task string
	function     *pb.FunctionDef
	library      *pb.FunctionDefLibrary
	args         []int   // by their places in the whole, in order
	rets         []int32 // and results
	peer         Peer
}

// spreads keeps those of a context, by spreadKey. Calls that come while one is made
// wait for it, none longer than its own context.
type spreads struct{ made step.Plans[*spread] }

// forget drops what has been made of a function, of all if it has no name.
func (s *spreads) forget(name string) {
	s.made.Forget(func(key string) bool { return name == "" || strings.HasPrefix(key, string(keyOfName(name))) })
}

// place returns the device that what is given is on: of a resource, that which it
// belongs to.
func (in input) place() string {
	switch {
	case in.remote != nil && in.remote.GetOpDevice() != "":
		return in.remote.GetOpDevice()
	case in.remote != nil:
		return in.remote.GetDevice()
	case in.tensor == nil:
		return ""
	}
	if h := in.tensor.Handles(); len(h) > 0 && h[0].Device != "" {
		return h[0].Device
	}
	return in.device.Spec().String()
}

// isSpread reports whether a call takes other devices than the one that it is on.
func (c *Context) isSpread(op *operation, library *core.Library) bool {
	here := op.device.Spec().String()
	for _, in := range op.in {
		if in.remote != nil || len(in.packed) > 0 || in.dtype() == core.Resource && in.place() != here {
			return true
		}
	}
	return c.reachesOut(library, op.def.GetName())
}

// reachesOut reports whether a function has nodes that ask for another task.
func (c *Context) reachesOut(library *core.Library, function string) bool {
	own, err := core.ParseDevice(c.session.Task())
	if err != nil {
		return false
	}
	for _, name := range reachable(library, function) {
		for _, n := range library.Find(name).GetNodeDef() {
			d, err := core.ParseDevice(n.GetDevice())
			if err == nil && own.Override(d).TaskName() != own.TaskName() {
				return true
			}
		}
	}
	return false
}

// reachable returns the names of a function and those that it may call.
func reachable(library *core.Library, functions ...string) []string {
	var out []string
	seen := map[string]bool{}
	visit := func(name string) {
		if !seen[name] && library.Find(name) != nil {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, f := range functions {
		visit(f)
	}
	for i := 0; i < len(out); i++ {
		for _, n := range library.Find(out[i]).GetNodeDef() {
			visit(n.GetOp())
			for _, a := range n.GetAttr() {
				for _, f := range calledBy(a) {
					visit(f)
				}
			}
		}
		visit(library.Gradient(out[i]))
	}
	return out
}

// calledBy returns the functions that an attribute names.
func calledBy(a *pb.AttrValue) (names []string) {
	for _, f := range append(slices.Clone(a.GetList().GetFunc()), a.GetFunc()) {
		if f != nil {
			names = append(names, f.GetName())
			for _, inner := range f.GetAttr() {
				names = append(names, calledBy(inner)...)
			}
		}
	}
	return names
}

// spreadKey tells calls apart that are placed otherwise, or bring values where others
// only say where they are. It begins with the name of the function.
func spreadKey(op *operation, f core.Func) []byte {
	b := keyOfName(f.Name)
	b = field(field(b, op.device.Spec().String()), f.Key())
	for _, in := range op.in {
		b = in.appendKey(b)
		b = binary.AppendUvarint(b, uint64(len(in.packed)))
		for _, p := range in.packed {
			b = p.appendKey(b)
		}
	}
	return b
}

func (in input) appendKey(b []byte) []byte {
	if in.remote != nil {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return field(b, in.place())
}

// keyOfName is what the keys of a function begin with.
func keyOfName(function string) []byte { return field(nil, function) }

// field adds a text to a key, with its length: texts are the client's, and may hold any
// separator.
func field(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// plan splits a function.
func (c *Context) plan(ctx context.Context, s *spread, op *operation, f core.Func, library *core.Library) error {
	body, err := library.Body(f)
	if err != nil {
		return err
	}
	if len(op.in) != len(body.ArgTypes) {
		return core.Errorf(core.InvalidArgument, "Expects %d arguments, but %d is provided", len(body.ArgTypes), len(op.in))
	}
	g, err := graph.ReadBody(graph.NewBudget(ctx, c.session.Runtime().Limits), body, library)
	if err != nil {
		return err
	}
	if err := pass.Lower(g, nil); err != nil {
		return err
	}
	pass.PruneBody(g, body, pass.ListedEffects)
	l := layout{spread: s, op: op, g: g, devices: c.deviceInfos()}
	if err := l.place(len(body.RetTypes)); err != nil {
		return err
	}
	return c.split(s, g, f.Name)
}

// split makes parts of a graph that is placed.
func (c *Context) split(s *spread, g *graph.Graph, name string) error {
	own := c.session.Devices()
	graphs, err := pass.Partition(g, pass.PartitionOptions{
		NodeToLoc: func(n *graph.Node) string {
			if own.Lookup(n.Device) != nil {
				return "" // all of this task's devices make one part
			}
			return n.Device
		},
		NewName:     pass.Names("S"),
		Incarnation: c.incarnation,
	})
	if err != nil {
		return err
	}
	id := requestid.New() // all tasks give names to parts
	for _, device := range slices.Sorted(maps.Keys(graphs)) {
		if device == "" {
			if s.own, err = c.session.Runtime().Build(graphs[device], step.BuildOptions{Soft: true}); err != nil {
				return err
			}
			continue
		}
		p, err := newPart(graphs[device], device, fmt.Sprintf("%s_partitioned_%d_%d", name, uint64(id), len(s.parts)))
		if err != nil {
			return err
		}
		s.parts = append(s.parts, p)
	}
	return nil
}

// newPart writes a graph as a function for another task.
func newPart(g *graph.Graph, device, name string) (*part, error) {
	d, err := core.ParseDevice(device)
	if err != nil {
		return nil, err
	}
	p := &part{device: device, task: d.TaskName()}
	w := writer{def: &pb.FunctionDef{Signature: &pb.OpDef{Name: name, IsStateful: true}, Ret: map[string]string{}, ControlRet: map[string]string{}}, args: map[*graph.Node]string{}}
	nodes := slices.Clone(g.Nodes)
	slices.SortStableFunc(nodes, func(x, y *graph.Node) int { return x.Int("index") - y.Int("index") })
	for _, n := range nodes {
		if n.Role() == core.Argument {
			w.arg(n)
			p.args = append(p.args, n.Int("index"))
		}
	}
	for _, n := range nodes {
		if n.Role() == core.Result {
			w.ret(n)
			p.rets = append(p.rets, int32(n.Int("index")))
		}
	}
	var called []string
	for _, n := range g.Nodes {
		def, err := w.node(n)
		if err != nil {
			return nil, err
		}
		if def == nil {
			continue
		}
		called = append(called, def.GetOp())
		for _, a := range def.GetAttr() {
			called = append(called, calledBy(a)...)
		}
	}
	p.function, p.library = w.def, &pb.FunctionDefLibrary{}
	for _, f := range reachable(g.Library, called...) {
		p.library.Function = append(p.library.Function, g.Library.Find(f))
	}
	return p, nil
}

// A writer writes a graph as the body of a function.
type writer struct {
	def  *pb.FunctionDef
	args map[*graph.Node]string
}

func (w *writer) arg(n *graph.Node) {
	w.args[n] = fmt.Sprintf("gorge_arg_%d", len(w.args))
	w.def.Signature.InputArg = append(w.def.Signature.InputArg, &pb.OpDef_ArgDef{Name: w.args[n], Type: pb.DataType(n.OutTypes[0].Base())})
}

func (w *writer) ret(n *graph.Node) {
	name := fmt.Sprintf("gorge_ret_%d", len(w.def.Signature.OutputArg))
	w.def.Signature.OutputArg = append(w.def.Signature.OutputArg, &pb.OpDef_ArgDef{Name: name, Type: pb.DataType(n.InTypes[0].Base())})
	w.def.Ret[name] = w.edge(n.In[0])
}

// edge names an output as bodies of functions do.
func (w *writer) edge(e graph.Edge) string {
	if name, ok := w.args[e.Node]; ok {
		return name
	}
	return e.Node.InBody(e.Out)
}

// node writes a node, unless it is an argument or a result. What has no outputs is
// there for its effect.
func (w *writer) node(n *graph.Node) (*pb.NodeDef, error) {
	if n.Role() == core.Argument || n.Role() == core.Result {
		return nil, nil
	}
	attrs, err := core.AttrsProto(n.Attrs)
	if err != nil {
		return nil, core.AtNode(err, &n.Node, nil)
	}
	def := &pb.NodeDef{Name: n.Name, Op: n.OpName(), Device: n.Device, Attr: attrs}
	for _, e := range n.In {
		def.Input = append(def.Input, w.edge(e))
	}
	for _, p := range n.Control {
		if p.Role() != core.Argument { // they are there before all nodes
			def.Input = append(def.Input, "^"+p.Name)
		}
	}
	if len(n.OutTypes) == 0 || n.Def.Stateful {
		w.def.Signature.ControlOutput = append(w.def.Signature.ControlOutput, n.Name)
		w.def.ControlRet[n.Name] = n.Name
	}
	w.def.NodeDef = append(w.def.NodeDef, def)
	return def, nil
}
