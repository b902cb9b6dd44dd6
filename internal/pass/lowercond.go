package pass

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// branching is an If or Case node that is being replaced: a switch before
// each input of the branches, a merge behind each output.
type branching struct {
	*expander
	n        *graph.Node
	selector graph.Edge
	branches []core.Func
	names    []string
	choose   func(x graph.Edge, name string) (*graph.Node, error) // adds a switch: output i is that of branch i
	pivots   []graph.Edge                                         // alive if the branch is taken
	calls    []*graph.Node
}

func (e *expander) lowerIf(n *graph.Node) error {
	pred, err := e.toBool(n, n.In[0])
	if err != nil {
		return err
	}
	b := &branching{expander: e, n: n, selector: pred, names: []string{"else", "then"},
		branches: []core.Func{n.FuncAttr("else_branch"), n.FuncAttr("then_branch")}}
	b.choose = func(x graph.Edge, name string) (*graph.Node, error) {
		return e.derive(n, name, "Switch", core.Attrs{"T": x.Type().Base()}, x, b.selector)
	}
	return b.lower()
}

func (e *expander) lowerCase(n *graph.Node) error {
	b := &branching{expander: e, n: n, selector: n.In[0]}
	b.branches, _ = n.Attr("branches").([]core.Func)
	for i := range b.branches {
		b.names = append(b.names, fmt.Sprintf("branch%d", i))
	}
	b.choose = func(x graph.Edge, name string) (*graph.Node, error) {
		return e.derive(n, name, "_SwitchN", core.Attrs{"T": x.Type().Base(), "num_outs": int64(len(b.branches))}, x, b.selector)
	}
	return b.lower()
}

func (b *branching) lower() error {
	var err error
	if len(b.n.Control) > 0 {
		if b.selector, err = b.identity(b.n, "selector", b.selector, b.n.Control...); err != nil {
			return err
		}
	}
	if err := b.addPivots(); err != nil {
		return err
	}
	if err := b.addCalls(); err != nil {
		return err
	}
	out, err := b.mergeOutputs()
	if err != nil {
		return err
	}
	done, err := b.mergePivots()
	if err != nil {
		return err
	}
	return b.become(b.n, out, done)
}

// addPivots: a pivot is a node that runs only if its branch is taken.
func (b *branching) addPivots() error {
	s, err := b.choose(b.selector, "switch_pred")
	if err != nil {
		return err
	}
	for i, name := range b.names {
		p, err := b.identity(b.n, "pivot_"+name, graph.Edge{Node: s, Out: i})
		if err != nil {
			return err
		}
		b.pivots = append(b.pivots, p)
	}
	return nil
}

// addCalls gives each branch the inputs by way of switches.
func (b *branching) addCalls() error {
	in := make([][]graph.Edge, len(b.branches))
	for _, x := range b.n.In[1:] {
		s, err := b.choose(x, "switch")
		if err != nil {
			return err
		}
		for i := range in {
			in[i] = append(in[i], graph.Edge{Node: s, Out: i})
		}
	}
	for i, f := range b.branches {
		c, err := b.call(b.n, b.names[i], f, in[i], b.n.OutTypes)
		if err != nil {
			return err
		}
		c.AddControl(b.pivots[i].Node)
		b.calls = append(b.calls, c)
	}
	return nil
}

func (b *branching) mergeOutputs() ([]graph.Edge, error) {
	out := make([]graph.Edge, len(b.n.OutTypes))
	for k := range out {
		from := make([]graph.Edge, len(b.calls))
		for i, c := range b.calls {
			from[i] = graph.Edge{Node: c, Out: k}
		}
		m, err := b.merge("merge", from)
		if err != nil {
			return nil, err
		}
		out[k] = graph.Edge{Node: m}
	}
	return out, nil
}

func (b *branching) merge(name string, in []graph.Edge) (*graph.Node, error) {
	return b.derive(b.n, name, "Merge", core.Attrs{"T": in[0].Type().Base(), "N": int64(len(in))}, in...)
}

// mergePivots returns a node that runs when the branch taken has run, whichever
// it is.
func (b *branching) mergePivots() (*graph.Node, error) {
	done := make([]graph.Edge, len(b.pivots))
	for i, p := range b.pivots {
		d, err := b.identity(b.n, "done_"+b.names[i], p, b.calls[i])
		if err != nil {
			return nil, err
		}
		done[i] = d
	}
	return b.merge("branch_executed", done)
}
