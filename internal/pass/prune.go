package pass

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Signature says what a step feeds, fetches and runs, by name. Feeds and
// fetches are tensors ("x:0"), targets nodes. Connections feed tensors of the
// graph with others of it.
type Signature struct {
	Feeds, Fetches, Targets []string
	Connections             []Connection
	// AnyShapes: feeds may have other shapes than the graph says, so that nothing that it
	// says of shapes counts.
	AnyShapes bool
}

// Terminals says with which nodes feeds enter and fetches leave a graph.
type Terminals struct {
	// Frame: arguments and results of a function call, in one process.
	// Otherwise sends and receives that the client's side of a rendezvous
	// serves.
	Frame bool
	// ClientDevice and its incarnation are where feeds and fetches live.
	ClientDevice string
	Incarnation  uint64
}

// ClientGraph returns the part of g that a step needs: what its fetches and
// targets depend on, up to the feeds, with nodes for feeds and fetches added.
func ClientGraph(g *graph.Graph, s Signature, t Terminals) (needed *graph.Graph, err error) {
	defer core.Recover(&err, "the pruning of a graph")
	reads := ReadsOfFed(g, s)
	if len(s.Connections) > 0 {
		var err error
		if g, err = connected(g, s, reads); err != nil {
			return nil, err
		}
		reads = nil
	}
	p := &pruner{from: g, to: graph.New(), t: t, reads: reads, feeds: map[graph.Edge]int{}, copies: map[*graph.Node]*graph.Node{}, anyShapes: s.AnyShapes}
	p.to.Library, p.to.Producer, p.to.Budget = g.Library, g.Producer, g.Budget
	if err := p.addFeeds(s.Feeds); err != nil {
		return nil, err
	}
	fetches, err := p.findFetches(s)
	if err != nil {
		return nil, err
	}
	targets, err := p.findTargets(s.Targets)
	if err != nil {
		return nil, err
	}
	if err := p.needAll(targets, fetches); err != nil {
		return nil, err
	}
	if err := p.copyEdges(); err != nil {
		return nil, err
	}
	if err := p.addFetches(fetches); err != nil {
		return nil, err
	}
	p.dropIdleFeeds()
	return p.to, nil
}

// ReadsOfFed returns the inputs of nodes of g that Lower has made read past the results
// of calls, as far as a step feeds these: it has the nodes read them.
func ReadsOfFed(g *graph.Graph, s Signature) map[*graph.Node][]graph.Edge {
	fed := make(map[graph.Edge]bool, len(s.Feeds)+len(s.Connections))
	add := func(name string) {
		if node, k, err := core.ParseTensorName(name); err == nil {
			fed[graph.Edge{Node: g.Node(node), Out: k}] = true
		}
	}
	for _, name := range s.Feeds {
		add(name)
	}
	for _, c := range s.Connections {
		add(c.To)
	}
	return g.ReadsOfFed(fed)
}

// pruner copies what is needed from one graph to another.
type pruner struct {
	from, to  *graph.Graph
	t         Terminals
	reads     map[*graph.Node][]graph.Edge // inputs of nodes where they differ from those in from
	feeds     map[graph.Edge]int
	feedNodes []*graph.Node
	copies    map[*graph.Node]*graph.Node
	anyShapes bool
}

// inputs returns what n reads in this step.
func (p *pruner) inputs(n *graph.Node) []graph.Edge {
	if in := p.reads[n]; in != nil {
		return in
	}
	return n.In
}

// edge resolves a tensor name.
func (p *pruner) edge(name, what string) (graph.Edge, error) {
	node, k, err := core.ParseTensorName(name)
	if err != nil {
		return graph.Edge{}, err
	}
	n := p.from.Node(node)
	if n == nil {
		if what == "feed" {
			return graph.Edge{}, core.Errorf(core.NotFound, "FeedInputs: unable to find feed output %s", name)
		}
		return graph.Edge{}, core.Errorf(core.NotFound, "FetchOutputs node %s: not found", name)
	}
	return graph.Edge{Node: n, Out: k}, checkOutput(n, k, name, what)
}

func checkOutput(n *graph.Node, k int, name, what string) error {
	switch {
	case k < len(n.OutTypes):
		return nil
	case what == "feed":
		return core.Errorf(core.InvalidArgument, "FeedInputs: %s should have output index < %d", name, len(n.OutTypes))
	case len(n.OutTypes) == 0:
		return core.Errorf(core.InvalidArgument, "Tried to fetch data for '%s', which produces no output.  To run to a node but not fetch any data, pass '%s' as an argument to the 'target_node_names' argument of the Session::Run API.", name, name)
	}
	return core.Errorf(core.InvalidArgument, "FetchOutputs %s: output index too large, must be < %d", name, len(n.OutTypes))
}

func (p *pruner) addFeeds(names []string) error {
	for i, name := range names {
		e, err := p.edge(name, "feed")
		if err != nil {
			return err
		}
		if _, twice := p.feeds[e]; twice {
			return core.Errorf(core.InvalidArgument, "Endpoint \"%s\" fed more than once.", name)
		}
		n, err := p.feedNode(i, e)
		if err != nil {
			return err
		}
		p.feeds[e] = i
		p.feedNodes = append(p.feedNodes, n)
	}
	return nil
}

// feedNode makes the node by which feed i enters.
func (p *pruner) feedNode(i int, e graph.Edge) (*graph.Node, error) {
	typ := e.Type().Base()
	var n *graph.Node
	var err error
	if p.t.Frame {
		n, err = p.to.AddNew(fmt.Sprintf("_arg_%s_%d_%d", flat(e.Node.Name), e.Out, i), "_Arg", core.Attrs{"T": typ, "index": int64(i)}, p.t.ClientDevice)
	} else {
		n, err = p.to.AddNew(fmt.Sprintf("_recv_%s_%d", e.Node.Name, e.Out), "_Recv", p.t.attrs("tensor_type", typ, e), p.t.ClientDevice)
	}
	if err != nil {
		return nil, err
	}
	n.CopyPos(&e.Node.Node)
	n.Shapes = []core.Shape{nil}
	return n, nil
}

func flat(name string) string { return strings.ReplaceAll(name, "/", "_") }

// attrs returns the attributes of a client-terminated send or receive.
func (t *Terminals) attrs(typeAttr string, d core.DType, e graph.Edge) core.Attrs {
	return core.Attrs{typeAttr: d, "tensor_name": e.Name(), "send_device": t.ClientDevice, "recv_device": t.ClientDevice,
		"send_device_incarnation": int64(t.Incarnation), "client_terminated": true}
}

func (p *pruner) findFetches(s Signature) ([]graph.Edge, error) {
	if len(s.Fetches)+len(s.Targets) == 0 {
		return nil, core.Errorf(core.InvalidArgument, "Must specify at least one target to fetch or execute.")
	}
	out := make([]graph.Edge, len(s.Fetches))
	for i, name := range s.Fetches {
		e, err := p.edge(name, "fetch")
		if err != nil {
			return nil, err
		}
		if _, fed := p.feeds[e]; fed {
			return nil, core.Errorf(core.InvalidArgument, "%s is both fed and fetched.", name)
		}
		out[i] = e
	}
	return out, nil
}

func (p *pruner) findTargets(names []string) (out []*graph.Node, err error) {
	var missing []string
	for _, name := range names {
		node, _, err := core.ParseTensorName(name)
		if err != nil {
			return nil, err
		}
		n := p.from.Node(node)
		if n == nil {
			missing = append(missing, name)
			continue
		}
		out = append(out, n)
	}
	if missing != nil {
		return nil, core.Errorf(core.NotFound, "PruneForTargets: Some target nodes not found: %s", strings.Join(missing, " "))
	}
	return out, nil
}

// targetAttr marks the targets that do nothing but compute: they are to run, whatever becomes of
// the nodes that use them.
const targetAttr = "_target"

// needAll copies what targets and fetches depend on.
func (p *pruner) needAll(targets []*graph.Node, fetches []graph.Edge) error {
	for _, n := range targets {
		if err := p.need(n); err != nil {
			return err
		}
		if c := p.copies[n]; len(c.OutTypes) > 0 && !hasEffects(c) {
			c.Attrs = with(c.Attrs, targetAttr, true)
		}
	}
	for _, e := range fetches {
		if err := p.need(e.Node); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) copied(n *graph.Node) *graph.Node {
	if p.anyShapes {
		return &graph.Node{Node: n.Node} // what follows from constants and variables is inferred again
	}
	return &graph.Node{Node: n.Node, Shapes: n.Shapes}
}

// need copies n and all that it depends on, not beyond feeds. The list of what
// is left to look at is explicit: graphs are deeper than stacks.
func (p *pruner) need(n *graph.Node) error {
	todo := []*graph.Node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.copies[n] != nil {
			continue
		}
		p.copies[n] = p.copied(n)
		if err := p.from.Budget.Visit(1); err != nil {
			return err
		}
		for _, e := range p.inputs(n) {
			if _, fed := p.feeds[e]; !fed {
				todo = append(todo, e.Node)
			}
		}
		for _, c := range n.Control {
			if _, fed := p.fedPlaceholder(c); !fed {
				todo = append(todo, c)
			}
		}
	}
	return nil
}

// fedPlaceholder: what waits for a fed placeholder waits for the feed instead.
func (p *pruner) fedPlaceholder(n *graph.Node) (*graph.Node, bool) {
	if n.Role() != core.Fed {
		return nil, false
	}
	i, fed := p.feeds[graph.Edge{Node: n}]
	if !fed {
		return nil, false
	}
	return p.feedNodes[i], true
}

// copyEdges gives the copies their inputs, in the order of the original graph.
func (p *pruner) copyEdges() error {
	for _, n := range p.from.Nodes {
		c := p.copies[n]
		if err := p.from.Budget.Visit(1); err != nil {
			return err
		}
		if c == nil {
			continue
		}
		for _, e := range p.inputs(n) {
			c.In = append(c.In, p.copyEdge(e))
		}
		c.AddControls(p.copyControl(n)...)
		if err := p.to.Add(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruner) copyControl(n *graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(n.Control))
	for i, d := range n.Control {
		if f, fed := p.fedPlaceholder(d); fed {
			out[i] = f
		} else {
			out[i] = p.copies[d]
		}
	}
	return out
}

func (p *pruner) copyEdge(e graph.Edge) graph.Edge {
	if i, fed := p.feeds[e]; fed {
		return graph.Edge{Node: p.feedNodes[i]}
	}
	return graph.Edge{Node: p.copies[e.Node], Out: e.Out}
}

func (p *pruner) addFetches(fetches []graph.Edge) error {
	for i, e := range fetches {
		src := graph.Edge{Node: p.copies[e.Node], Out: e.Out}
		var n *graph.Node
		var err error
		if p.t.Frame {
			n, err = p.to.AddNew(fmt.Sprintf("_retval_%s_%d_%d", flat(e.Node.Name), e.Out, i), "_Retval",
				core.Attrs{"T": e.Type().Base(), "index": int64(i)}, p.t.ClientDevice, src)
		} else {
			n, err = p.to.AddNew(fmt.Sprintf("_send_%s_%d", e.Node.Name, e.Out), "_Send", p.t.attrs("T", e.Type().Base(), e), p.t.ClientDevice, src)
		}
		if err != nil {
			return err
		}
		n.CopyPos(&e.Node.Node)
	}
	return nil
}

// dropIdleFeeds removes the feeds that nothing depends on: a step in pieces need
// not wait for them.
func (p *pruner) dropIdleFeeds() {
	idle := map[*graph.Node]bool{}
	for _, n := range p.feedNodes {
		idle[n] = true
	}
	for _, n := range p.to.Nodes {
		for _, e := range n.In {
			delete(idle, e.Node)
		}
		for _, c := range n.Control {
			delete(idle, c)
		}
	}
	if len(idle) > 0 {
		p.to.Keep(func(n *graph.Node) bool { return !idle[n] })
	}
}

// Key returns a text that tells s from every other signature.
func (s *Signature) Key() string { return string(s.AppendKey(nil)) }

// AppendKey appends the text of Key to b.
func (s *Signature) AppendKey(b []byte) []byte {
	for _, list := range [...][]string{s.Feeds, s.Fetches, s.Targets} {
		for _, x := range list {
			b = append(append(b, x...), ';')
		}
		b = append(b, '|')
	}
	for _, x := range s.Connections {
		b = append(append(append(append(b, x.From...), '>'), x.To...), ';')
	}
	if s.AnyShapes {
		b = append(b, '*')
	}
	return b
}
