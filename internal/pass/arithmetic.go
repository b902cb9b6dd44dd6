package pass

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// rewriteArithmetic takes out nodes that compute nothing new, and repetitions that
// elementwise nodes do not need.
func rewriteArithmetic(e *editor) (bool, error) {
	simpler, err := simplify(e)
	if err != nil {
		return false, err
	}
	later, err := repeatLate(e)
	return simpler || later, err
}

// simplify takes out nodes whose output is, bit for bit, a tensor that is there
// anyway: what was negated or transposed twice, cast to its own type, multiplied
// by one, reduced over nothing.
func simplify(e *editor) (bool, error) {
	order, err := e.Sorted()
	if err != nil {
		return false, err
	}
	f, d, changed := newForwards(e.Graph), degreesOf(e.Graph), false
	for _, n := range order {
		if err := f.settle(n); err != nil {
			return false, err
		}
		if repeatsNothing(n) && !e.roots[n] && !e.Preserve[n.Name] {
			if err := becomeReshape(n); err != nil {
				return false, err
			}
			changed = true
		}
		find := simplificationOf(n)
		if find == nil || e.roots[n] || e.Preserve[n.Name] || len(n.Control) > 0 || hasRef(n) {
			continue
		}
		if x, ok := find(n); ok {
			did, err := f.takeOut(n, x, &d)
			if err != nil {
				return false, err
			}
			changed = changed || did
		}
	}
	return changed, nil
}

// repeatsNothing reports whether n broadcasts to a shape of as many elements as there are,
// which only adds dimensions.
func repeatsNothing(n *graph.Node) bool {
	if !n.Def.Has(core.Reshapes) || n.Def.Has(core.View) || hasRef(n) {
		return false
	}
	from, to := n.In[0].Node.OutShape(n.In[0].Out), constInts(n.In[1])
	if to == nil || !from.Known() || from.NumElements() != core.Shape(to).NumElements() {
		return false
	}
	s, ok := core.BroadcastShapes(from, to)
	return ok && s.Equal(to)
}

// becomeReshape makes a Reshape of n, which takes the same inputs and copies nothing.
func becomeReshape(n *graph.Node) error {
	r, err := core.NewNode(n.Name, "Reshape", core.Attrs{"T": n.OutTypes[0], "Tshape": n.InTypes[1]})
	if err != nil {
		return err
	}
	r.Device = n.Device
	r.CopyPos(&n.Node)
	n.Node = *r
	return nil
}

// takeOut makes the users of n use x, which its output is equal to. What constants beside x wait
// for, an Identity in the place of n waits for: those may be dead where x is alive, or come later.
func (f *forwards) takeOut(n *graph.Node, x graph.Edge, d *degrees) (bool, error) {
	after := ordersBeside(n, x)
	if len(after) == 0 {
		return f.bypass(n, x, d), nil
	}
	if x.Node.Device != n.Device || x.Type() != n.OutTypes[0] || len(after) > maxJoined { // many would be copied to many
		return false, nil
	}
	id, err := core.NewNode(n.Name, "Identity", core.Attrs{"T": n.OutTypes[0]})
	if err != nil {
		return false, err
	}
	id.Device = n.Device
	id.CopyPos(&n.Node)
	n.Node, n.In = *id, []graph.Edge{x}
	n.AddControls(after...)
	return true, nil
}

// ordersBeside returns what constants wait for from which n is computed, or what n undoes, beside
// x: not all if that is more than maxJoined.
func ordersBeside(n *graph.Node, x graph.Edge) (after []*graph.Node) {
	for _, in := range n.In {
		switch m := in.Node; {
		case in == x:
		case m.Role() == core.Constant:
			for i := 0; i < len(m.Control) && len(after) <= maxJoined; i++ {
				if c := m.Control[i]; c != x.Node {
					after = append(after, c)
				}
			}
		default: // what n undoes
			after = append(after, ordersBeside(m, x)...)
		}
	}
	return after
}

// bypass makes the users of n use x, from which n was computed.
func (f *forwards) bypass(n *graph.Node, x graph.Edge, d *degrees) bool {
	if x.Node.Device != n.Device || x.Type() != n.OutTypes[0] || !d.used(n) || chooses(x.Node) && d.waits[n.ID] {
		return false
	}
	f.replace(n, []graph.Edge{x}, []*graph.Node{x.Node})
	return true
}

// simplifications find, by op, the tensor that a node's output is equal to, where
// that takes more of the op than its traits.
var simplifications = map[string]func(n *graph.Node) (graph.Edge, bool){
	"Cast": castToItself, "Transpose": transposedBack, "AddN": alone,
}

// simplificationOf returns what finds the tensor that n's output is equal to; nil:
// nothing does. Floating point numbers leave few: x+0 is not x for the negative
// zero, x*0 not 0 for NaN.
func simplificationOf(n *graph.Node) func(n *graph.Node) (graph.Edge, bool) {
	switch {
	case n.Def.Has(core.Involution):
		return undone
	case n.Def.Has(core.Reduction):
		return reducedNothing
	case n.Def.Has(core.Marker):
		return input
	case n.Def.Has(core.Reshapes):
		return reshapedToItself
	case n.Def.Has(core.NeutralOne):
		return neutral(1, n.Def.Has(core.Commutative))
	case n.Def.Has(core.NeutralZero) && n.Def.Has(core.Commutative):
		return addedZero
	case n.Def.Has(core.NeutralZero):
		return neutral(0, false)
	}
	return simplifications[n.OpName()]
}

func input(n *graph.Node) (graph.Edge, bool) { return n.In[0], true }

func alone(n *graph.Node) (graph.Edge, bool) { return n.In[0], len(n.In) == 1 }

// undone: an op that is its own inverse, twice.
func undone(n *graph.Node) (graph.Edge, bool) {
	m := n.In[0].Node
	if m.OpName() != n.OpName() || len(m.Control) > 0 || hasRef(m) {
		return graph.Edge{}, false
	}
	return m.In[0], true
}

func castToItself(n *graph.Node) (graph.Edge, bool) {
	return n.In[0], n.Type("SrcT") == n.Type("DstT") && !n.Bool("Truncate")
}

// reshapedToItself: the shape that is asked for is the one that is there.
func reshapedToItself(n *graph.Node) (graph.Edge, bool) {
	from, to := n.In[0].Node.OutShape(n.In[0].Out), constInts(n.In[1])
	return n.In[0], to != nil && from.Known() && from.Equal(core.Shape(to))
}

// transposedBack: a permutation that changes nothing, or that undoes another.
func transposedBack(n *graph.Node) (graph.Edge, bool) {
	perm := constInts(n.In[1])
	if perm == nil || len(n.In[0].Node.OutShape(n.In[0].Out)) != len(perm) || constantOf(n.In[1]).Rank() != 1 {
		return graph.Edge{}, false // of the wrong length, perhaps: the step has to say so
	}
	if isIdentity(perm, nil) {
		return n.In[0], true
	}
	m := n.In[0].Node
	if m.OpName() != "Transpose" || len(m.Control) > 0 {
		return graph.Edge{}, false
	}
	return m.In[0], isIdentity(perm, constInts(m.In[1]))
}

// isIdentity reports whether permuting by before, if that is there, and then by
// perm changes nothing.
func isIdentity(perm, before []int) bool {
	if before == nil {
		before = make([]int, len(perm))
		for i := range before {
			before[i] = i
		}
	}
	if len(perm) != len(before) {
		return false
	}
	for i, p := range perm {
		if p < 0 {
			p += len(perm)
		}
		if p < 0 || p >= len(before) || before[p] != i && before[p]+len(before) != i {
			return false
		}
	}
	return true
}

// neutral returns what finds an operand to which an op with the constant v on the
// other side, the right one or either, does nothing.
func neutral(v float64, either bool) func(*graph.Node) (graph.Edge, bool) {
	return func(n *graph.Node) (graph.Edge, bool) {
		if n.OutTypes[0].IsComplex() { // 0*inf and signs of zeros
			return graph.Edge{}, false
		}
		if isAll(n.In[1], v) && keepsShape(n, n.In[0]) {
			return n.In[0], true
		}
		return n.In[1], either && isAll(n.In[0], v) && keepsShape(n, n.In[1])
	}
}

// addedZero: only integers have but one zero.
func addedZero(n *graph.Node) (graph.Edge, bool) {
	if !n.OutTypes[0].IsInteger() {
		return graph.Edge{}, false
	}
	return neutral(0, true)(n)
}

// reducedNothing: there are no axes to reduce over.
func reducedNothing(n *graph.Node) (graph.Edge, bool) {
	axes := constInts(n.In[1])
	return n.In[0], axes != nil && len(axes) == 0
}

// keepsShape reports whether n's output is known to have the shape of x.
func keepsShape(n *graph.Node, x graph.Edge) bool {
	s := x.Node.OutShape(x.Out)
	return s.Known() && s.Equal(n.OutShape(0))
}

// constantOf returns the value of x, nil if it is not a constant.
func constantOf(x graph.Edge) *core.Tensor {
	if x.Node.Role() != core.Constant {
		return nil
	}
	return x.Node.TensorAttr("value")
}

// constInts returns the elements of a constant of integers, nil if x is none.
func constInts(x graph.Edge) []int {
	t := constantOf(x)
	if t == nil {
		return nil
	}
	v, err := t.Ints()
	if err != nil {
		return nil
	}
	return append([]int{}, v...)
}

// isAll reports whether x is a small constant all of whose elements are v. The
// negative zero is another number.
func isAll(x graph.Edge, v float64) bool {
	t := constantOf(x)
	const most = 64 // larger ones are seldom uniform, and each round looks again
	if t == nil || t.Len() == 0 || t.Len() > most {
		return false
	}
	want, err := core.ScalarOf(t.DType(), v)
	if err != nil {
		return false
	}
	one := want.Buffer()
	if one == nil || t.Buffer() == nil {
		return false
	}
	b, w := t.Buffer().Bytes(), one.Bytes()[:t.DType().Size()]
	for i := range t.Len() {
		if !slices.Equal(b[i*len(w):(i+1)*len(w)], w) {
			return false
		}
	}
	return true
}
