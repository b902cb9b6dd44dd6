package pass

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// foldConstants computes what depends on constants only, and shapes that are
// known.
func foldConstants(e *editor) (bool, error) {
	order, err := e.Sorted()
	if err != nil {
		return false, err
	}
	f := folder{editor: e, forwards: newForwards(e.Graph), degrees: degreesOf(e.Graph), uses: e.Uses(), plain: plainNodes(order)}
	changed := false
	for _, n := range order {
		if err := f.settle(n); err != nil {
			return false, err
		}
		vals, after, err := f.values(n)
		if err != nil {
			return false, err
		}
		if vals == nil {
			continue
		}
		did, err := f.fold(n, vals, after)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

type folder struct {
	*editor
	*forwards
	degrees
	uses  [][]*graph.Node
	plain []bool // by ID, of constants that have been added, too
}

// values returns the values of n's outputs if they are known, and what a
// constant in its place must come after; nil if not.
func (f *folder) values(n *graph.Node) (vals []*core.Tensor, after []*graph.Node, err error) {
	if v := f.entering(n); v != nil {
		return []*core.Tensor{v}, []*graph.Node{n}, nil
	}
	if !f.foldable(n) {
		return nil, nil, nil
	}
	if vals := shapeValues(n); vals != nil {
		after, err := f.afterShape(n)
		return vals, after, err
	}
	in, after := constInputs(n)
	if in == nil || f.Eval == nil || f.willBeBig(n) {
		return nil, nil, nil
	}
	vals, err = f.Eval(&n.Node, in)
	if err != nil || slices.ContainsFunc(vals, f.tooBig) || !f.spend(newBytes(vals, in)) {
		return nil, nil, nil // the step will tell, if it is an error
	}
	return vals, after, nil
}

// maxEntering is how many elements a constant has at most that is one within a loop, too:
// it is to say where slices begin, and what else shapes follow from.
const maxEntering = 64

// entering returns the constant that n takes into a loop, for all iterations; nil if it
// takes none.
func (f *folder) entering(n *graph.Node) *core.Tensor {
	if n.Role() != core.Enters || !n.Bool("is_constant") || f.Preserve[n.Name] || f.reads[n.ID] == 0 || hasRef(n) {
		return nil
	}
	v := constantOf(n.In[0])
	if v == nil || v.Len() > maxEntering || v.DType() != core.Int32 && v.DType() != core.Int64 {
		return nil
	}
	return v
}

// newBytes is how much memory values take beyond that of the inputs which they share.
func newBytes(vals, in []*core.Tensor) (sum int) {
	for _, v := range vals {
		shared := v.Buffer() != nil && slices.ContainsFunc(in, func(t *core.Tensor) bool { return t.Buffer() == v.Buffer() })
		if !shared {
			sum += v.NumBytes()
		}
	}
	return sum
}

// spend takes n of the bytes that constants may have, if there are as many.
func (o *Options) spend(n int) bool {
	if o.Spare == nil {
		return true
	}
	if n > *o.Spare {
		return false
	}
	*o.Spare -= n
	return true
}

// foldable reports whether n computes values from values and nothing else. A
// default that could have been fed stays one: it decides no branches.
func (f *folder) foldable(n *graph.Node) bool {
	object := func(d core.DType) bool { return d == core.Resource || d == core.Variant }
	return len(n.In) > 0 && !n.Def.Has(core.Overridable) && !f.Preserve[n.Name] && !n.Def.Stateful && !n.Role().DirectsFlow() && !hasRef(n) &&
		!slices.ContainsFunc(n.OutTypes, object) && f.used(n)
}

// willBeBig reports whether n is known to make more than may be kept.
func (f *folder) willBeBig(n *graph.Node) bool {
	for k, d := range n.OutTypes {
		if s := n.OutShape(k); s.Known() && (s.NumElements() < 0 || s.NumElements() > f.most(n)/max(1, d.Size())) {
			return true
		}
	}
	return false
}

// most is how many bytes an output of n may have.
func (f *folder) most(n *graph.Node) int {
	if f.Spare == nil || n.Def.Has(core.View|core.Passthrough|core.Reshapes) {
		return f.MaxFolded
	}
	return min(f.MaxFolded, *f.Spare)
}

func (f *folder) tooBig(t *core.Tensor) bool { return t == nil || t.NumBytes() > f.MaxFolded }

// constInputs returns the inputs of n if all are constants, and what n and
// they come after: in a loop that says where they are.
func constInputs(n *graph.Node) (in []*core.Tensor, after []*graph.Node) {
	var orders []*graph.Node
	for _, x := range n.In {
		if x.Node.Role() != core.Constant {
			return nil, nil
		}
		in, orders = append(in, x.Node.TensorAttr("value")), append(orders, x.Node.Control...)
	}
	all := graph.Node{Control: slices.Clone(n.Control)}
	all.AddControls(orders...)
	return in, all.Control
}

// fold replaces n by constants.
func (f *folder) fold(n *graph.Node, vals []*core.Tensor, after []*graph.Node) (bool, error) {
	if f.reads[n.ID] == 0 {
		return false, nil
	}
	after, err := f.joined(n, after)
	if err != nil {
		return false, err
	}
	with := make([]graph.Edge, len(vals))
	for k, read := range f.outputsRead(n) {
		if !read {
			continue
		}
		c, err := f.constant(n, k, vals[k], after)
		if err != nil {
			return false, err
		}
		with[k] = graph.Edge{Node: c}
	}
	f.forwards.replace(n, with, nil)
	return true, nil
}

// joined returns what the constants in the place of n come after: a node that waits for all of
// after, if that is much. Each constant has a list of its own, and hands it on to what is computed
// from it, so that the lists of many would be as long as the graph.
func (f *folder) joined(n *graph.Node, after []*graph.Node) ([]*graph.Node, error) {
	if len(after) <= maxJoined {
		return after, nil
	}
	all, err := f.AddNew(n.Name+"/after", "NoOp", nil, n.Device)
	if err != nil {
		return nil, err
	}
	all.CopyPos(&n.Node)
	all.Control = slices.Clone(after)
	f.plain = append(f.plain, false)
	return []*graph.Node{all}, nil
}

// outputsRead says of each output of n whether anything reads it.
func (f *folder) outputsRead(n *graph.Node) []bool {
	read := make([]bool, len(n.OutTypes))
	if len(read) == 1 {
		read[0] = f.reads[n.ID] > 0
		return read
	}
	for _, u := range f.uses[n.ID] {
		for _, x := range u.In {
			if x.Node == n {
				read[x.Out] = true
			}
		}
	}
	return read
}

// constant adds the value of output k of n to the graph.
func (f *folder) constant(n *graph.Node, k int, v *core.Tensor, after []*graph.Node) (*graph.Node, error) {
	c, err := f.AddNew(fmt.Sprintf("%s/_%d__cf__", n.Name, k), "Const", core.Attrs{"dtype": v.DType(), "value": v}, n.Device)
	if err != nil {
		return nil, err
	}
	c.CopyPos(&n.Node)
	c.Shapes = []core.Shape{v.Shape()}
	c.Control = slices.Clone(after)
	f.plain = append(f.plain, len(after) == 0)
	return c, nil
}
