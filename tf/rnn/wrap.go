package rnn

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A MultiCell stacks cells: the output of each is the input of the next.
type MultiCell struct {
	home
	cells []Cell
}

// Multi returns a stack of cells, of which there must be one at least. Variables
// are multi_rnn_cell/cell_0/lstm_cell/kernel and so on. A cell that is there
// twice shares its variables.
func Multi(cells ...Cell) *MultiCell {
	cells = slices.Clone(cells)
	for i, c := range cells {
		cells[i] = given(c)
	}
	return &MultiCell{home: home{kind: "multi_rnn_cell", units: len(cells)}, cells: cells}
}

// StateSize returns the sizes of all cells' states, one after another.
func (m *MultiCell) StateSize() (out []int) {
	for _, c := range m.cells {
		out = append(out, c.StateSize()...)
	}
	return out
}

// OutputSize returns that of the last cell.
func (m *MultiCell) OutputSize() int {
	if len(m.cells) == 0 {
		return 0
	}
	return m.cells[len(m.cells)-1].OutputSize()
}

// Part returns the state of cell i out of that of the stack.
func (m *MultiCell) Part(s State, i int) State {
	at := 0
	for _, c := range m.cells[:i] {
		at += len(c.StateSize())
	}
	return s[at : at+len(m.cells[i].StateSize())]
}

func (m *MultiCell) zeroState(n tf.Output, d tf.DType) (out State) {
	for _, c := range m.cells {
		out = append(out, ZeroState(c, n, d)...)
	}
	return out
}

// Step adds a step.
func (m *MultiCell) Step(x tf.Output, s State) (tf.Output, State) {
	return m.run([]tf.Output{x}, s, stepOf)
}

// run adds a step, in which the first cell steps as bottom says.
func (m *MultiCell) run(x []tf.Output, s State, bottom func(Cell) stepper) (y tf.Output, next State) {
	if len(m.cells) == 0 {
		return failed(m, x[0], m.kind, tf.Errorf(tf.InvalidArgument, "Must specify at least one cell for MultiRNNCell."))
	}
	if err := checkState(m, s); err != nil {
		return failed(m, x[0], m.kind, err)
	}
	g := x[0].Graph()
	m.within(g, func() {
		for i, c := range m.cells {
			vars.Scope(g, fmt.Sprintf("cell_%d", i), vars.ScopeOptions{}, func() {
				step, after := stepOf(c), State(nil)
				if i == 0 {
					step = bottom(c)
				}
				y, after = step(x, m.Part(s, i))
				x = []tf.Output{y}
				next = append(next, after...)
			})
		}
	})
	return y, next
}

func (m *MultiCell) hoist(x tf.Output, s State) (p []tf.Output, step stepper) {
	if len(m.cells) == 0 || checkState(m, s) != nil {
		return p, nil
	}
	h, ok := m.cells[0].(hoister)
	if !ok {
		return p, nil
	}
	var bottom stepper
	m.within(x.Graph(), func() {
		vars.Scope(x.Graph(), "cell_0", vars.ScopeOptions{}, func() { p, bottom = h.hoist(x, m.Part(s, 0)) })
	})
	if bottom == nil {
		return p, nil
	}
	return p, func(p []tf.Output, s State) (tf.Output, State) {
		return m.run(p, s, func(Cell) stepper { return bottom })
	}
}

// DropoutOpts are the shares of elements that a cell with dropout drops.
type DropoutOpts struct {
	Input, Output, State float64 // rates; the memory c of an LSTM is never dropped
	// Variational drops the same elements in all steps (Gal and Ghahramani, NIPS
	// 2016): in each run others. In an eager graph, which has no runs, the cell's first
	// step chooses them for all sequences, as TensorFlow does. The size of inputs must
	// be given if they are dropped.
	Variational bool
	InputSize   int
	Seed        int64
}

type dropoutCell struct {
	Cell
	o     DropoutOpts
	masks map[string]tf.Output // of variational dropout
}

// Dropout returns a cell that drops elements of the inputs, outputs and states of
// c, in each step others. It has the variables of c and no scope of its own.
func Dropout(c Cell, o DropoutOpts) Cell {
	return &dropoutCell{Cell: given(c), o: o, masks: map[string]tf.Output{}}
}

func (c *dropoutCell) zeroState(n tf.Output, d tf.DType) State { return ZeroState(c.Cell, n, d) }

// Step adds a step.
func (c *dropoutCell) Step(x tf.Output, s State) (tf.Output, State) {
	y, next := c.Cell.Step(c.drop("input", x, c.o.Input, c.o.InputSize), s)
	dropped := make(State, len(next))
	for i := range next {
		if dropped[i] = next[i]; c.o.State != 0 && !isMemory(c.Cell, i) {
			dropped[i] = c.drop(fmt.Sprintf("state_%d", i), next[i], c.o.State, c.StateSize()[i])
		}
	}
	return c.drop("output", y, c.o.Output, c.OutputSize()), dropped
}

// isMemory reports whether tensor i of a state is the memory of an LSTM.
func isMemory(c Cell, i int) bool {
	switch c := c.(type) {
	case *LSTMCell, *LayerNormLSTMCell, *LSTMBlockCell:
		return i == 0
	case *MultiCell:
		for _, part := range c.cells {
			n := len(part.StateSize())
			if i < n {
				return isMemory(part, i)
			}
			i -= n
		}
	case *wrapper:
		return isMemory(c.Cell, i)
	case *highway:
		return isMemory(c.Cell, i)
	case *dropoutCell:
		return isMemory(c.Cell, i)
	}
	return false
}

func (c *dropoutCell) drop(what string, x tf.Output, rate float64, size int) tf.Output {
	if rate == 0 || x.Err() != nil {
		return x
	}
	o := layers.DropoutOpts{Seed: salted(c.o.Seed, what)}
	if !c.o.Variational {
		return layers.Dropout(x, rate, o)
	}
	if size <= 0 {
		return tf.Failed(x.Graph(), "dropout", tf.Errorf(tf.InvalidArgument, "When Variational is set and inputs are dropped, InputSize must be provided")).Output(0)
	}
	if c.masks[what].IsZero() { // once for all steps, so outside of the loop
		x.Graph().InitScope(func() {
			one := ops.Fill([]int{1, size}, author.AsOperand(x, 1))
			c.masks[what] = layers.Dropout(one, rate, o)
		})
	}
	return ops.Mul(x, c.masks[what])
}

// salted returns the seed of one of several kinds of random numbers, 0 if there is no seed.
func salted(seed int64, what string) int64 {
	if seed == 0 {
		return 0
	}
	s := uint64(seed)
	for _, b := range []byte(what) {
		s = (s ^ uint64(b)) * 0x100000001b3
	}
	return int64(s & 0x7fffffff)
}

// A wrapper changes how a cell steps, and nothing else.
type wrapper struct {
	Cell
	step func(x tf.Output, s State) (tf.Output, State)
}

// Step adds a step.
func (w *wrapper) Step(x tf.Output, s State) (tf.Output, State) { return w.step(x, s) }

func (w *wrapper) zeroState(n tf.Output, d tf.DType) State { return ZeroState(w.Cell, n, d) }

// Residual returns a cell whose output is that of c plus its input, which
// must be of the same size. Such connections are those of He et al. (CVPR
// 2016, arXiv:1512.03385). A function, if one is given, computes the output
// instead, of the input and what c returns; its result must be [batch
// OutputSize].
func Residual(c Cell, f ...func(x, y tf.Output) tf.Output) Cell {
	c = given(c)
	return &wrapper{c, func(x tf.Output, s State) (tf.Output, State) {
		y, next := c.Step(x, s)
		if x.Err() != nil || y.Err() != nil {
			return y, next
		}
		if len(f) > 0 && f[0] != nil {
			return ofSize(c, "residual", f[0](x, y), next)
		}
		if in := x.Shape(); in[len(in)-1] != c.OutputSize() {
			return failed(c, x, "residual", tf.Errorf(tf.InvalidArgument, "a residual cell needs inputs of the size of its outputs, %d, got %v", c.OutputSize(), x))
		}
		return ops.AddV2(x, y), next
	}}
}

// ofSize refuses an output that is not of the size that c promises.
func ofSize(c Cell, kind string, y tf.Output, next State) (tf.Output, State) {
	if y.Err() != nil {
		return y, next
	}
	if s := y.Shape(); s != nil && (len(s) != 2 || s[1] >= 0 && s[1] != c.OutputSize()) {
		return failed(c, y, kind, tf.Errorf(tf.InvalidArgument, "the function of a residual cell must return [batch %d], got %v", c.OutputSize(), y))
	}
	return y, next
}

// OnDevice returns a cell that computes c on a device.
func OnDevice(c Cell, device string) Cell {
	c = given(c)
	return &wrapper{c, func(x tf.Output, s State) (y tf.Output, next State) {
		if x.IsZero() {
			return c.Step(x, s) // which has the error
		}
		x.Graph().Device(device, func() { y, next = c.Step(x, s) })
		return y, next
	}}
}
