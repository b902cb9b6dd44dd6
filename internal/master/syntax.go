package master

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// validName reports whether a name is that of a node in the graphs of clients: parts
// between which ">" stands. Names that begin with an underscore are those of
// masters and workers.
func validName(name string) bool {
	for part := range strings.SplitSeq(name, ">") {
		if part == "" || !letterDigitDot(part[0]) || strings.ContainsFunc(part, odd) {
			return false
		}
	}
	return true
}

func letterDigitDot(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.'
}

func odd(r rune) bool {
	return r > 'z' || !letterDigitDot(byte(r)) && !strings.ContainsRune("-/_", r)
}

// validInput reports whether an input is written as one, "x", "x:1" or "^x", and
// whether it is one of control.
func validInput(in string) (control, ok bool) {
	if name, control := strings.CutPrefix(in, "^"); control {
		return true, validName(name)
	}
	name, number, numbered := strings.Cut(in, ":")
	return false, validName(name) && (!numbered || validNumber(number))
}

func validNumber(s string) bool {
	return s == "0" || s != "" && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// checkSyntax refuses graphs whose nodes or inputs have names that are none.
func checkSyntax(def *pb.GraphDef) error {
	for _, n := range def.GetNode() {
		if err := checkNames(n); err != nil {
			return &core.Error{Code: core.InvalidArgument, Msg: core.AsError(err).Message(), Node: n.GetName(), Op: n.GetOp()}
		}
	}
	return nil
}

func checkNames(n *pb.NodeDef) error {
	if !validName(n.GetName()) {
		return core.Errorf(core.InvalidArgument, "Illegal op name '%s'\n\t [[{{node %s}}]]", n.GetName(), n.GetName())
	}
	controls := false
	for _, in := range n.GetInput() {
		control, ok := validInput(in)
		switch {
		case !ok:
			return core.Errorf(core.InvalidArgument, "Illegal op input name '%s'", in)
		case controls && !control:
			return core.Errorf(core.InvalidArgument, "All control inputs must follow all data inputs")
		}
		controls = control
	}
	return nil
}

// checkVersions refuses graphs that are not for programs of our version, which is
// that of TensorFlow 2.21.
func checkVersions(v *pb.VersionDef) error {
	switch {
	case v.GetProducer() < 0:
		return core.Errorf(core.InvalidArgument, "GraphDef producer version %d below min producer 0 supported by TensorFlow %s.  Please regenerate your graph.", v.GetProducer(), tensorFlow)
	case v.GetMinConsumer() > core.ProducerVersion:
		return core.Errorf(core.InvalidArgument, "GraphDef min consumer version %d above current version %d for TensorFlow %s.  Please upgrade TensorFlow.", v.GetMinConsumer(), core.ProducerVersion, tensorFlow)
	case slices.Contains(v.GetBadConsumers(), core.ProducerVersion):
		return core.Errorf(core.InvalidArgument, "GraphDef disallows consumer version %d.  Please upgrade TensorFlow: this version is likely buggy.", core.ProducerVersion)
	}
	return nil
}

// tensorFlow is the version whose graphs we understand.
const tensorFlow = "2.21.0"

// checkCycles refuses graphs that go round without the nodes of loops.
func checkCycles(g *graph.Graph) error {
	n, err := g.Unsortable()
	if err == nil && n > 0 {
		return core.Errorf(core.InvalidArgument, "%d nodes in a cycle", n)
	}
	return err
}

// checkDevices refuses nodes that ask for devices by what is no name of one.
func checkDevices(g *graph.Graph) error {
	for _, n := range g.Nodes {
		if !graph.ValidDevice(n.Device) {
			return core.AtNode(core.Errorf(core.InvalidArgument, "Malformed device specification '%s' in node: {{node %s}}", n.Device, n.Name), &n.Node, nil)
		}
	}
	return nil
}

// checkTyped refuses nodes of a new session's graph that lack an attribute which their
// inputs or outputs depend on, by TensorFlow's code for that. What is added to a session
// later is refused by INVALID_ARGUMENT, as all that is missing elsewhere.
func checkTyped(def *pb.GraphDef, library *core.Library) error {
	for _, n := range def.GetNode() {
		op, err := library.LookupOp(n.GetOp())
		if err != nil {
			return nil // the reading of the graph says so
		}
		for _, a := range slices.Concat(op.Inputs, op.Outputs) {
			for _, name := range []string{a.TypeAttr, a.NumAttr, a.ListAttr} {
				if name != "" && n.GetAttr()[name] == nil && op.Attr(name).Default == nil {
					return core.Errorf(core.NotFound, "No attr named '%s' in NodeDef:\n\t [[{{node %s}}]]", name, n.GetName())
				}
			}
		}
	}
	return nil
}
