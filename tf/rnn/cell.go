// Package rnn holds recurrent networks: cells, each of which computes one step,
// and what runs them over sequences, such as [DynamicRNN]: TensorFlow's
// tf.nn.rnn_cell, tf.nn.dynamic_rnn and their relatives of tf.contrib.rnn.
//
// Variables are named as TensorFlow names them: rnn/lstm_cell/kernel, or
// rnn/multi_rnn_cell/cell_0/lstm_cell/kernel. A cell that is used twice uses
// the same variables.
package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A State is what a cell passes on to its next step: tensors [batch size]. An
// LSTM's are the cell's memory c and its output h, in this order; the states of
// stacked cells follow one another.
type State []tf.Output

// A Cell computes one step of a recurrent network.
type Cell interface {
	// StateSize returns the sizes of the tensors of a state, without the batch.
	// -1 is a size that only the step knows.
	StateSize() []int
	// OutputSize returns the size of the output, without the batch.
	OutputSize() int
	// Step adds a step on x [batch in]. It returns the output [batch OutputSize]
	// and the next state. A mistake is in both.
	Step(x tf.Output, s State) (y tf.Output, next State)
}

// ZeroState returns the state of zeros for a batch of the size that n, an int32
// scalar, has.
func ZeroState(c Cell, n tf.Output, d tf.DType) State {
	c = given(c)
	if z, ok := c.(zeroer); ok {
		return z.zeroState(n, d)
	}
	return zeros(c.StateSize(), n, d)
}

// A zeroer is a cell whose state of zeros does not follow from its sizes.
type zeroer interface {
	zeroState(n tf.Output, d tf.DType) State
}

// zeros returns tensors [n size] of zeros.
func zeros(sizes []int, n tf.Output, d tf.DType) State {
	out := make(State, len(sizes))
	for i, size := range sizes {
		out[i] = filled(n, size, d)
	}
	return out
}

// filled returns [n size] zeros. The batch is part of the static shape if it is a
// constant.
func filled(n tf.Output, size int, d tf.DType) tf.Output {
	if n.Err() != nil {
		return n
	}
	g := n.Graph()
	if size < 0 { // that of a cell in a stack or a wrapper, which its own step would refuse
		return tf.Failed(g, "rnn_cell", wrongUnits(size)).Output(0)
	}
	y := ops.Fill(ops.Stack([]tf.Output{n, ops.Scalar(g, int32(size))}, 0), ops.Scalar(g, int32(0)).Cast(d))
	if y.Err() == nil && len(y.Shape()) != 2 {
		y.SetShape(tf.Shape{-1, size})
	}
	return y
}

// CellOpts are what may be chosen for all cells with variables.
type CellOpts struct {
	Activation        layers.Activation // nil stands for Tanh
	KernelInitializer initializers.Initializer
	BiasInitializer   initializers.Initializer
	NotTrainable      bool
	Name              string
	Reuse             vars.Reuse
}

// first returns the first of the options, or none.
func first[O any](opts []O) (o O) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

func (o *CellOpts) act(x tf.Output) tf.Output {
	if o.Activation == nil {
		return ops.Tanh(x)
	}
	return o.Activation(x)
}

// home is where the variables of a cell are: a variable scope, which is opened
// when the cell is used first, and entered again from then on.
type home struct {
	kind  string // the name of a cell that has not been given one
	o     CellOpts
	units int
	scope *vars.Captured
	built bool      // the variables are there,
	in    int       // for inputs of this size
	bad   tf.Output // a variable that could not be made
}

// step calls f in the cell's scope. The first time it calls build before.
func (h *home) step(c Cell, x tf.Output, s State, build func(in spec), f func() (tf.Output, State)) (y tf.Output, next State) {
	if err := h.check(c, x, s); err != nil {
		return failed(c, x, h.kind, err)
	}
	h.within(x.Graph(), func() {
		if !h.built {
			if h.make(x, build); !h.bad.IsZero() {
				y, next = poisoned(c, h.bad)
				return
			}
		}
		y, next = f()
	})
	return y, next
}

// make makes the variables for inputs like x.
func (h *home) make(x tf.Output, build func(in spec)) {
	h.bad = tf.Output{}
	s := x.Shape()
	if build(spec{g: x.Graph(), dtype: x.DType().Base(), size: s[len(s)-1]}); h.bad.IsZero() {
		h.built, h.in = true, s[len(s)-1]
	}
}

// within calls f in the cell's variable scope.
func (h *home) within(g *tf.Graph, f func()) {
	if h.scope != nil {
		h.scope.Enter(vars.ScopeOptions{}, f)
		return
	}
	name := h.kind
	if h.o.Name != "" {
		name = h.o.Name
	}
	vars.Unique(g, name, vars.ScopeOptions{Reuse: h.o.Reuse}, func() {
		h.scope = vars.Capture(g)
		f()
	})
}

func wrongUnits(n int) error {
	return tf.Errorf(tf.InvalidArgument, "a cell needs a positive number of units, got %d", n)
}

// checkNegative refuses a cell whose state could not have its size. One of no units is refused
// by its step.
func checkNegative(c Cell) error {
	if h, ok := c.(interface{ unitCount() int }); ok && h.unitCount() < 0 {
		return wrongUnits(h.unitCount())
	}
	return nil
}

func (h *home) unitCount() int { return h.units }

// check reports what a step cannot be computed from.
func (h *home) check(c Cell, x tf.Output, s State) error {
	if x.Err() != nil {
		return x.Err()
	}
	if h.units <= 0 {
		return wrongUnits(h.units)
	}
	in := x.Shape()
	if !x.DType().IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "RNN cell only supports floating point inputs, but received dtype: %v", x.DType())
	}
	if len(in) < 2 || in[len(in)-1] < 0 {
		return tf.Errorf(tf.InvalidArgument, "Expected inputs.shape[-1] to be known, received shape: %v", in)
	}
	if h.built && h.in != in[len(in)-1] {
		return tf.Errorf(tf.InvalidArgument, "the cell was built for inputs of size %d, got %v", h.in, x)
	}
	return checkState(c, s)
}

// checkState reports a state that is not one of c.
func checkState(c Cell, s State) error {
	sizes := c.StateSize()
	if len(s) != len(sizes) {
		return tf.Errorf(tf.InvalidArgument, "Expected state to be a tuple of length %d, but received: %d tensors", len(sizes), len(s))
	}
	for i, x := range s {
		if err := x.Err(); err != nil {
			return err
		}
		if have := x.Shape(); have != nil && (len(have) < 2 || sizes[i] >= 0 && have[1] >= 0 && have[1] != sizes[i]) {
			return tf.Errorf(tf.InvalidArgument, "tensor %d of the state must be [batch %d], got %v", i, sizes[i], x)
		}
	}
	return nil
}

// failed returns an output and a state that carry err.
func failed(c Cell, x tf.Output, kind string, err error) (tf.Output, State) {
	if x.Err() != nil {
		return poisoned(c, x)
	}
	return poisoned(c, tf.Failed(x.Graph(), kind, err).Output(0))
}

func poisoned(c Cell, bad tf.Output) (tf.Output, State) {
	s := make(State, len(c.StateSize()))
	for i := range s {
		s[i] = bad
	}
	return bad, s
}

// get gets a variable of the cell; init is the cell's own initializer, nil for the
// scope's.
func (h *home) get(in spec, name string, init initializers.Initializer, s ...int) (p parameter) {
	o := vars.Options{DType: in.dtype, Initializer: init, NotTrainable: h.o.NotTrainable}
	if vars.HasPartitioner(in.g) {
		p = vars.GetPartitioned(in.g, name, s, o).Value
	} else {
		p = vars.Get(in.g, name, s, o).Value
	}
	if y := p(); y.Err() != nil && h.bad.IsZero() {
		h.bad = y
	}
	return p
}

// A parameter returns the value of a variable.
type parameter func() tf.Output

// or returns the initializer that was chosen, or another one.
func or(chosen, other initializers.Initializer) initializers.Initializer {
	if chosen == nil {
		return other
	}
	return chosen
}

// An affine map is x·kernel + bias of concatenated inputs and state.
type affine struct{ kernel, bias parameter }

func (h *home) affine(in spec, from, to int, bias initializers.Initializer) affine {
	return affine{h.get(in, "kernel", h.o.KernelInitializer, from, to), h.get(in, "bias", bias, to)}
}

// of returns the map of x and s side by side.
func (a affine) of(x, s tf.Output) tf.Output {
	return ops.BiasAdd(ops.MatMul(ops.Concat(1, []tf.Output{x, s}), a.kernel()), a.bias())
}

// stepRows sequences are enough for each step to multiply its own inputs by the kernel. With
// fewer, one product for all steps reads the kernel less often.
const stepRows = 16

// ofInputs splits off the inputs' part x·W + bias of the map, for x [time batch in]. The loop reads
// p step by step, and adds of(p[t]) to the state's part.
//
// With stepRows sequences or more, p is x, and each step computes its own product. One product for
// all steps would be several times as large as x: the loop would read it from memory, and its gradient
// would be written there, and read twice. The gradients of kernel and bias are summed in the loop then.
// With fewer sequences, p is the product of all steps, and of returns its argument.
func (a affine) ofInputs(x, bias tf.Output) (p tf.Output, of func(tf.Output) tf.Output) {
	if s := x.Shape(); x.Graph().IsEager() || len(s) != 3 || s[1] < stepRows || x.DType() != tf.Float32 && x.DType() != tf.Float64 {
		return inputs(x, a.kernel(), bias), func(p tf.Output) tf.Output { return p }
	}
	w := inputKernel(a.kernel(), x.Shape()[2])
	return x, func(x tf.Output) tf.Output { return ops.BiasAdd(ops.MatMul(x, w), bias) }
}

// inputKernel returns the part of a kernel that inputs are multiplied by.
func inputKernel(kernel tf.Output, in int) tf.Output {
	return ops.Slice(kernel, []int{0, 0}, []int{in, -1})
}

// inputs returns x [... in] times the first rows of a kernel, plus a bias.
func inputs(x, kernel, bias tf.Output) tf.Output {
	in := x.Shape()[len(x.Shape())-1]
	flat := ops.BiasAdd(ops.MatMul(ops.Reshape(x, []int{-1, in}), inputKernel(kernel, in)), bias)
	s := x.Shape()
	last := kernel.Shape()[1]
	if len(s) == 2 {
		return flat
	}
	front := ops.Slice(ops.Shape(x), []int{0}, []int{len(s) - 1})
	y := ops.Reshape(flat, ops.Concat(0, []tf.Output{front, author.AsInts(x, []int{last})}))
	if y.Err() == nil {
		y.SetShape(append(append(tf.Shape{}, s[:len(s)-1]...), last))
	}
	return y
}

// stateKernel returns the part of the kernel that the state is multiplied by.
func (a affine) stateKernel(in int) tf.Output {
	return ops.Slice(a.kernel(), []int{in, 0}, []int{-1, -1})
}

// spec is what variables have to know of the inputs.
type spec struct {
	g     *tf.Graph
	dtype tf.DType
	size  int
}
