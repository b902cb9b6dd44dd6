package pass

import (
	"container/heap"
	"math"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// growth says what calls of the functions of a library come to. It is worked out
// from the definitions, once for a library, in time that is linear in their size:
// nothing is expanded for it.
type growth struct {
	library *core.Library
	of      map[string]*reach
}

// reach is what a call of one function comes to.
type reach struct {
	name    string
	own     int        // nodes of the function itself
	calls   []string   // functions that it may call
	certain [][]string // calls that it makes whatever its arguments are: of one function of each set
	// least is how many nodes run, at least, in a call; endless if it never ends.
	least int
	// expanded is how many nodes the function has when all calls in it have been
	// replaced by bodies, but for those of functions of its own cycle.
	expanded int
	cycle    int // functions that call one another have the same; 0: it does not call itself
}

const endless = math.MaxInt

// gradientMark begins the name under which the gradient of a function is listed.
const gradientMark = "gradient of "

// growthOf returns what calls of the functions of l come to.
func growthOf(l *core.Library) *growth {
	if l == nil {
		return &growth{}
	}
	return l.Derived(func() any { return newGrowth(l) }).(*growth)
}

func newGrowth(l *core.Library) *growth {
	g := &growth{library: l, of: map[string]*reach{}}
	for _, name := range l.Names() {
		r := scan(l, l.Find(name))
		g.of[name] = r
		g.of[gradientMark+name] = r.gradient()
	}
	g.findLeast()
	g.findCycles()
	return g
}

// gradient is the reach of the function's gradient: it computes what the function
// does, too, and takes the gradients of what that calls.
func (r *reach) gradient() *reach {
	d := &reach{name: gradientMark + r.name, own: add(r.own, r.own), least: endless}
	for _, f := range r.calls {
		d.calls = append(d.calls, f, gradientName(f))
	}
	for _, set := range r.certain {
		of := make([]string, len(set))
		for i, f := range set {
			of[i] = gradientName(f)
		}
		d.certain = append(d.certain, of)
	}
	return d
}

// gradientName lists gradients of gradients with the gradients: the names end.
func gradientName(f string) string { return gradientMark + strings.TrimPrefix(f, gradientMark) }

// reach returns what a call of f comes to, nil if that is not known.
func (g *growth) reach(f core.Func) *reach {
	if of, ok := f.Attrs["f"].(core.Func); ok && f.Name == core.SymbolicGradient {
		return g.of[gradientTarget(g.library, of.Name)]
	}
	return g.of[f.Name]
}

// gradientTarget is the name under which the gradient of a function is listed,
// which may be one that the program has written.
func gradientTarget(l *core.Library, name string) string {
	if own := l.Gradient(name); own != "" {
		return own
	}
	return gradientName(name)
}

// add adds numbers of nodes, of which there may be too many for an int.
func add(a, b int) int {
	if a > endless-b {
		return endless
	}
	return a + b
}

// findLeast finds out what each function runs at least: of functions whose calls
// are known, always the one that runs the least next, so that of a choice the
// cheapest is known first. What is never known calls itself whatever happens.
func (g *growth) findLeast() {
	s := &leastSearch{of: g.of, waits: map[string][]*pending{}, open: map[*reach]int{}}
	for _, r := range g.of {
		r.least = endless
		s.open[r] = len(r.certain)
		for _, set := range r.certain {
			p := &pending{caller: r}
			for _, f := range set {
				s.waits[f] = append(s.waits[f], p)
			}
		}
		if len(r.certain) == 0 {
			s.Push(known{r, r.own})
		}
	}
	heap.Init(s)
	for s.Len() > 0 {
		s.settle(heap.Pop(s).(known))
	}
}

// pending is a call, of one of several functions, whose cost is not known.
type pending struct {
	caller *reach
	done   bool
}

type known struct {
	*reach
	cost int
}

// leastSearch is a heap of functions all of whose calls are known.
type leastSearch struct {
	of    map[string]*reach
	waits map[string][]*pending // by function called
	open  map[*reach]int        // calls that are not known
	sum   map[*reach]int
	heap  []known
}

// settle tells the callers of k what it costs.
func (s *leastSearch) settle(k known) {
	k.least = k.cost
	if s.sum == nil {
		s.sum = map[*reach]int{}
	}
	for _, p := range s.waits[k.name] {
		if p.done {
			continue
		}
		p.done = true
		s.sum[p.caller] = add(s.sum[p.caller], k.cost)
		if s.open[p.caller]--; s.open[p.caller] == 0 {
			heap.Push(s, known{p.caller, add(p.caller.own, s.sum[p.caller])})
		}
	}
}

func (s *leastSearch) Len() int           { return len(s.heap) }
func (s *leastSearch) Less(i, j int) bool { return s.heap[i].cost < s.heap[j].cost }
func (s *leastSearch) Swap(i, j int)      { s.heap[i], s.heap[j] = s.heap[j], s.heap[i] }
func (s *leastSearch) Push(x any)         { s.heap = append(s.heap, x.(known)) }
func (s *leastSearch) Pop() any {
	k := s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	return k
}

// CheckCalls refuses a graph that is to run calls of functions which never end, or
// which run more nodes than there may be, whatever the values are. Calls that may
// be skipped are looked at when they are made.
func CheckCalls(g *graph.Graph) (err error) {
	defer core.Recover(&err, "the counting of calls")
	if g.Library == nil {
		return nil
	}
	limit, of := callLimit(g.Budget), growthOf(g.Library)
	var bad []*graph.Node
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		if r := of.certainCall(n); r != nil && r.least > limit {
			bad = append(bad, n)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	skipped, err := mayBeSkipped(g)
	for _, n := range bad {
		if err == nil && !skipped[n.ID] {
			return core.AtNode(of.refuse(of.certainCall(n), limit), &n.Node, nil)
		}
	}
	return err
}

// callLimit is how many nodes a call may run at least. There is always one: what
// never ends is more.
func callLimit(b *graph.Budget) int {
	if limit := b.Limits().Nodes; limit >= 0 {
		return limit
	}
	return endless - 1
}

// CheckCall refuses a call of a function that never ends, or runs too many nodes.
func CheckCall(b *graph.Budget, l *core.Library, f core.Func) (err error) {
	defer core.Recover(&err, "the counting of calls")
	of := growthOf(l)
	if r, limit := of.reach(f), callLimit(b); r != nil && r.least > limit {
		return of.refuse(r, limit)
	}
	return nil
}

// certainCall returns the function that n calls whenever it runs, nil if there is
// none: of branches the one that runs the least.
func (g *growth) certainCall(n *graph.Node) (r *reach) {
	for _, f := range calledBy(n, g.library) {
		of := g.reach(f)
		if of == nil {
			return nil
		}
		if r == nil || of.least < r.least {
			r = of
		}
	}
	return r
}

// calledBy lists the functions of which n calls one.
func calledBy(n *graph.Node, l *core.Library) []core.Func {
	if fs := n.CalledFunctions(); fs != nil {
		return fs
	}
	if op := n.OpName(); l.Find(op) != nil {
		return []core.Func{{Name: op}}
	}
	return nil
}

// mayBeSkipped finds, by ID, the nodes that come after a choice.
func mayBeSkipped(g *graph.Graph) ([]bool, error) {
	order, err := g.Sorted()
	skipped := make([]bool, len(order))
	for _, n := range order {
		s := n.Role().DirectsFlow()
		for _, x := range n.In {
			s = s || skipped[x.Node.ID]
		}
		for _, c := range n.Control {
			s = s || skipped[c.ID]
		}
		skipped[n.ID] = s
	}
	return skipped, err
}

// refuse says why a function cannot be called.
func (g *growth) refuse(r *reach, limit int) error {
	if r.least == endless {
		if path := g.wayBack(r); path != nil {
			return core.Errorf(core.InvalidArgument, "a function must be able to end without calling itself: %s calls itself whatever its arguments are (%s)", path[0], strings.Join(path, " -> "))
		}
	}
	return core.Errorf(core.ResourceExhausted, "a call of a function must run at most %d nodes (limit max_nodes): one of %s runs at least %s", limit, r.name, count(r.least))
}

// wayBack follows calls that never end until one comes back to where it has been,
// and returns that part of the way, shortened; nil: they end, but they are too many.
func (g *growth) wayBack(r *reach) []string {
	at := map[string]int{}
	var path []string
	for r != nil && r.least == endless {
		if i, again := at[r.name]; again {
			return shortened(append(path[i:], r.name))
		}
		at[r.name] = len(path)
		path = append(path, r.name)
		r = g.unending(r)
	}
	return nil
}

// unending returns a function that never ends and that r calls in any case.
func (g *growth) unending(r *reach) *reach {
	for _, set := range r.certain {
		least := endless
		for _, f := range set {
			if of := g.of[f]; of != nil {
				least = min(least, of.least)
			}
		}
		if least == endless {
			return g.of[set[0]]
		}
	}
	return nil
}

func shortened(path []string) []string {
	const most = 8
	if len(path) <= most {
		return path
	}
	return append(append(path[:most-2:most-2], "..."), path[len(path)-1])
}
