package pass

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// looping is a While node that is being replaced by a loop.
type looping struct {
	*expander
	n      *graph.Node
	enters []*graph.Node
	merges []*graph.Node // nil for what is the same in all iterations
	values []graph.Edge  // at the beginning of an iteration
	goesOn *graph.Node   // LoopCond
	body   []graph.Edge  // values, if there is another iteration
	exits  []graph.Edge
}

// lowerWhile replaces a While node. One that carries nothing but resources
// stays: there is nothing that could go around.
func (e *expander) lowerWhile(n *graph.Node) error {
	l := &looping{expander: e, n: n}
	if l.variables() == 0 {
		return nil
	}
	for _, step := range []func() error{l.enter, l.decide, l.fork, l.repeat} {
		if err := step(); err != nil {
			return err
		}
	}
	return e.become(n, l.exits)
}

func (l *looping) variables() (count int) {
	for k := range l.n.In {
		if !l.constant(k) {
			count++
		}
	}
	return count
}

// constant reports whether input k is the same in all iterations, as resources
// are.
func (l *looping) constant(k int) bool { return l.n.InTypes[k].Base() == core.Resource }

// enter takes the inputs into a loop named after the node.
func (l *looping) enter() error {
	for k, x := range l.n.In {
		t := l.n.InTypes[k].Base()
		enter, err := l.derive(l.n, "enter", "Enter", core.Attrs{"T": t, "frame_name": l.n.Name, "is_constant": l.constant(k),
			"parallel_iterations": int64(max(1, l.n.Int("parallel_iterations")))}, x)
		if err != nil {
			return err
		}
		for _, c := range l.n.Control {
			enter.AddControl(c)
		}
		var merge *graph.Node
		value := graph.Edge{Node: enter}
		if !l.constant(k) { // the second input follows when the loop is closed
			if merge, err = l.derive(l.n, "merge", "Merge", core.Attrs{"T": t, "N": int64(2)}, value, value); err != nil {
				return err
			}
			value = graph.Edge{Node: merge}
		}
		l.enters, l.merges, l.values = append(l.enters, enter), append(l.merges, merge), append(l.values, value)
	}
	return nil
}

// decide calls the condition.
func (l *looping) decide() error {
	f := l.n.FuncAttr("cond")
	out := []core.DType{core.Bool}
	if body := l.bodyOf(f); body != nil && len(body.RetTypes) == 1 {
		out = body.RetTypes
	}
	call, err := l.call(l.n, "cond", f, l.values, out)
	if err != nil {
		return err
	}
	pred, err := l.toBool(l.n, graph.Edge{Node: call})
	if err != nil {
		return err
	}
	l.goesOn, err = l.derive(l.n, "LoopCond", "LoopCond", nil, pred)
	return err
}

// fork leads each value out of the loop or into the body.
func (l *looping) fork() error {
	for k, m := range l.merges {
		if m == nil {
			l.exits, l.body = append(l.exits, l.n.In[k]), append(l.body, l.values[k])
			continue
		}
		t := l.n.InTypes[k].Base()
		s, err := l.derive(l.n, "Switch", "Switch", core.Attrs{"T": t}, l.values[k], graph.Edge{Node: l.goesOn})
		if err != nil {
			return err
		}
		exit, err := l.derive(l.n, "exit", "Exit", core.Attrs{"T": t}, graph.Edge{Node: s})
		if err != nil {
			return err
		}
		l.exits, l.body = append(l.exits, graph.Edge{Node: exit}), append(l.body, graph.Edge{Node: s, Out: 1})
	}
	return nil
}

// repeat calls the body and leads its results back.
func (l *looping) repeat() error {
	goesOn := graph.Edge{Node: l.goesOn}
	s, err := l.derive(l.n, "Switch", "Switch", core.Attrs{"T": core.Bool}, goesOn, goesOn)
	if err != nil {
		return err
	}
	pivot, err := l.identity(l.n, "pivot", graph.Edge{Node: s, Out: 1})
	if err != nil {
		return err
	}
	call, err := l.call(l.n, "body", l.n.FuncAttr("body"), l.body, l.n.OutTypes)
	if err != nil {
		return err
	}
	call.AddControl(pivot.Node)
	for k, m := range l.merges {
		if m == nil {
			continue
		}
		next, err := l.derive(l.n, "next", "NextIteration", core.Attrs{"T": l.n.OutTypes[k].Base()}, graph.Edge{Node: call, Out: k})
		if err != nil {
			return err
		}
		next.AddControl(call) // the iteration ends when all of it has run
		m.In[1] = graph.Edge{Node: next}
	}
	return nil
}
