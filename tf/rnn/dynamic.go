package rnn

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Opts are what may be chosen for a network that runs a cell over sequences.
type Opts struct {
	// Lengths are those of the sequences, int32 or int64 [batch]; the zero Output
	// stands for the whole time. Behind the end of a sequence outputs are 0 and
	// its state stays. A length beyond the time is an error of the step.
	Lengths   tf.Output
	Initial   State    // nil stands for zeros
	DType     tf.DType // of the state of zeros; that of the inputs if it is not set
	TimeMajor bool     // inputs and outputs are [time batch size]
	// Parallel is how many steps may be under way at once; 0 stands for 32.
	Parallel int
	// SwapMemory allows devices to move what gradients need to the host.
	SwapMemory bool
	Scope      string // the variable scope; "" stands for "rnn"
}

// A hoister is a cell of which a part depends on inputs alone: it may be computed for
// all steps at once, before the loop, by one large product.
type hoister interface {
	// hoist returns what steps read of x [time batch in], values p [time batch ...],
	// and what adds a step on a step's part of each. s has the states' shapes. No
	// step: there is no such part.
	hoist(x tf.Output, s State) (p []tf.Output, step stepper)
}

// A stepper adds a step, on one value or on what hoist returns.
type stepper func(x []tf.Output, s State) (y tf.Output, next State)

// stepOf returns the stepper that is a cell's Step.
func stepOf(c Cell) stepper {
	return func(x []tf.Output, s State) (tf.Output, State) { return c.Step(x[0], s) }
}

// inside is step in the cell's scope.
func (h *home) inside(step stepper) stepper {
	return func(x []tf.Output, s State) (y tf.Output, next State) {
		h.within(x[0].Graph(), func() { y, next = step(x, s) })
		return y, next
	}
}

// DynamicRNN runs a cell over sequences x [batch time in], by a loop. It returns the
// outputs [batch time out] and the last state of each sequence.
func DynamicRNN(c Cell, x tf.Output, o ...Opts) (y tf.Output, last State) {
	opt := first(o)
	if c = given(c); x.Err() != nil {
		return poisoned(c, x)
	}
	vars.Scope(x.Graph(), cmp.Or(opt.Scope, "rnn"), vars.ScopeOptions{}, func() {
		r := &run{c: c, o: opt}
		if err := r.prepare(x); err != nil {
			y, last = failed(c, x, "rnn", err)
			return
		}
		y, last = r.loop()
	})
	return y, last
}

// run is one application of DynamicRNN.
type run struct {
	c       Cell
	o       Opts
	step    stepper
	dtype   tf.DType    // of outputs
	x       tf.Output   // time first
	parts   []tf.Output // what steps read, time first: x, unless a part of the cell is hoisted
	time    tf.Output   // how many steps there are
	batch   tf.Output
	state   State
	lengths tf.Output // int32, or the zero Output
}

// prepare checks what is given, and completes it.
func (r *run) prepare(x tf.Output) error {
	if r.c == (missing{}) {
		return errMissing
	}
	s := x.Shape()
	if len(s) != 3 || s[2] < 0 {
		return tf.Errorf(tf.InvalidArgument, "Input size (depth of inputs) must be accessible via shape inference: a network needs inputs [batch time in], got %v", x)
	}
	if r.x = x; !r.o.TimeMajor {
		r.x = ops.Transpose(x, []int{1, 0, 2})
	}
	sizes := ops.Shape(r.x)
	r.time, r.batch = sizeAt(r.x, sizes, 0), sizeAt(r.x, sizes, 1)
	if r.dtype = r.o.DType; r.dtype == tf.Invalid {
		r.dtype = x.DType()
	}
	if err := checkNegative(r.c); err != nil { // before there is a state of such a size
		return err
	}
	if r.state = r.o.Initial; r.state == nil {
		r.state = ZeroState(r.c, r.batch, r.dtype)
	}
	if err := r.checkState(); err != nil {
		return err
	}
	if len(r.state) > 0 {
		r.dtype = r.state[0].DType()
	}
	if err := r.checkLengths(); err != nil {
		return err
	}
	r.hoist()
	return nil
}

// sizeAt returns a size as a constant if it is known.
func sizeAt(x, sizes tf.Output, i int) tf.Output {
	if n := x.Shape()[i]; n >= 0 {
		return ops.Scalar(x.Graph(), int32(n))
	}
	return sizes.At("?", ops.Scalar(x.Graph(), int32(i)))
}

// checkState reports a state that is not one of the cell for such inputs.
func (r *run) checkState() error {
	if err := checkState(r.c, r.state); err != nil {
		return err
	}
	r.state = ranked(r.c, r.state)
	return r.checkBatch()
}

// ranked returns a state of c whose tensors have the rank that states have, where the graph
// does not know it: the step compares.
func ranked(c Cell, s State) State {
	out := slices.Clone(s)
	for i, size := range c.StateSize() {
		if out[i].Shape() == nil {
			out[i] = ops.EnsureShape(out[i], tf.Shape{-1, size})
		}
	}
	return out
}

// checkBatch compares the batch of the state with that of the inputs.
func (r *run) checkBatch() error {
	n := r.x.Shape()[1]
	for i, s := range r.state {
		if have := s.Shape(); len(have) > 0 && have[0] >= 0 && n >= 0 && have[0] != n {
			return tf.Errorf(tf.InvalidArgument, "tensor %d of the state must be that of %d sequences, as the inputs are, got %v", i, n, s)
		}
	}
	return nil
}

func (r *run) checkLengths() error {
	n := r.o.Lengths
	if n.IsZero() {
		return nil
	}
	if err := n.Err(); err != nil {
		return err
	}
	if s := n.Shape(); s != nil && len(s) != 1 || n.DType() != tf.Int32 && n.DType() != tf.Int64 {
		return tf.Errorf(tf.InvalidArgument, "sequence_length must be a vector of length batch_size, of type int32 or int64, got %v", n)
	}
	if a, b := n.Shape(), r.x.Shape()[1]; a != nil && a[0] >= 0 && b >= 0 && a[0] != b {
		return tf.Errorf(tf.InvalidArgument, "there must be a length for each of %d sequences, got %v", b, n)
	}
	fits := n.LessEqual(r.time.Cast(n.DType())).And(n.GreaterEqual(0)).All() // before 64 bits become 32
	checks := []*tf.Operation{ops.Assert(fits, []tf.Output{ops.Scalar(n.Graph(), "sequence_length must be at least 0 and at most the time: "), n, r.time})}
	if s := n.Shape(); s == nil || s[0] < 0 || r.x.Shape()[1] < 0 {
		checks = append(checks, r.assertLengths(n))
	}
	n.Graph().ControlDependencies(checks, func() { r.lengths = ops.Identity(n.Cast(tf.Int32)) })
	return nil
}

// assertLengths adds what checks, in the step, that there is a length for each sequence.
func (r *run) assertLengths(n tf.Output) *tf.Operation {
	want, have := ops.ExpandDims(r.batch, 0), ops.Shape(n)
	text := func(s string) tf.Output { return ops.Scalar(n.Graph(), s) }
	return ops.Assert(have.Equal(want).All(), []tf.Output{text("Expected shape for Tensor " + n.Name() + ", sequence_length, is "), want, text(" but saw shape: "), have})
}

// hoist computes what depends on inputs alone before the loop, if the cell has
// such a part.
func (r *run) hoist() {
	r.step, r.parts = stepOf(r.c), []tf.Output{r.x}
	h, ok := r.c.(hoister)
	if !ok {
		return
	}
	if p, step := h.hoist(r.x, r.state); step != nil && firstErr(p) == nil {
		r.parts, r.step = p, step
	}
}

// A sequencer is a cell that computes all steps of sequences by one operation.
type sequencer interface {
	// sequence returns the outputs [time batch out] and the states before the first
	// step and after each of them, [time+1 batch size], of inputs [time batch in].
	// steps, an int64 scalar, is how many there are to compute.
	sequence(x tf.Output, s State, steps tf.Output) (y tf.Output, states State)
}

// whole runs a sequencer.
func (r *run) whole(c sequencer) (tf.Output, State) {
	y, states := c.sequence(r.x, r.state, r.bound().Cast(tf.Int64))
	if y.Err() != nil {
		return poisoned(r.c, y)
	}
	last := make(State, len(states))
	if r.lengths.IsZero() {
		for i, s := range states {
			last[i] = s.At("-1")
		}
		return r.finish(y), last
	}
	g := y.Graph()
	zero, one := ops.Scalar(g, int32(0)), ops.Scalar(g, int32(1))
	at := ops.Stack([]tf.Output{r.lengths, ops.Range(nil, zero, r.batch, one)}, 1)
	for i, s := range states {
		last[i] = ops.GatherNd(s, at)
	}
	runs := ops.Less(ops.ExpandDims(ops.Range(nil, zero, r.time, one), 1), ops.ExpandDims(r.lengths, 0))
	shape := y.Shape()
	if y = ops.SelectV2(ops.ExpandDims(runs, 2), y, ops.ZerosLike(y)); y.Err() == nil {
		y.SetShape(shape)
	}
	return r.finish(y), last
}

// loop runs the cell.
func (r *run) loop() (tf.Output, State) {
	if c, ok := r.c.(sequencer); ok && r.x.DType() == tf.Float32 {
		return r.whole(c)
	}
	g := r.x.Graph()
	if g.IsEager() {
		return r.unrolled()
	}
	in := r.arrays()
	shape := tf.Shape{r.x.Shape()[1], r.c.OutputSize()}
	out := ops.NewTensorArray(r.time, r.dtype, ops.TensorArrayOpts{ElementShape: shape})
	bound := r.bound()
	vars := append([]tf.Output{ops.Scalar(g, int32(0)), out.Flow()}, r.state...)
	end := tf.While(vars, func(v []tf.Output) tf.Output { return v[0].Less(bound) }, func(v []tf.Output) []tf.Output {
		y, next := r.masked(v[0], r.readAll(in, v[0]), v[2:])
		flow := out.WithFlow(v[1]).Write(v[0], y).Flow()
		return append([]tf.Output{v[0].Add(1), flow}, next...)
	}, r.options(vars))
	if end[0].Err() != nil {
		return poisoned(r.c, end[0])
	}
	y := out.WithFlow(end[1]).Stack()
	y.SetShape(append(tf.Shape{r.x.Shape()[0]}, shape...))
	return r.finish(y), State(end[2:])
}

// arrays returns the arrays of what steps read, each value once.
func (r *run) arrays() []ops.TensorArray {
	in := make([]ops.TensorArray, len(r.parts))
	for k, x := range r.parts {
		if i := slices.Index(r.parts, x); i < k {
			in[k] = in[i]
			continue
		}
		in[k] = ops.NewTensorArray(r.time, x.DType(), ops.TensorArrayOpts{ElementShape: x.Shape()[1:]}).Unstack(x)
	}
	return in
}

// readAll returns what a step reads.
func (r *run) readAll(in []ops.TensorArray, time tf.Output) []tf.Output {
	x := make([]tf.Output, len(in))
	for k, a := range in {
		if i := slices.Index(r.parts, r.parts[k]); i < k {
			x[k] = x[i]
			continue
		}
		x[k] = a.Read(time)
	}
	return x
}

// firstErr returns the first error of some outputs.
func firstErr(xs []tf.Output) error {
	for _, x := range xs {
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// options are those of the loop.
func (r *run) options(vars []tf.Output) tf.WhileOpts {
	o := tf.WhileOpts{ParallelIterations: cmp.Or(r.o.Parallel, 32), SwapMemory: r.o.SwapMemory, MaximumIterations: r.time}
	for i, v := range vars {
		s := v.Shape()
		if i >= 2 { // what a step makes of a state may know less of the batch
			s = append(tf.Shape{r.x.Shape()[1]}, v.Shape()[1:]...)
			if v.Shape()[0] < 0 {
				s[0] = -1
			}
		}
		o.ShapeInvariants = append(o.ShapeInvariants, s)
	}
	return o
}

// bound returns the number of steps: those of the longest sequence, one at least
// if there is time.
func (r *run) bound() tf.Output {
	if r.lengths.IsZero() {
		return r.time
	}
	return ops.Minimum(r.time, r.lengths.Max().Maximum(1))
}

// masked adds a step that leaves sequences as they are that have ended.
func (r *run) masked(time tf.Output, x []tf.Output, s State) (tf.Output, State) {
	y, next := r.step(x, s)
	if r.lengths.IsZero() || y.Err() != nil {
		return y, next
	}
	ended := time.GreaterEqual(r.lengths)
	kept := make(State, len(next))
	for i := range next {
		kept[i] = ops.Select(ended, s[i], next[i])
		kept[i].SetShape(next[i].Shape())
	}
	out := ops.Select(ended, ops.ZerosLike(y), y)
	out.SetShape(y.Shape())
	return out, kept
}

// unrolled runs the cell in an eager graph, where loops are Go's.
func (r *run) unrolled() (tf.Output, State) {
	var out []tf.Output
	s := r.state
	if r.x.Shape()[0] == 0 { // there is nothing to stack
		g := r.x.Graph()
		sizes := ops.Stack([]tf.Output{ops.Scalar(g, int32(0)), r.batch, ops.Scalar(g, int32(r.c.OutputSize()))}, 0)
		return r.finish(ops.Fill(sizes, ops.Scalar(g, int32(0)).Cast(r.dtype))), s
	}
	parts := make([][]tf.Output, len(r.parts))
	for k, x := range r.parts {
		parts[k] = x.Unstack(0)
	}
	for i := range parts[0] {
		x := make([]tf.Output, len(parts))
		for k := range parts {
			x[k] = parts[k][i]
		}
		y, next := r.masked(ops.Scalar(x[0].Graph(), int32(i)), x, s)
		if y.Err() != nil {
			return poisoned(r.c, y)
		}
		out, s = append(out, y), next
	}
	return r.finish(ops.Stack(out, 0)), s
}

// finish returns outputs in the order of dimensions that is asked for.
func (r *run) finish(y tf.Output) tf.Output {
	if r.o.TimeMajor {
		return y
	}
	return ops.Transpose(y, []int{1, 0, 2})
}
