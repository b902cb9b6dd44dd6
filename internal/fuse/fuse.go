package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/liveness"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// maxCluster bounds the nodes of a cluster, and so what a plan costs.
const maxCluster = 128

// Options are what the pass needs to know.
type Options struct {
	// Kernel returns the kernel of a node, nil if it has none.
	Kernel func(*graph.Node) core.Kernel
	// Explain says that the report is to tell why nodes are not fused.
	Explain bool
	// SaveMemory prefers less memory to less time.
	SaveMemory bool
}

// Fuse makes clusters of the elementwise nodes and the reductions of g, the part of one
// device of type CPU, and joins products with what is added to them. The report has the
// kernels of the nodes that it has added.
func Fuse(g *graph.Graph, o Options) (r *Report, err error) {
	defer core.Recover(&err, "the fusion of a graph")
	r = &Report{Kernels: map[*core.Node]core.Kernel{}, explain: o.Explain, programs: map[*graph.Node]*program{}}
	if err := turnConstants(g, r); err != nil {
		return nil, err
	}
	if err := openGates(g, o.Kernel); err != nil {
		return nil, err
	}
	if o.Kernel, err = takeInRectifiers(g, o.Kernel, r); err != nil {
		return nil, err
	}
	if o.Kernel, err = splitNorms(g, o.Kernel, r); err != nil {
		return nil, err
	}
	if err := makeClusters(g, o, r); err != nil {
		return nil, err
	}
	if err := splitSums(g); err != nil {
		return nil, err
	}
	if err := joinProducts(g, o.Kernel, r); err != nil {
		return r, err
	}
	if err := applyParts(g, o, r); err != nil {
		return r, err
	}
	if err := joinEpilogues(g, o.Kernel, r); err != nil || len(r.Clusters) == 0 {
		return r, err
	}
	if err := pass.Check(g); err != nil {
		return nil, core.Errorf(core.Internal, "pass %s (it can be disabled) failed: %s", pass.Fusion, core.AsError(err).Message())
	}
	return r, nil
}

// makeClusters joins elementwise nodes.
func makeClusters(g *graph.Graph, o Options, r *Report) error {
	order, err := g.Sorted()
	if err != nil {
		return err
	}
	members, count, chained := make([]*member, len(order)), 0, chainedProducts(order, g.Uses())
	for _, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if chained[n] {
			continue
		}
		if members[n.ID] = memberOf(n, o.Kernel); members[n.ID] != nil {
			count++
		}
	}
	r.survey(order, members, o.Kernel)
	if count == 0 || count == 1 && !slices.ContainsFunc(order, func(n *graph.Node) bool { return members[n.ID] != nil && readsParts(n, o.Kernel) }) {
		r.only(order, members)
		return nil
	}
	l, err := cutLevels(g, order, members, o.Kernel)
	if err != nil || l == nil {
		return err
	}
	return replaceGroups(g, l, o.Kernel, r)
}

// cutLevels returns nil if there are no levels: what comes into a loop depends on what leaves it.
func cutLevels(g *graph.Graph, order []*graph.Node, members []*member, kernel func(*graph.Node) core.Kernel) (*levels, error) {
	f, err := liveness.Find(g, order, func(n *graph.Node) bool {
		if members[n.ID] != nil || n.Role() == core.Constant {
			return false
		}
		_, ok := core.AsCompute(kernel(n))
		return !ok
	})
	if err != nil {
		return nil, err
	}
	l := newLevels(order, members, f)
	if ok, err := l.passLoops(g); err != nil || !ok {
		return nil, err
	}
	l.join()
	return l, nil
}

// replaceGroups puts a node in the place of each group of two nodes and more, and of
// single ones that can be epilogues.
func replaceGroups(g *graph.Graph, l *levels, kernelOf func(*graph.Node) core.Kernel, r *Report) error {
	groups := l.groups()
	again, err := computeAgain(g, l, groups)
	if err != nil {
		return err
	}
	by, win := map[*graph.Node]*cluster{}, findWindows(l, groups, again, kernelOf)
	var all []*cluster
	for i, nodes := range groups {
		if len(nodes) < 2 && !l.follows(nodes[0], kernelOf) && !win.touched[nodes[0]] {
			r.alone(l, nodes[0])
			continue
		}
		c := newCluster(l, again.nodes(i), win, win.joins[i])
		for _, j := range c.joins {
			by[j.node] = c
		}
		for _, m := range nodes {
			by[m] = c
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil
	}
	needed := readFromOutside(g, all, by)
	for _, c := range all {
		if len(c.nodes) == 0 {
			continue // others compute all of it again
		}
		c.makeNode(g, func(n *graph.Node) bool { return by[n] == c && needed[n] })
		if err := g.Add(c.node); err != nil {
			return err
		}
		r.add(c)
	}
	gone := unusedLiterals(g, l, by, win)
	g.Keep(func(n *graph.Node) bool { return by[n] == nil && !gone[n] && !win.split[n] })
	for _, n := range g.Nodes {
		rewire(n, by)
	}
	return nil
}

// readFromOutside returns the nodes of clusters that others read.
func readFromOutside(g *graph.Graph, all []*cluster, by map[*graph.Node]*cluster) map[*graph.Node]bool {
	read := map[*graph.Node]bool{}
	for _, c := range all {
		for _, e := range c.in {
			read[e.Node] = true
		}
	}
	for _, n := range g.Nodes {
		for _, e := range n.In {
			if by[n] == nil {
				read[e.Node] = true
			}
		}
	}
	return read
}

// rewire makes n use clusters in the place of the nodes that they stand for.
func rewire(n *graph.Node, by map[*graph.Node]*cluster) {
	for k, e := range n.In {
		if c := by[e.Node]; c != nil {
			n.In[k] = graph.Edge{Node: c.node, Out: c.out[e.Node]}
		}
	}
	if !slices.ContainsFunc(n.Control, func(p *graph.Node) bool { return by[p] != nil }) {
		return
	}
	before := n.Control
	n.Control = nil
	for _, p := range before {
		if c := by[p]; c != nil {
			p = c.node
		}
		n.AddControl(p)
	}
}

// unusedLiterals returns the constants that only nodes of clusters have used.
func unusedLiterals(g *graph.Graph, l *levels, by map[*graph.Node]*cluster, win *windows) map[*graph.Node]bool {
	used, had, gone := map[*graph.Node]bool{}, map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for _, n := range g.Nodes {
		to := used
		if by[n] != nil || win.split[n] {
			to = had
		}
		for _, e := range n.In {
			to[e.Node] = true
		}
		for _, c := range n.Control {
			used[c] = true // of nodes of clusters, too: those wait for it
		}
	}
	for _, n := range l.order {
		if n.Role() == core.Constant && had[n] && !used[n] {
			gone[n] = true
		}
	}
	return gone
}

// A cluster is a group of nodes that are to become one.
type cluster struct {
	*program
	levels *levels
	nodes  []*graph.Node
	inside map[*graph.Node]int // position in nodes
	in     []graph.Edge
	ins    map[graph.Edge]int  // position in in
	lits   map[*graph.Node]int // position in the program's constants
	win    *windows
	cuts   []*cut
	cutAt  map[*cut]int // position in cuts
	joins  []*joint
	node   *graph.Node         // what stands for all
	out    map[*graph.Node]int // which output of it a node's is
}

func newCluster(l *levels, nodes []*graph.Node, win *windows, joins []*joint) *cluster {
	c := &cluster{program: &program{}, levels: l, nodes: nodes, win: win, cutAt: map[*cut]int{}, joins: joins, inside: make(map[*graph.Node]int, len(nodes)), ins: map[graph.Edge]int{}, lits: map[*graph.Node]int{}, out: map[*graph.Node]int{}}
	for i, n := range nodes {
		c.inside[n] = i
	}
	for _, n := range nodes {
		for _, e := range operands(n, l.members[n.ID]) {
			c.source(e)
		}
	}
	return c
}

func (c *cluster) has(n *graph.Node) bool { _, ok := c.inside[n]; return ok }

// source notes an input of a node of the cluster that comes from outside.
func (c *cluster) source(e graph.Edge) {
	if c.has(e.Node) {
		return
	}
	if w := c.win.cuts[e]; w != nil {
		if _, ok := c.cutAt[w]; !ok {
			c.cutAt[w] = len(c.cuts)
			c.cuts = append(c.cuts, w)
		}
		c.source(w.whole)
		return
	}
	if c.levels.literal[e.Node.ID] {
		if _, ok := c.lits[e.Node]; !ok {
			c.lits[e.Node] = len(c.consts)
			c.consts = append(c.consts, e.Node.TensorAttr("value"))
		}
		return
	}
	if _, ok := c.ins[e]; !ok {
		c.ins[e] = len(c.in)
		c.in = append(c.in, e)
	}
}

// value returns the number that an edge has in the program.
func (c *cluster) value(e graph.Edge) int {
	if i, ok := c.inside[e.Node]; ok {
		return len(c.in) + len(c.consts) + len(c.cuts) + i
	}
	if w := c.win.cuts[e]; w != nil {
		return len(c.in) + len(c.consts) + c.cutAt[w]
	}
	if c.levels.literal[e.Node.ID] {
		return len(c.in) + c.lits[e.Node]
	}
	return c.ins[e]
}

// def is what nodes of clusters are instances of. It is not registered: no graph from
// elsewhere can have them.
var def = core.OpDef{Name: "_Fused", NoGrad: core.NoGradientDefined}

// makeNode makes the node that stands for the cluster, and its program; leaves reports
// whether the value of a node leaves the cluster.
func (c *cluster) makeNode(g *graph.Graph, leaves func(*graph.Node) bool) {
	c.compile()
	last := c.nodes[len(c.nodes)-1]
	ops := c.outputs(leaves)
	c.endLones()
	n := &graph.Node{Node: core.Node{Name: g.Unused(last.Name + "/fused"), Def: &def, Device: last.Device, Attrs: core.Attrs{nodesAttr: ops}}, In: c.in}
	n.CopyPos(&last.Node)
	for _, e := range c.in {
		n.InTypes = append(n.InTypes, e.Type())
	}
	n.OutTypes, n.Shapes = make([]core.DType, len(c.outs)), make([]core.Shape, len(c.outs))
	for m, o := range c.out {
		n.OutTypes[o], n.Shapes[o] = m.OutTypes[0], m.OutShape(0)
	}
	for _, m := range c.nodes {
		c.awaitAll(n, m)
	}
	for _, w := range c.cuts {
		c.awaitAll(n, w.node)
	}
	for _, j := range c.joins {
		c.awaitAll(n, j.node)
	}
	c.node = n
}

// outputs says which values leave the cluster, and lists the nodes that it stands for.
func (c *cluster) outputs(leaves func(*graph.Node) bool) []string {
	ops, at := make([]string, 0, len(c.nodes)), len(c.cuts)
	for _, w := range c.cuts {
		if s := w.node.Name + " = " + w.node.OpName(); !slices.Contains(ops, s) {
			ops = append(ops, s)
		}
	}
	for i, n := range c.nodes {
		ops = append(ops, n.Name+" = "+n.OpName())
		if leaves(n) {
			c.out[n] = len(c.outs)
			c.outs = append(c.outs, at+i)
		}
	}
	at += len(c.nodes)
	for _, j := range c.joins {
		ops = append(ops, j.node.Name+" = "+j.node.OpName())
		c.out[j.node] = len(c.outs)
		c.outs = append(c.outs, at)
		at += len(j.parts)
	}
	return ops
}

// awaitAll makes n wait for what a node that it stands for waits for.
func (c *cluster) awaitAll(n, m *graph.Node) {
	c.await(n, m.Control)
	for _, e := range m.In {
		if !c.has(e.Node) && e.Node.Role() == core.Constant {
			c.await(n, e.Node.Control)
		}
	}
}

// nodesAttr lists what a cluster is made of, for tools that show graphs.
const nodesAttr = "_nodes"

// compile makes the program.
func (c *cluster) compile() {
	c.inputs = len(c.in)
	for _, w := range c.cuts {
		c.code = append(c.code, instr{node: &w.node.Node, cut: &w.window, args: []int{c.value(w.whole)}})
	}
	for _, n := range c.nodes {
		m := c.levels.members[n.ID]
		in := instr{node: &n.Node, kernel: m.element, fold: m.fold}
		for _, e := range operands(n, m) {
			in.args = append(in.args, c.value(e))
		}
		c.code = append(c.code, in)
	}
	for _, j := range c.joins {
		lead := len(c.code)
		for k, e := range j.parts {
			c.pastes = append(c.pastes, len(c.code))
			c.code = append(c.code, instr{node: &j.node.Node, paste: &j.windows[k], lead: lead, args: []int{c.value(e)}})
		}
	}
	c.addLones()
}

// await makes n wait for nodes that are not in the cluster.
func (c *cluster) await(n *graph.Node, controls []*graph.Node) {
	for _, p := range controls {
		if !c.has(p) {
			n.AddControl(p)
		}
	}
}
