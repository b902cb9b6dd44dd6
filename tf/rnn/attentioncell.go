package rnn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// AttendOpts are what may be chosen for a cell with attention.
type AttendOpts struct {
	// Size is that of the attention that is returned, a product of the cell's
	// output and the context; 0: the context itself, of the memory's size.
	Size int
	// CellOutput returns the cell's output, not the attention.
	CellOutput bool
	Initial    State // of the wrapped cell in the state of zeros; nil stands for zeros
	Name       string
	// More are further attentions beside the first. The attention of the cell is then
	// theirs side by side. Sizes, if given, has a size for each, in place of Size.
	More  []Attention
	Sizes []int
	// Layers, if given, make the attentions of the cell's output and the context side
	// by side, [batch Size], in place of dense layers.
	Layers []func(x tf.Output) tf.Output
	// Input makes the cell's input of that of the step and the last attention; nil: they
	// are side by side.
	Input func(x, attention tf.Output) tf.Output
}

// An AttentionCell lets a cell look at a memory in each step: the context is the
// sum of the memory's elements by their weights. The attention of a step is part
// of the next input. Its state is the cell's, the attention [batch size] and the
// weights [batch time] of each attention.
type AttentionCell struct {
	home
	cell  Cell
	ms    []Attention
	ao    AttendOpts
	outs  []func(x tf.Output) tf.Output // none: contexts are attentions
	wrong error
}

// Attend returns a cell with attention. Variables are
// attention_wrapper/lstm_cell/…, those of the attention in attention_wrapper, and
// attention_wrapper/attention_layer/kernel; those of further attentions have names
// like luong_attention_1 and attention_layer_1.
func Attend(c Cell, m Attention, o ...AttendOpts) *AttentionCell {
	a := &AttentionCell{home: home{kind: "attention_wrapper", units: 1}, cell: given(c), ao: first(o)}
	a.o.Name = a.ao.Name
	for _, m := range append([]Attention{m}, a.ao.More...) {
		if m == nil {
			m = noMemory{tf.Failed(nil, "attention_wrapper", tf.Errorf(tf.InvalidArgument, "a cell needs an attention, got nil")).Output(0)}
		}
		a.ms = append(a.ms, m)
	}
	if a.ao.Sizes == nil && a.ao.Size > 0 {
		a.ao.Sizes = slices.Repeat([]int{a.ao.Size}, len(a.ms))
	}
	a.wrong = a.checkSizes()
	a.apart()
	a.layers()
	return a
}

// checkSizes compares the numbers of sizes and layers with that of attentions.
func (a *AttentionCell) checkSizes() error {
	bad := func(format string, args ...any) error { return tf.Errorf(tf.InvalidArgument, format, args...) }
	sizes, n := a.ao.Sizes, len(a.ms)
	switch {
	case sizes != nil && len(sizes) != n:
		return bad("If provided, attention_layer_size must contain exactly one integer per attention_mechanism, saw: %d vs %d", len(sizes), n)
	case a.ao.Layers != nil && len(a.ao.Layers) != n:
		return bad("If provided, attention_layer must contain exactly one layer per attention_mechanism, saw: %d vs %d", len(a.ao.Layers), n)
	case a.ao.Layers != nil && sizes == nil:
		return bad("a cell with attention layers of the program needs their Sizes, or a Size")
	}
	for _, size := range sizes {
		if size <= 0 {
			return bad("the sizes of attentions must be positive, got %v", sizes)
		}
	}
	return nil
}

// apart gives the variables of attentions of one kind names of their own.
func (a *AttentionCell) apart() {
	seen := map[string]int{}
	for _, m := range a.ms {
		m, ok := m.(interface{ scopeOf() *string })
		if !ok {
			continue
		}
		name := m.scopeOf()
		kind := *name
		if n := seen[kind]; n > 0 {
			*name = fmt.Sprintf("%s_%d", kind, n)
		}
		seen[kind]++
	}
}

// layers makes the layers of the attentions.
func (a *AttentionCell) layers() {
	if a.outs = a.ao.Layers; a.outs != nil {
		return
	}
	for _, size := range a.ao.Sizes {
		a.outs = append(a.outs, layers.NewDense(size, layers.DenseOpts{Name: "attention_layer", NoBias: true}).Apply)
	}
}

// StateSize returns the sizes of the cell's state, the attention and the weights.
func (a *AttentionCell) StateSize() []int {
	out := append(append([]int{}, a.cell.StateSize()...), a.size())
	for _, m := range a.ms {
		time := -1
		if s := m.Memory().Shape(); len(s) == 3 {
			time = s[1]
		}
		out = append(out, time)
	}
	return out
}

// size returns that of the attention, -1 if it is not known.
func (a *AttentionCell) size() (n int) {
	for i, m := range a.ms {
		s := m.Memory().Shape()
		switch {
		case a.wrong != nil || a.ao.Sizes == nil && len(s) != 3:
			return -1
		case a.ao.Sizes != nil:
			n += a.ao.Sizes[i]
		default:
			n += s[2]
		}
	}
	return n
}

// OutputSize returns the size of the attention, or of the cell's output.
func (a *AttentionCell) OutputSize() int {
	if a.ao.CellOutput {
		return a.cell.OutputSize()
	}
	return a.size()
}

// Weights returns the weights of the last step out of a state, those of the first
// attention.
func (a *AttentionCell) Weights(s State) tf.Output { return a.AllWeights(s)[0] }

// AllWeights returns the weights of all attentions of the last step out of a state.
func (a *AttentionCell) AllWeights(s State) []tf.Output { return s[len(s)-len(a.ms):] }

// weightsOf returns the weights of the cells with attention out of a state of c, the
// mean where one has several.
func weightsOf(c Cell, s State) (all []tf.Output) {
	switch c := c.(type) {
	case *AttentionCell:
		return []tf.Output{mean(c.AllWeights(s))}
	case *MultiCell:
		for i, part := range c.cells {
			all = append(all, weightsOf(part, c.Part(s, i))...)
		}
	case *wrapper:
		return weightsOf(c.Cell, s)
	case *highway:
		return weightsOf(c.Cell, s)
	case *dropoutCell:
		return weightsOf(c.Cell, s)
	}
	return all
}

// mean returns the mean of tensors of one shape.
func mean(all []tf.Output) tf.Output {
	if len(all) == 1 || all[0].Err() != nil {
		return all[0]
	}
	return ops.AddN(all).Div(len(all))
}

func (a *AttentionCell) zeroState(n tf.Output, d tf.DType) State {
	s := a.ao.Initial
	if s == nil {
		s = ZeroState(a.cell, n, d)
	}
	return append(append(State{}, s...), a.nothing(n, d)...)
}

// nothing returns attention and weights before the first step.
func (a *AttentionCell) nothing(n tf.Output, d tf.DType) State {
	if bad := a.bad(n.Graph()); !bad.IsZero() || n.Err() != nil {
		return slices.Repeat(State{cmp.Or(bad, n)}, len(a.ms)+1)
	}
	out := State{filled(n, a.size(), d)}
	for _, m := range a.ms {
		out = append(out, nothingOf(m, n, d))
	}
	return out
}

// nothingOf returns the weights of an attention before the first step.
func nothingOf(a Attention, n tf.Output, d tf.DType) (y tf.Output) {
	m := a.Memory()
	if r, ok := a.(recalling); ok {
		y = r.firstWeights(n, d)
	} else {
		time := ops.Shape(m).At("1")
		y = ops.Fill(ops.Stack([]tf.Output{n, time}, 0), ops.Scalar(n.Graph(), int32(0)).Cast(d))
	}
	batch := -1
	if s := filled(n, 1, d).Shape(); s != nil {
		batch = s[0]
	}
	if y.Err() == nil {
		y.SetShape(tf.Shape{batch, m.Shape()[1]})
	}
	return y
}

// bad returns what keeps the cell from its work, the zero Output if there is nothing.
func (a *AttentionCell) bad(g *tf.Graph) (none tf.Output) {
	if a.wrong != nil {
		return tf.Failed(g, "attention_wrapper", a.wrong).Output(0)
	}
	for _, m := range a.ms {
		if m.Memory().Err() != nil {
			return m.Memory()
		}
	}
	return none
}

// Step adds a step.
func (a *AttentionCell) Step(x tf.Output, s State) (tf.Output, State) {
	if bad := a.bad(x.Graph()); !bad.IsZero() {
		return poisoned(a, bad)
	}
	return a.step(a, x, s, func(spec) {}, func() (tf.Output, State) {
		n := len(s) - 1 - len(a.ms)
		y, next := a.cell.Step(a.input(x, s[n]), s[:n])
		attention, weights := a.look(y, s[n+1:])
		next = append(append(append(State{}, next...), attention), weights...)
		if a.ao.CellOutput {
			return y, next
		}
		return attention, next
	})
}

func (a *AttentionCell) input(x, attention tf.Output) tf.Output {
	if a.ao.Input != nil {
		return a.ao.Input(x, attention)
	}
	return ops.Concat(1, []tf.Output{x, attention})
}

// look returns the attention of a step by the cell's output, and the weights.
func (a *AttentionCell) look(y tf.Output, last State) (tf.Output, State) {
	var all []tf.Output
	var weights State
	for i, m := range a.ms {
		if err := sameBatch(m.Memory(), y); err != nil {
			bad := tf.Failed(y.Graph(), "attention_wrapper", err).Output(0)
			return bad, slices.Repeat(State{bad}, len(a.ms))
		}
		w := align(m, y, last[i])
		context := ops.Squeeze(ops.BatchMatMulV2(ops.ExpandDims(w, 1), m.Memory()), []int{1})
		if a.outs != nil {
			context = a.outs[i](ops.Concat(1, []tf.Output{y, context}))
		}
		all, weights = append(all, a.sized(i, context)), append(weights, w)
	}
	if len(all) == 1 {
		return all[0], weights
	}
	return ops.Concat(1, all), weights
}

// sized refuses an attention of another size than was said.
func (a *AttentionCell) sized(i int, y tf.Output) tf.Output {
	if y.Err() != nil || a.ao.Layers == nil {
		return y
	}
	if want := (tf.Shape{-1, a.ao.Sizes[i]}); !y.Shape().Compatible(want) {
		return tf.Failed(y.Graph(), "attention_wrapper", tf.Errorf(tf.InvalidArgument, "attention layer %d must return %v, got %v", i, want, y)).Output(0)
	}
	return y
}

// sameBatch compares the batches of a memory and of queries, as far as they are known.
func sameBatch(memory, query tf.Output) error {
	m, q := memory.Shape(), query.Shape()
	if query.Err() != nil || len(m) == 0 || len(q) == 0 || m[0] < 0 || q[0] < 0 || m[0] == q[0] {
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "Non-matching batch sizes between the memory (encoder output) and the query (decoder output): %v and %v. Are you using the BeamDecoder? You may need to tile your memory by TileBatch with the width of the beam", memory, query)
}

func align(m Attention, query, last tf.Output) tf.Output {
	if r, ok := m.(recalling); ok {
		return r.alignAfter(query, last)
	}
	return m.Align(query)
}
