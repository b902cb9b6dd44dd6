package rnn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// BidirectionalOpts are Opts of a network of two directions, whose scope is
// bidirectional_rnn if there is none.
type BidirectionalOpts struct {
	Opts
	InitialBackward State // Initial is that of the forward cell
}

// Both are the results of the two directions.
type Both struct {
	Forward, Backward           tf.Output // [batch time out]
	ForwardState, BackwardState State
}

// Output returns both outputs side by side.
func (b Both) Output() tf.Output { return ops.Concat(-1, []tf.Output{b.Forward, b.Backward}) }

// BidirectionalRNN runs a cell forward and another one backward over
// sequences x [batch time in]. Such networks are those of Schuster and
// Paliwal (1997). Outputs of both are in the order of the inputs. Variables
// are bidirectional_rnn/fw/lstm_cell/kernel and bidirectional_rnn/bw/….
func BidirectionalRNN(forward, backward Cell, x tf.Output, o ...BidirectionalOpts) (b Both) {
	opt := first(o)
	forward, backward = given(forward), given(backward)
	if x.Err() != nil {
		b.Forward, b.ForwardState = poisoned(forward, x)
		b.Backward, b.BackwardState = poisoned(backward, x)
		return b
	}
	vars.Scope(x.Graph(), cmp.Or(opt.Scope, "bidirectional_rnn"), vars.ScopeOptions{}, func() {
		in := opt.Opts
		in.Scope = "fw"
		b.Forward, b.ForwardState = DynamicRNN(forward, x, in)
		in.Scope, in.Initial = "bw", opt.InitialBackward
		reversed, state := DynamicRNN(backward, in.reverse(x), in)
		b.Backward, b.BackwardState = in.reverse(reversed), state
	})
	return b
}

// reverse turns the time of sequences around, of each within its length.
func (o *Opts) reverse(x tf.Output) tf.Output {
	time, batch := 1, 0
	if o.TimeMajor {
		time, batch = 0, 1
	}
	if o.Lengths.IsZero() {
		return ops.Reverse(x, []int{time})
	}
	return ops.ReverseSequence(x, o.Lengths, time, ops.ReverseSequenceOpts{BatchDim: batch})
}

// StackBidirectional stacks networks of two directions: both outputs of each are
// the inputs of the next. It returns the output of the last, [batch time
// forward+backward], and the states of all. An Initial state is that of the forward cell of
// each; backward cells begin with zeros. Variables are
// stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/…. A mistake is in the output and
// in the states of all.
func StackBidirectional(forward, backward []Cell, x tf.Output, o ...Opts) (y tf.Output, states []Both) {
	opt := first(o)
	if x.Err() != nil {
		return x, poisonedBoth(forward, backward, x)
	}
	if len(forward) == 0 || len(forward) != len(backward) {
		err := tf.Errorf(tf.InvalidArgument, "Forward and Backward cells must have the same depth, of 1 at least: got %d and %d", len(forward), len(backward))
		bad := tf.Failed(x.Graph(), "stack_bidirectional_rnn", err).Output(0)
		return bad, poisonedBoth(forward, backward, bad)
	}
	y = x
	vars.Scope(x.Graph(), cmp.Or(opt.Scope, "stack_bidirectional_rnn"), vars.ScopeOptions{}, func() {
		opt.Scope = ""
		for i := range forward {
			vars.Scope(x.Graph(), fmt.Sprintf("cell_%d", i), vars.ScopeOptions{}, func() {
				b := BidirectionalRNN(forward[i], backward[i], y, BidirectionalOpts{Opts: opt})
				y, states = b.Output(), append(states, b)
			})
		}
	})
	return y, states
}

// poisonedBoth returns bad results for each network of a stack, of which cells of one
// direction may be missing.
func poisonedBoth(forward, backward []Cell, bad tf.Output) []Both {
	all := make([]Both, max(len(forward), len(backward)))
	for i := range all {
		var f, b Cell
		if i < len(forward) {
			f = forward[i]
		}
		if i < len(backward) {
			b = backward[i]
		}
		all[i] = BidirectionalRNN(f, b, bad)
	}
	return all
}

// StaticRNN runs a cell over inputs, one [batch in] for each step, without a loop:
// the graph has a copy of the cell for each. A mistake is in all outputs.
func StaticRNN(c Cell, xs []tf.Output, o ...Opts) (ys []tf.Output, last State) {
	opt := first(o)
	if c = given(c); len(xs) == 0 {
		bad, last := poisoned(c, tf.Failed(nil, "rnn", tf.Errorf(tf.InvalidArgument, "inputs must not be empty")).Output(0))
		return []tf.Output{bad}, last
	}
	refuse := func(err error) {
		var bad tf.Output
		bad, last = failed(c, xs[0], "rnn", err)
		ys = slices.Repeat([]tf.Output{bad}, len(xs))
	}
	if err := firstErr(xs); err != nil {
		refuse(err)
		return ys, last
	}
	opt.TimeMajor = true
	vars.Scope(xs[0].Graph(), cmp.Or(opt.Scope, "rnn"), vars.ScopeOptions{}, func() {
		r := &run{c: c, o: opt}
		if err := r.prepare(ops.Stack(xs, 0)); err != nil {
			refuse(err)
			return
		}
		last = r.state
		for i, x := range xs {
			var y tf.Output
			y, last = static(c, r, i, x, last)
			ys = append(ys, y)
		}
	})
	return ys, last
}

// static adds step i.
func static(c Cell, r *run, i int, x tf.Output, s State) (tf.Output, State) {
	r.step = stepOf(c)
	return r.masked(ops.Scalar(x.Graph(), int32(i)), []tf.Output{x}, s)
}
