package master

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestRoot(t *testing.T) {
	bad := &core.Error{Code: core.InvalidArgument, Msg: "bad"}
	worse := &core.Error{Code: core.Internal, Msg: "worse"}
	cancelled := &core.Error{Code: core.Canceled, Msg: "cancelled"}
	follows := &core.Error{Code: core.Internal, Msg: "follows", Derived: true}
	for name, c := range map[string]struct {
		errs []error
		want error
	}{
		"none":                               {nil, nil},
		"the first":                          {[]error{bad, worse}, bad},
		"not what follows":                   {[]error{follows, bad}, bad},
		"not what was cancelled because":     {[]error{cancelled, bad}, bad},
		"what was cancelled from outside":    {[]error{follows, cancelled}, cancelled},
		"what follows, if nothing else came": {[]error{follows}, follows},
	} {
		if got := root(c.errs); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestExtended(t *testing.T) {
	node := func(names ...string) *pb.GraphDef {
		d := &pb.GraphDef{Versions: &pb.VersionDef{Producer: 9}}
		for _, n := range names {
			d.Node = append(d.Node, &pb.NodeDef{Name: n})
		}
		return d
	}
	function := func(name, body string) *pb.FunctionDef {
		return &pb.FunctionDef{Signature: &pb.OpDef{Name: name}, NodeDef: []*pb.NodeDef{{Name: body}}}
	}
	library := func(d *pb.GraphDef, f ...*pb.FunctionDef) *pb.GraphDef {
		d.Library = &pb.FunctionDefLibrary{Function: f}
		return d
	}
	for name, c := range map[string]struct {
		old, more        *pb.GraphDef
		nodes, functions int
		code             core.Code
	}{
		"new nodes":               {node("a", "b"), node("c"), 3, 0, core.OK},
		"after an empty graph":    {&pb.GraphDef{}, node("a"), 1, 0, core.OK},
		"a node twice":            {node("a"), node("a"), 0, 0, core.InvalidArgument},
		"another version":         {&pb.GraphDef{Versions: &pb.VersionDef{Producer: 8}}, node("a"), 1, 0, core.OK},
		"a first function":        {node("a"), library(node("b"), function("f", "x")), 2, 1, core.OK},
		"no function any more":    {library(node("a"), function("f", "x")), node("b"), 2, 1, core.OK},
		"the same function":       {library(node("a"), function("f", "x")), library(node("b"), function("f", "x"), function("g", "x")), 2, 2, core.OK},
		"another of the name":     {library(node("a"), function("f", "x")), library(node("b"), function("f", "y")), 0, 0, core.InvalidArgument},
		"nothing new but version": {node("a"), node(), 1, 0, core.OK},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(c.old.GetNode())
			got, err := extended(c.old, c.more)
			if core.CodeOf(err) != c.code {
				t.Fatalf("extended = %v, want %v", err, c.code)
			}
			if n, f := len(got.GetNode()), len(got.GetLibrary().GetFunction()); n != c.nodes || f != c.functions {
				t.Errorf("%d nodes and %d functions, want %d and %d", n, f, c.nodes, c.functions)
			}
			if len(c.old.GetNode()) != before {
				t.Error("the old graph was changed")
			}
		})
	}
}
