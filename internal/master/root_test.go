package master

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

func TestRoot(t *testing.T) {
	bad := &tf.Error{Code: tf.InvalidArgument, Msg: "bad"}
	worse := &tf.Error{Code: tf.Internal, Msg: "worse"}
	cancelled := &tf.Error{Code: tf.Canceled, Msg: "cancelled"}
	follows := &tf.Error{Code: tf.Internal, Msg: "follows", Derived: true}
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
		code             tf.Code
	}{
		"new nodes":               {node("a", "b"), node("c"), 3, 0, tf.OK},
		"after an empty graph":    {&pb.GraphDef{}, node("a"), 1, 0, tf.OK},
		"a node twice":            {node("a"), node("a"), 0, 0, tf.InvalidArgument},
		"another version":         {&pb.GraphDef{Versions: &pb.VersionDef{Producer: 8}}, node("a"), 1, 0, tf.OK},
		"a first function":        {node("a"), library(node("b"), function("f", "x")), 2, 1, tf.OK},
		"no function any more":    {library(node("a"), function("f", "x")), node("b"), 2, 1, tf.OK},
		"the same function":       {library(node("a"), function("f", "x")), library(node("b"), function("f", "x"), function("g", "x")), 2, 2, tf.OK},
		"another of the name":     {library(node("a"), function("f", "x")), library(node("b"), function("f", "y")), 0, 0, tf.InvalidArgument},
		"nothing new but version": {node("a"), node(), 1, 0, tf.OK},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(c.old.GetNode())
			got, err := extended(c.old, c.more)
			if tf.CodeOf(err) != c.code {
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
