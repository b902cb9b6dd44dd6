package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// dropDeadBranches resolves Switches whose predicate is a constant: what only the
// other branch needs goes, and where the branches meet the chosen one is taken.
func dropDeadBranches(e *editor) (changed bool, err error) {
	e.Renumber()
	var uses [][]*graph.Node
	gone := map[*graph.Node]bool{}
	for _, n := range e.Nodes {
		if err := e.Budget.Visit(1); err != nil {
			return false, err
		}
		taken, known := choice(n)
		if !known || gone[n] || e.Preserve[n.Name] {
			continue
		}
		if uses == nil {
			uses = e.Uses()
		}
		b := branch{
			e: e, uses: uses, gone: gone, off: graph.Edge{Node: n, Out: 1 - taken},
			dead: map[*graph.Node]bool{}, live: map[*graph.Node]graph.Edge{}, deadOf: map[*graph.Node]int{},
		}
		if !b.useful(n) {
			continue
		}
		if ok, err := b.follow(); err != nil || !ok || !b.resolvable() {
			if err != nil {
				return false, err
			}
			continue
		}
		b.resolve(n, taken)
		changed = true
	}
	return changed, nil
}

// choice returns the output of a Switch that is always taken.
func choice(n *graph.Node) (taken int, known bool) {
	if !n.Chooses() || len(n.Control) > 0 || hasRef(n) || n.In[1].Node.Device != n.Device {
		return 0, false
	}
	pred := n.In[1].Node
	if pred.Role() != core.Constant || len(pred.Control) > 0 {
		return 0, false
	}
	v := pred.TensorAttr("value")
	if v == nil || v.DType() != core.Bool || v.Rank() != 0 { // that a vector is no predicate the step has to say
		return 0, false
	}
	if v.At(0) == true {
		taken = 1
	}
	return taken, true
}

// branch is what depends on an output that is never taken.
type branch struct {
	e    *editor
	uses [][]*graph.Node
	off  graph.Edge                 // the output
	dead map[*graph.Node]bool       // never run
	live map[*graph.Node]graph.Edge // Merges reached: the input that is left
	gone map[*graph.Node]bool       // what other branches have left nothing to do

	deadOf map[*graph.Node]int // how many inputs of a Merge, from the first on, are dead
}

// useful reports whether anything reads n.
func (b *branch) useful(n *graph.Node) bool {
	return slices.ContainsFunc(b.uses[n.ID], func(u *graph.Node) bool {
		return !b.gone[u] && slices.ContainsFunc(u.In, func(x graph.Edge) bool { return x.Node == n })
	})
}

func (b *branch) isDead(x graph.Edge) bool { return b.dead[x.Node] || x == b.off }

// follow finds all that is dead because of the output. It gives up where being
// dead is told elsewhere: to another device, to the caller, to the next
// round of a loop.
func (b *branch) follow() (bool, error) {
	var todo []*graph.Node
	for _, u := range b.uses[b.off.Node.ID] {
		if slices.Contains(u.In, b.off) {
			todo = append(todo, u)
		}
	}
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := b.e.Budget.Visit(1); err != nil {
			return false, err
		}
		switch role := u.Role(); {
		case b.dead[u] || b.gone[u]:
			continue
		case role == core.Merges && !hasRef(u):
			if !b.visitMerge(u) {
				continue
			}
		case role.DirectsFlow() && u.OpName() != "Switch", role.Transfers(), role == core.Result, b.e.Preserve[u.Name]: // others have to be told, and run though it is dead
			return false, nil
		}
		b.dead[u] = true
		todo = append(todo, b.uses[u.ID]...)
	}
	return true, nil
}

// visitMerge looks at a Merge some of whose inputs are dead, and reports whether all
// are. It goes on where the visit before has found one that is not: each of many inputs may
// lead to a visit.
func (b *branch) visitMerge(m *graph.Node) bool {
	delete(b.live, m)
	i := b.deadOf[m]
	for i < len(m.In) && b.isDead(m.In[i]) {
		i++
	}
	b.deadOf[m] = i
	if i < len(m.In) {
		b.live[m] = m.In[i]
	}
	return i == len(m.In)
}

// resolvable reports whether at each Merge exactly one input is left, and nothing
// else has to be waited for.
func (b *branch) resolvable() bool {
	for m, x := range b.live {
		left := 0
		for _, in := range m.In {
			if !b.isDead(in) {
				left++
			}
		}
		asked := slices.ContainsFunc(b.uses[m.ID], func(u *graph.Node) bool { // which branch it was
			return !b.gone[u] && (slices.Contains(u.Control, m) || slices.Contains(u.In, graph.Edge{Node: m, Out: 1}))
		})
		if left != 1 || asked || len(m.Control) > 0 || m.Device != x.Node.Device || b.e.Preserve[m.Name] || b.e.roots[m] {
			return false
		}
	}
	return true
}

// resolve replaces the Switch by its input, and Merges by what is left.
func (b *branch) resolve(n *graph.Node, taken int) {
	for m, x := range b.live {
		replace(b.uses[m.ID], m, []graph.Edge{x, {}}, nil)
		b.uses[x.Node.ID] = append(b.uses[x.Node.ID], b.uses[m.ID]...)
		b.gone[m] = true
	}
	with := make([]graph.Edge, 2)
	with[taken] = n.In[0]
	replace(b.uses[n.ID], n, with, nil)
	b.uses[n.In[0].Node.ID] = append(b.uses[n.In[0].Node.ID], b.uses[n.ID]...)
	b.gone[n] = true
	for u := range b.dead {
		delete(b.e.roots, u)
		b.gone[u] = true
	}
}
