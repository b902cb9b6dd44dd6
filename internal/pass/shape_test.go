package pass

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestShapesOfVariables: what reads a variable has the shape that its handle says, also where
// the graph came from elsewhere and handles go through other nodes.
func TestShapesOfVariables(t *testing.T) {
	for _, shape := range []string{"[64,10]", "[?,10]"} {
		g := parse(t, "v = VarHandleOp[dtype=float32, shape="+shape+"]\nsame = Identity(v)\nw = ReadVariableOp[dtype=float32](same)\n")
		w := g.Node("w")
		w.Shapes = nil
		refineShapes(w)
		if got := w.OutShape(0).String(); got != shape {
			t.Errorf("a variable of shape %s is read as %s", shape, got)
		}
	}
	g := parse(t, "r = Placeholder[dtype=resource]\nw = ReadVariableOp[dtype=float32](r)\n")
	if h := variableBehind(graph.Edge{Node: g.Node("r")}); h.DType != core.Invalid || h.Shape != nil {
		t.Errorf("of a handle from elsewhere %v is known", h)
	}
}
