package savedmodel

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// prepare changes the graph so that it can be imported here: nodes of unknown ops
// that nothing needs go, and so do names of devices and colocations with nodes
// that are not there.
func (n *needs) prepare(keepDevices bool) {
	n.dropUnknown()
	for _, d := range n.mg.GetGraphDef().GetNode() {
		n.cleanNode(d, keepDevices, true)
	}
	for _, f := range n.mg.GetGraphDef().GetLibrary().GetFunction() {
		for _, d := range f.GetNodeDef() {
			n.cleanNode(d, keepDevices, false)
		}
	}
}

func (n *needs) cleanNode(d *pb.NodeDef, keepDevices, top bool) {
	if !keepDevices {
		d.Device = ""
	}
	if top {
		n.cleanClass(d)
	}
}

// cleanClass drops colocations with nodes that the graph does not have: those of
// graphs that were pruned before they were saved.
func (n *needs) cleanClass(d *pb.NodeDef) {
	c := d.GetAttr()["_class"].GetList()
	if c == nil {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(c.S), func(s []byte) bool {
		node, ok := strings.CutPrefix(string(s), "loc:@")
		return ok && n.nodes[node] == nil
	})
	switch len(kept) {
	case 0:
		delete(d.Attr, "_class")
	case len(c.S):
	default: // other nodes may share the old list
		d.Attr["_class"] = &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{S: kept}}}
	}
}

// dropUnknown drops the nodes whose ops are not known, and those that depend on
// them. Signatures that need one of them cannot be run.
func (n *needs) dropUnknown() {
	g := n.mg.GetGraphDef()
	gone := map[string]bool{}
	for _, d := range g.GetNode() {
		if n.library.Find(d.GetOp()) == nil && core.Lookup(d.GetOp()) == nil {
			gone[d.GetName()] = true
		}
	}
	if len(gone) > 0 {
		n.dropDependents(gone)
		n.keep(func(name string) bool { return !gone[name] })
	}
}

// dropDependents adds to gone all nodes that have an input there. Each is looked at once:
// nodes may stand in any order.
func (n *needs) dropDependents(gone map[string]bool) {
	readers := map[string][]string{}
	for _, d := range n.mg.GetGraphDef().GetNode() {
		for _, in := range d.GetInput() {
			readers[nodeOf(in)] = append(readers[nodeOf(in)], d.GetName())
		}
	}
	for left := slices.Collect(maps.Keys(gone)); len(left) > 0; {
		name := left[len(left)-1]
		left = left[:len(left)-1]
		for _, r := range readers[name] {
			if !gone[r] {
				gone[r] = true
				left = append(left, r)
			}
		}
	}
}

// keep drops all nodes of the graph but some.
func (n *needs) keep(want func(name string) bool) {
	g := n.mg.GetGraphDef()
	g.Node = slices.DeleteFunc(g.GetNode(), func(d *pb.NodeDef) bool {
		if want(d.GetName()) {
			return false
		}
		delete(n.nodes, d.GetName())
		return true
	})
}
