package pass

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Connection puts one tensor in the place of another, as if To was fed with
// what From turns out to be (TensorFlow's CallableOptions.tensor_connection).
type Connection struct{ From, To string }

// connected returns g with the connections of a step made and the inputs in reads in the
// place of others; g stays as it is.
func connected(g *graph.Graph, s Signature, reads map[*graph.Node][]graph.Edge) (*graph.Graph, error) {
	c := &connector{g.Clone()}
	for n, in := range reads {
		for k, x := range in {
			c.g.Node(n.Name).In[k] = graph.Edge{Node: c.g.Node(x.Node.Name), Out: x.Out}
		}
	}
	from := make([]graph.Edge, len(s.Connections))
	for i, x := range s.Connections {
		var err error
		if from[i], err = c.from(x); err != nil {
			return nil, err
		}
	}
	if err := checkFedOnce(s); err != nil {
		return nil, err
	}
	for i, x := range s.Connections {
		if err := c.connect(from[i], x.To); err != nil {
			return nil, err
		}
	}
	return c.g, c.sort()
}

// checkFedOnce: what is connected is fed, so it may not be fed again, nor
// fetched.
func checkFedOnce(s Signature) error {
	fed := slices.Clone(s.Feeds)
	for _, x := range s.Connections {
		node, k, err := core.ParseTensorName(x.To)
		if err != nil {
			return core.Errorf(core.NotFound, "FeedInputs: unable to find feed output %s", x.To)
		}
		name := fmt.Sprintf("%s:%d", node, k)
		if slices.Contains(fed, name) {
			return core.Errorf(core.InvalidArgument, "Endpoint \"%s\" fed more than once.", x.To)
		}
		if slices.Contains(s.Fetches, name) {
			return core.Errorf(core.InvalidArgument, "%s is both fed and fetched.", name)
		}
		fed = append(fed, name)
	}
	return nil
}

type connector struct{ g *graph.Graph }

// from finds the tensor that a connection takes. TensorFlow's messages name the
// other end, too.
func (c *connector) from(x Connection) (graph.Edge, error) {
	node, k, err := core.ParseTensorName(x.From)
	n := c.g.Node(node)
	switch {
	case err != nil || n == nil:
		return graph.Edge{}, core.Errorf(core.InvalidArgument, "Requested tensor connection from unknown node: \"%s\".", x.To)
	case k >= len(n.OutTypes):
		return graph.Edge{}, core.Errorf(core.InvalidArgument, "Requested tensor connection from unknown edge: \"%s\" (actual number of outputs = %d).", x.To, len(n.OutTypes))
	}
	return graph.Edge{Node: n, Out: k}, nil
}

// connect gives all that uses the tensor of a name another one instead.
func (c *connector) connect(from graph.Edge, name string) error {
	to, err := (&pruner{from: c.g}).edge(name, "feed")
	switch {
	case err != nil:
		return err
	case dependsOn(from.Node, to.Node):
		return core.Errorf(core.InvalidArgument, "Requested Tensor connection between nodes \"%s\" and \"%s\" would create a cycle.", to.Node.Name, from.Node.Name)
	case from.Type().Base() != to.Type().Base():
		return core.Errorf(core.InvalidArgument, "a tensor must be connected to one of its type: %s is %s, %s is %s", from.Name(), from.Type(), name, to.Type())
	}
	uses := slices.Clone(c.g.Nodes)
	id, err := c.g.AddNew(fmt.Sprintf("_identity_%s_%d", to.Node.Name, to.Out), "Identity", core.Attrs{"T": from.Type().Base()}, to.Node.Device, from)
	if err != nil {
		return err
	}
	id.CopyPos(&to.Node.Node)
	id.Shapes = []core.Shape{from.Node.OutShape(from.Out)}
	for _, n := range uses {
		takePlace(n, to, id)
	}
	return nil
}

// takePlace gives n the result of id where it used to have to. A control input from a
// placeholder becomes one from what takes its place.
func takePlace(n *graph.Node, to graph.Edge, id *graph.Node) {
	for i, e := range n.In {
		if e == to {
			n.In[i] = graph.Edge{Node: id}
		}
	}
	if to.Node.Role() != core.Fed {
		return
	}
	for i, d := range n.Control {
		if d == to.Node {
			n.Control[i] = id
		}
	}
}

// dependsOn reports whether n has d among all that it depends on, itself
// included.
func dependsOn(n, d *graph.Node) bool {
	seen := map[*graph.Node]bool{n: true}
	for todo := []*graph.Node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == d {
			return true
		}
		for _, e := range n.In {
			if !seen[e.Node] {
				seen[e.Node] = true
				todo = append(todo, e.Node)
			}
		}
		for _, p := range n.Control {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return false
}

// sort puts nodes after what they use: what is connected may come from further
// down.
func (c *connector) sort() error {
	nodes, err := c.g.Sorted()
	if err != nil {
		return err
	}
	c.g.Nodes = nodes
	c.g.Renumber()
	return nil
}
