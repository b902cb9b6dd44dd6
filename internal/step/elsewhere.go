package step

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// sendHome makes nodes of a body that only the client's process computes calls of
// functions of theirs there.
func (fs *functions) sendHome(g *graph.Graph, caller core.DeviceSpec) error {
	for _, n := range g.Nodes[:len(g.Nodes):len(g.Nodes)] {
		if !n.Def.Has(core.ClientSide) {
			continue
		}
		own, err := core.ParseDevice(n.Device)
		if err != nil {
			return core.AtNode(err, &n.Node, nil)
		}
		home := (core.DeviceSpec{Job: caller.Job, Replica: caller.Replica, Task: caller.Task, Type: "CPU", ID: 0}).Override(own)
		if home.TaskName() == caller.TaskName() {
			continue
		}
		if err := fs.callAt(g, n, home.String()); err != nil {
			return core.AtNode(err, &n.Node, nil)
		}
	}
	return nil
}

// callAt makes n a call of a function, of that node alone, on a device, whose name
// goes there and back besides: RemoteCall needs an argument and a result.
func (fs *functions) callAt(g *graph.Graph, n *graph.Node, device string) error {
	name, err := fs.wrap(n)
	if err != nil {
		return err
	}
	target, err := g.AddNew(n.Name+"/home", "Const", core.Attrs{"dtype": core.String, "value": core.Scalar(device)}, "")
	if err != nil {
		return err
	}
	in, out := append(slices.Clone(n.InTypes), core.String), append(slices.Clone(n.OutTypes), core.String)
	call, err := core.NewNode(n.Name, "RemoteCall", core.Attrs{"Tin": in, "Tout": out, "f": core.Func{Name: name}})
	if err != nil {
		return err
	}
	call.CopyPos(&n.Node)
	at := graph.Edge{Node: target}
	n.Node, n.In = *call, append(append([]graph.Edge{at}, n.In...), at)
	return nil
}

// singleNodeFunctions counts the functions that have been made for single nodes:
// workers tell them apart by name.
var singleNodeFunctions atomic.Int64

// wrap makes a function of a node, in a library of its own, and returns its name.
func (fs *functions) wrap(n *graph.Node) (string, error) {
	def, err := alone(n, fmt.Sprintf("__home_%d", singleNodeFunctions.Add(1)))
	if err != nil {
		return "", err
	}
	library, err := core.NewLibrary(&pb.FunctionDefLibrary{Function: []*pb.FunctionDef{def}})
	if err != nil {
		return "", err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.home == nil {
		fs.home = map[string]*core.Library{}
	}
	fs.home[def.GetSignature().GetName()] = library
	return def.GetSignature().GetName(), nil
}

// alone is a function of one node, and of a text that it returns.
func alone(n *graph.Node, name string) (*pb.FunctionDef, error) {
	attrs, err := core.AttrsProto(n.Attrs)
	if err != nil {
		return nil, err
	}
	node := &pb.NodeDef{Name: "f", Op: n.OpName(), Attr: attrs}
	sig := &pb.OpDef{Name: name, IsStateful: true, ControlOutput: []string{"f"}}
	def := &pb.FunctionDef{Signature: sig, NodeDef: []*pb.NodeDef{node}, Ret: map[string]string{"at": "to"}, ControlRet: map[string]string{"f": "f"}}
	for i, t := range n.InTypes {
		sig.InputArg = append(sig.InputArg, argDef("a", i, t))
		node.Input = append(node.Input, fmt.Sprintf("a%d", i))
	}
	for i, t := range n.OutTypes {
		sig.OutputArg = append(sig.OutputArg, argDef("r", i, t))
		def.Ret[fmt.Sprintf("r%d", i)] = fmt.Sprintf("f:output:%d", i)
	}
	sig.InputArg = append(sig.InputArg, &pb.OpDef_ArgDef{Name: "to", Type: pb.DataType(core.String)})
	sig.OutputArg = append(sig.OutputArg, &pb.OpDef_ArgDef{Name: "at", Type: pb.DataType(core.String)})
	return def, nil
}

func argDef(prefix string, i int, t core.DType) *pb.OpDef_ArgDef {
	return &pb.OpDef_ArgDef{Name: fmt.Sprintf("%s%d", prefix, i), Type: pb.DataType(t.Base())}
}

// libraryOf returns the library that has a function.
func (fs *functions) libraryOf(name string) *core.Library {
	fs.mu.Lock()
	home := fs.home[name]
	fs.mu.Unlock()
	if home != nil {
		return home
	}
	return fs.library()
}
