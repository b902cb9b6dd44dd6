package pass

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Check reports what is wrong with a graph that a pass has made: inputs must
// be nodes of the graph and of the types that are read, names distinct, and
// there must be no cycles but those of loops.
func Check(g *graph.Graph) error {
	g.Renumber()
	for i, n := range g.Nodes {
		if g.Node(n.Name) != n || n.ID != i {
			return core.Errorf(core.Internal, "names must be distinct, two nodes are called %s", n.Name)
		}
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if err := checkInputs(g, n); err != nil {
			return err
		}
	}
	_, err := g.Sorted()
	return err
}

func checkInputs(g *graph.Graph, n *graph.Node) error {
	if len(n.In) != len(n.InTypes) {
		return core.Errorf(core.Internal, "node %s must have %d inputs, it has %d", n.Name, len(n.InTypes), len(n.In))
	}
	for k, e := range n.In {
		switch {
		case g.Node(e.Node.Name) != e.Node:
			return core.Errorf(core.Internal, "input %d of %s must be in the graph, %s is not", k, n.Name, e.Node.Name)
		case e.Out < 0 || e.Out >= len(e.Node.OutTypes):
			return core.Errorf(core.Internal, "input %d of %s must exist, %s has %d outputs", k, n.Name, e.Node.Name, len(e.Node.OutTypes))
		case e.Type().Base() != n.InTypes[k].Base() || n.InTypes[k].IsRef() && !e.Type().IsRef():
			return core.Errorf(core.Internal, "input %d of %s must be of type %v, %s is %v", k, n.Name, n.InTypes[k], e.Name(), e.Type())
		}
	}
	for _, c := range n.Control {
		if g.Node(c.Name) != c {
			return core.Errorf(core.Internal, "control inputs of %s must be in the graph, %s is not", n.Name, c.Name)
		}
	}
	return nil
}

// CheckPlaced reports a node that has no device.
func CheckPlaced(g *graph.Graph) error {
	for _, n := range g.Nodes {
		if n.Device == "" {
			return core.Errorf(core.Internal, "node %s must be placed", n.Name)
		}
	}
	return nil
}
