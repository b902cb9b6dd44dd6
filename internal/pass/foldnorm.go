package pass

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// foldNorms computes batch normalizations in advance that do not train and follow a
// convolution with constant weights: normalized(conv(x, w)) = conv(x, w·f) + (offset -
// mean·f), where f is scale/√(variance+ε) for each channel. Scaling by a constant vector
// is treated alike, also behind a product of matrices. Constants that others fold have
// to be constants already. New weights take Options.Spare, small ones first: they are
// those of large images, where a normalization that is saved counts most.
func foldNorms(e *editor) (bool, error) {
	e.Renumber()
	uses := e.Uses()
	var found []*norm
	for _, n := range e.Nodes {
		if m := matchNorm(e, uses, n); m != nil {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b *norm) int { return a.weights.NumBytes() - b.weights.NumBytes() })
	changed := false
	for _, m := range found {
		if err := e.Budget.Visit(1 + m.weights.Len()/1024); err != nil {
			return false, err
		}
		did, err := m.fold(e)
		if err != nil {
			return false, err
		}
		changed = changed || did
		m.weights = nil // nothing else may have them
	}
	return changed, nil
}

// FoldNorms folds the normalizations of g as Options.FoldNorms does, and computes the
// constants for it. It does not care for memory: nothing else should need the weights. g
// need not be placed. Nodes that nothing needs any more stay. After each one did is
// called, with the norm and the constant that its weights were.
func FoldNorms(g *graph.Graph, eval Eval, did func(norm, weights *graph.Node)) (err error) {
	defer core.Recover(&err, "the folding of normalizations")
	e := newEditor(g, Options{Eval: eval, MaxFolded: math.MaxInt})
	e.folded = did
	for _, f := range []rewrite{inferShapes, foldConstants, inferShapes, foldNorms} {
		if _, err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// A norm is a node that normalizes or scales what linear computes, perhaps with a bias
// added between.
type norm struct {
	node, linear                          *graph.Node
	parameter                             *graph.Node // the constant scale, which is where node is
	weights                               *core.Tensor
	before, scale, offset, mean, variance *core.Tensor // only scale of a product; before may be nil
	epsilon                               float64
	format                                string
}

// matchNorm returns the norm that n is, nil if it is none.
func matchNorm(e *editor, uses [][]*graph.Node, n *graph.Node) *norm {
	if len(n.OutTypes) == 0 || n.OutTypes[0] != core.Float32 || e.Preserve[n.Name] {
		return nil
	}
	var m *norm
	x := graph.Edge{}
	switch {
	case n.Def.Has(core.NormalizesChannels):
		m, x = normalization(n, uses), n.In[0]
	case n.Def.Has(core.NeutralOne) && n.Def.Has(core.Commutative): // a product
		m, x = scaling(n)
	}
	if m == nil || !m.findLinear(e, uses, x) {
		return nil
	}
	return m
}

// normalization matches a fused batch normalization of which only the first output is
// used.
func normalization(n *graph.Node, uses [][]*graph.Node) *norm {
	m := &norm{node: n, parameter: n.In[1].Node, epsilon: float64(n.Float("epsilon")), format: n.Str("data_format")}
	if n.Bool("is_training") {
		return nil
	}
	for _, u := range uses[n.ID] {
		if slices.ContainsFunc(u.In, func(x graph.Edge) bool { return x.Node == n && x.Out > 0 }) {
			return nil
		}
	}
	for i, to := range []**core.Tensor{&m.scale, &m.offset, &m.mean, &m.variance} {
		if *to = vector(n.In[1+i]); *to == nil || (*to).Rank() != 1 {
			return nil // of another rank the step has to refuse it
		}
	}
	return m
}

// scaling matches the scaling of channels by a constant vector, and returns what is
// scaled.
func scaling(n *graph.Node) (*norm, graph.Edge) {
	for k, x := range n.In {
		if t := vector(x); t != nil {
			return &norm{node: n, parameter: x.Node, scale: t, format: "NHWC"}, n.In[1-k]
		}
	}
	return nil, graph.Edge{}
}

// plainConstant returns the value of a constant of float32, nil for other nodes.
func plainConstant(x graph.Edge) *core.Tensor {
	if x.Node.Role() != core.Constant || x.Type() != core.Float32 {
		return nil
	}
	return x.Node.TensorAttr("value")
}

// vector returns the value of a constant that has channels only.
func vector(x graph.Edge) *core.Tensor {
	t := plainConstant(x)
	if t == nil || len(t.Shape()) == 0 || t.Len() == 0 || t.Shape()[len(t.Shape())-1] != t.Len() {
		return nil
	}
	return t
}

// findLinear finds what computes x, which nothing else may use.
func (m *norm) findLinear(e *editor, uses [][]*graph.Node, x graph.Edge) bool {
	alone := func(x graph.Edge) bool {
		n := x.Node
		return len(uses[n.ID]) == 1 && !e.Preserve[n.Name] && len(n.Control) == 0 && n.OutTypes[0] == core.Float32
	}
	if !alone(x) {
		return false
	}
	if b := x.Node; addsBias(b) && b.Str("data_format") == m.format {
		if m.before = vector(b.In[1]); m.before == nil || !alone(b.In[0]) {
			return false
		}
		x = b.In[0]
	}
	switch l := x.Node; {
	case l.Def.Has(core.Convolution):
		if l.Str("data_format") != m.format {
			return false
		}
	case l.Def.Has(core.MatrixProduct):
		if l.Bool("transpose_b") || !m.isScaling() {
			return false
		}
	default:
		return false
	}
	m.linear, m.weights = x.Node, plainConstant(x.Node.In[1])
	return m.weights != nil && len(m.scale.Shape()) <= len(m.weights.Shape()) && m.haveChannels()
}

// addsBias reports whether n adds a vector to each row of its first input.
func addsBias(n *graph.Node) bool {
	return n.Def.Has(core.Adds) && !n.Def.Has(core.Commutative) && len(n.In) == 2
}

// isScaling reports whether m only scales.
func (m *norm) isScaling() bool { return m.mean == nil }

// haveChannels reports whether the weights end with the channels of what linear computes,
// one dimension or several, and the scale has as many elements: weights and results have
// the same rank.
func (m *norm) haveChannels() bool {
	out, w := m.linear.OutShape(0), m.weights.Shape()
	if len(out) != len(w) || len(w) < 2 {
		return false
	}
	channels := out[len(out)-1]
	if m.format == "NCHW" {
		channels = out[1]
	}
	return channels == m.scale.Len() && slices.Contains([]int{w[len(w)-1], w[len(w)-1] * w[len(w)-2]}, channels)
}

// fold replaces m by weights that are scaled and a vector that is added, unless a factor
// is not finite or the weights take too much memory.
func (m *norm) fold(e *editor) (bool, error) {
	factor, shift := m.factors()
	if factor == nil || !e.spend(m.weights.NumBytes()) {
		return false, nil
	}
	weighed := core.NewTensor(core.Float32, m.weights.Shape())
	w, to := core.Data[float32](m.weights), core.Data[float32](weighed)
	for i := 0; i < len(to); i += len(factor) {
		from, row := w[i:i+len(factor)], to[i:i+len(factor)]
		for k, f := range factor {
			row[k] = from[k] * f
		}
	}
	old := m.linear.In[1].Node
	c, err := addConstant(e, m.linear.Name+"/folded_weights", weighed, old)
	if err != nil {
		return false, err
	}
	m.linear.In[1] = graph.Edge{Node: c}
	if err := m.replace(e, shift); err != nil {
		return false, err
	}
	if e.folded != nil {
		e.folded(m.node, old)
	}
	return true, nil
}

// replace makes the node of m add shift, or nothing if that is nil.
func (m *norm) replace(e *editor, shift []float32) error {
	in, op, attrs := []graph.Edge{{Node: m.linear}}, "Identity", core.Attrs{"T": core.Float32}
	if shift != nil {
		t := core.NewTensor(core.Float32, core.Shape{len(shift)})
		copy(core.Data[float32](t), shift)
		c, err := addConstant(e, m.node.Name+"/folded_offset", t, m.parameter)
		if err != nil {
			return err
		}
		in, op, attrs["data_format"] = append(in, graph.Edge{Node: c}), "BiasAdd", m.format
	}
	d, err := core.NewNode(m.node.Name, op, attrs)
	if err != nil {
		return err
	}
	d.Device = m.node.Device
	d.CopyPos(&m.node.Node)
	m.awaitConstants()
	m.node.Node, m.node.In = *d, in
	m.node.Shapes = m.node.Shapes[:min(1, len(m.node.Shapes))]
	return nil
}

// awaitConstants has the node of m wait for what the constants wait for that it will not read any
// more: they may be dead, or come after a check.
func (m *norm) awaitConstants() {
	for _, x := range m.node.In {
		if x.Node.Role() != core.Constant && x.Node != m.linear { // the addition of a bias
			x = x.Node.In[1]
		}
		if x.Node.Role() == core.Constant {
			m.node.AddControls(x.Node.Control...)
		}
	}
}

// addConstant adds a constant that stands where like does.
func addConstant(e *editor, name string, t *core.Tensor, like *graph.Node) (*graph.Node, error) {
	c, err := e.AddNew(name, "Const", core.Attrs{"dtype": t.DType(), "value": t}, like.Device)
	if err != nil {
		return nil, err
	}
	c.CopyPos(&like.Node)
	c.Shapes, c.Control = []core.Shape{t.Shape()}, slices.Clone(like.Control)
	return c, nil
}

// factors computes what each channel is multiplied by, and what is added to it, nil if
// nothing is; no factors at all if one is not finite.
func (m *norm) factors() (factor, shift []float32) {
	c := m.scale.Len()
	zero, one := make([]float32, c), slices.Repeat([]float32{1}, c)
	before, offset, mean, variance := zero, zero, zero, one
	if m.before != nil {
		before = core.Data[float32](m.before)
	}
	if !m.isScaling() {
		offset, mean, variance = core.Data[float32](m.offset), core.Data[float32](m.mean), core.Data[float32](m.variance)
	}
	if len(before) != c || len(offset) != c || len(mean) != c || len(variance) != c {
		return nil, nil
	}
	for i, s := range core.Data[float32](m.scale) {
		k := float64(s) / math.Sqrt(float64(variance[i])+m.epsilon)
		b := float64(offset[i]) + (float64(before[i])-float64(mean[i]))*k
		if math.IsNaN(k*b) || math.IsInf(k, 0) || math.IsInf(b, 0) {
			return nil, nil
		}
		factor, shift = append(factor, float32(k)), append(shift, float32(b))
	}
	if m.isScaling() && m.before == nil {
		shift = nil
	}
	return factor, shift
}
