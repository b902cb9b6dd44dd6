package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf"
)

// ReadLate makes the users of counters, integer variables of the reference
// kind, read them when they run, and not when an Identity before them does. In
// TensorFlow what an Identity reads is the variable's own memory, so that
// updates show, and programs count on it: SyncReplicasOptimizer hands out the
// global step as it is after the update that the Identity may run before.
// Variables of other types, those that are trained, look the same to all who use
// a read of them within a step. g is the part of one device.
func ReadLate(g *graph.Graph) {
	for _, n := range g.Nodes {
		if isFlow[n.OpName()] {
			continue
		}
		for k, x := range n.In {
			if readsCounter(x.Node) {
				n.In[k] = x.Node.In[0]
				n.AddControl(x.Node)
			}
		}
	}
}

var counters = []tf.DType{tf.Int32, tf.Int64}

// readsCounter reports whether n is an Identity of a variable of integers.
func readsCounter(n *graph.Node) bool {
	if n.OpName() != "Identity" {
		return false
	}
	d := n.In[0].Type()
	return d.IsRef() && slices.Contains(counters, d.Base())
}
