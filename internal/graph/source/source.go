// Package source makes graphs for passes of the graphs that programs build. It
// alone knows both: the engine below works without package tf.
package source

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Graph returns the graph of operations of a program, each of whose inputs is
// one of them.
func Graph(ops []*tf.Operation, library *core.Library, producer int) *graph.Graph {
	byOp := make(map[*tf.Operation]*graph.Node, len(ops))
	nodes := make([]graph.Node, len(ops))
	for i, op := range ops {
		nodes[i].Node, nodes[i].Shapes = op.Node, op.Shapes()
		byOp[op] = &nodes[i]
	}
	for i, op := range ops {
		n := &nodes[i]
		n.In = make([]graph.Edge, len(op.Inputs()))
		for k, x := range op.Inputs() {
			n.In[k] = graph.Edge{Node: byOp[x.Operation()], Out: x.Index()}
		}
		for _, c := range op.ControlInputs() {
			n.Control = append(n.Control, byOp[c])
		}
	}
	return graph.Of(nodes, library, producer)
}
