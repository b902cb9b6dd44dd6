package rnn

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A RawStep is what the function of a [RawRNN] decides before a step.
type RawStep struct {
	Finished tf.Output   // bool [batch]: which sequences have ended
	Input    tf.Output   // [batch in] of the step
	State    State       // of the cell
	Emit     tf.Output   // what the network returns for the step before
	Loop     []tf.Output // values of the function's own, which may be none
}

// RawRNN runs a cell over inputs that decide says, as long as one sequence has
// not ended. Decide is called to add the operations before the first step, with
// time 0, the zero Output as output and no state, and before the others, with
// the number, the output and the state of the step and its own values. Of the
// first call Emit says the shape and type of what is emitted; the zero Output
// stands for the cell's outputs. Where a sequence has ended zeros are emitted.
func RawRNN(g *tf.Graph, c Cell, decide func(time, output tf.Output, s State, loop []tf.Output) RawStep, o ...Opts) (emitted ops.TensorArray, last State, loop []tf.Output) {
	opt := first(o)
	c = given(c)
	if g == nil || decide == nil {
		err := tf.Errorf(tf.InvalidArgument, "a raw network needs a graph and a function that decides, got nil")
		bad, last := poisoned(c, tf.Failed(g, "raw_rnn", err).Output(0))
		return ops.TensorArray{}.WithFlow(bad), last, []tf.Output{bad}
	}
	vars.Scope(g, cmp.Or(opt.Scope, "rnn"), vars.ScopeOptions{}, func() {
		r := &raw{c: c, decide: decide}
		begin := decide(ops.Scalar(g, int32(0)), tf.Output{}, nil, nil)
		if bad := r.check(g, begin); !bad.IsZero() {
			_, last = poisoned(c, bad)
			loop, emitted = []tf.Output{bad}, ops.TensorArray{}.WithFlow(bad)
			return
		}
		emitted, last, loop = r.run(g, begin, opt)
	})
	return emitted, last, loop
}

// raw is one application of RawRNN.
type raw struct {
	c      Cell
	decide func(time, output tf.Output, s State, loop []tf.Output) RawStep
	zero   tf.Output // what is emitted for sequences that have ended
}

// check returns a mistake in the first step, if there is one.
func (r *raw) check(g *tf.Graph, s RawStep) (bad tf.Output) {
	for _, x := range append([]tf.Output{s.Finished, s.Input}, s.Loop...) {
		if x.Err() != nil {
			return tf.Failed(g, "raw_rnn", x.Err()).Output(0)
		}
	}
	if s.Finished.DType() != tf.Bool || len(s.Finished.Shape()) != 1 || len(s.Input.Shape()) < 2 {
		return tf.Failed(g, "raw_rnn", tf.Errorf(tf.InvalidArgument, "a raw network needs Finished, bool [batch], and inputs [batch in], got %v and %v", s.Finished, s.Input)).Output(0)
	}
	if r.c == (missing{}) {
		return tf.Failed(g, "raw_rnn", errMissing).Output(0)
	}
	if err := checkState(r.c, s.State); err != nil {
		return tf.Failed(g, "raw_rnn", err).Output(0)
	}
	return bad
}

func (r *raw) run(g *tf.Graph, begin RawStep, o Opts) (ops.TensorArray, State, []tf.Output) {
	n := sizeAt(begin.Input, ops.Shape(begin.Input), 0)
	r.zero = filled(n, r.c.OutputSize(), begin.Input.DType())
	if !begin.Emit.IsZero() {
		sizes := ops.Concat(0, []tf.Output{n.Reshape(1), ops.Shape(begin.Emit)})
		r.zero = ops.Fill(sizes, author.AsOperand(begin.Emit, 0))
		r.zero.SetShape(append(tf.Shape{begin.Input.Shape()[0]}, begin.Emit.Shape()...))
	}
	out := ops.NewTensorArray(ops.Scalar(g, int32(0)), r.zero.DType(), ops.TensorArrayOpts{DynamicSize: true, ElementShape: r.zero.Shape()})
	states := len(begin.State)
	loop := append([]tf.Output{ops.Scalar(g, int32(0)), begin.Finished, begin.Input, out.Flow()}, begin.State...)
	loop = append(loop, begin.Loop...)
	end := tf.While(loop,
		func(v []tf.Output) tf.Output { return v[1].All().Not() },
		func(v []tf.Output) []tf.Output { return r.step(v, states, out) },
		tf.WhileOpts{ParallelIterations: cmp.Or(o.Parallel, 32), SwapMemory: o.SwapMemory})
	if end[0].Err() != nil {
		_, s := poisoned(r.c, end[0])
		return out.WithFlow(end[0]), s, end[:1]
	}
	return out.WithFlow(end[3]), State(end[4 : 4+states]), end[4+states:]
}

// step adds one step of the loop over time, finished, input, flow, state and the
// function's values.
func (r *raw) step(v []tf.Output, states int, out ops.TensorArray) []tf.Output {
	time, finished, state, own := v[0], v[1], State(v[4:4+states]), v[4+states:]
	y, next := r.c.Step(v[2], state)
	time = time.Add(1)
	d := r.decide(time, y, next, own)
	emit := d.Emit
	if emit.IsZero() {
		emit = y
	}
	emit = ops.Select(finished, r.zero, emit)
	kept := make([]tf.Output, len(d.State))
	for i := range d.State {
		kept[i] = d.State[i]
		if i < len(state) {
			kept[i] = ops.Select(finished, state[i], d.State[i])
		}
	}
	flow := out.WithFlow(v[3]).Write(v[0], emit).Flow()
	all := append([]tf.Output{time, finished.Or(d.Finished), d.Input, flow}, kept...)
	return append(all, d.Loop...)
}
