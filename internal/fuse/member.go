package fuse

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// joinable are the ops of which nodes can be in clusters.
const joinable = core.Elementwise

// A member is what has to be known of a node that can be in a cluster.
type member struct {
	*core.ElementKernel
}

// memberOf returns what a node is in clusters, nil if it can be in none.
func memberOf(n *graph.Node, kernel func(*graph.Node) core.Kernel) *member {
	if barredByNode(n) != "" {
		return nil
	}
	if k, _ := kernel(n).(*core.ElementKernel); k != nil && k.Loop != nil && k.Shape != nil {
		return &member{ElementKernel: k}
	}
	return nil
}

// barred says why a node that is no member is none.
func barred(n *graph.Node, kernel func(*graph.Node) core.Kernel) string {
	if why := barredByNode(n); why != "" {
		return why
	}
	if kernel(n) == nil {
		return "there is no kernel for it"
	}
	return fmt.Sprintf("dtype: its kernel for %v has no loop that computes a part", n.InTypes[0])
}

// barredByNode says why a node, whatever its kernel, can be in no cluster, "" if it
// can.
func barredByNode(n *graph.Node) string {
	switch {
	case !n.Def.Has(joinable):
		return n.OpName() + " is not elementwise"
	case n.Def.Stateful:
		return "it has state"
	case n.Role() != core.Computes:
		return "it is part of control flow"
	case len(n.OutTypes) != 1 || len(n.In) == 0:
		return "it has no input, or not one output"
	case n.OutTypes[0].Size() == 0:
		return fmt.Sprintf("dtype: elements of %v are not plain memory", n.OutTypes[0])
	}
	for k, e := range n.In {
		switch {
		case e.Type().IsRef() || n.InTypes[k].IsRef():
			return "it reads a reference to a variable, from " + e.Node.Name
		case e.Type().Size() == 0:
			return fmt.Sprintf("dtype: elements of %v are not plain memory", e.Type())
		}
	}
	return ""
}
