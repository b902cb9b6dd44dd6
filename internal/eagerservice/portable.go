package eagerservice

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TensorFlow optimizes the parts of a function before it sends them, and takes for
// granted that all tasks are built like its own: it names kernels of oneDNN in place
// of the ops. They have the inputs, outputs and attributes of those.

// Prefixes of such names; the longer one goes first.
var oneDNN = []string{"_MklNative", "_Mkl"}

// portable returns f with the ops that every build has.
func portable(f *pb.FunctionDef) *pb.FunctionDef {
	var own *pb.FunctionDef
	for i, n := range f.GetNodeDef() {
		op := portableOp(n.GetOp())
		if op == n.GetOp() {
			continue
		}
		if own == nil {
			own = proto.CloneOf(f)
		}
		rename(own.GetNodeDef()[i], op)
	}
	if own == nil {
		return f
	}
	return own
}

// portableLibrary does so with all functions of a library.
func portableLibrary(l *pb.FunctionDefLibrary) *pb.FunctionDefLibrary {
	out := &pb.FunctionDefLibrary{Gradient: l.GetGradient()}
	for _, f := range l.GetFunction() {
		out.Function = append(out.Function, portable(f))
	}
	return out
}

// portableOp returns the op that another stands for, which may be itself.
func portableOp(op string) string {
	if core.Lookup(op) != nil {
		return op
	}
	for _, prefix := range oneDNN {
		rest, ok := strings.CutPrefix(op, prefix)
		if !ok {
			continue
		}
		for _, name := range []string{rest, "_" + rest} {
			if core.Lookup(name) != nil {
				return name
			}
		}
	}
	return op
}

// rename gives n another op, and leaves out what that does not know.
func rename(n *pb.NodeDef, op string) {
	n.Op = op
	d := core.Lookup(op)
	for a := range n.GetAttr() {
		if a == "_kernel" || d.Attr(a) == nil && !strings.HasPrefix(a, "_") {
			delete(n.GetAttr(), a)
		}
	}
}
