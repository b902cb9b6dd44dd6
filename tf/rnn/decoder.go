package rnn

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A Decoder computes sequences step by step: a [BasicDecoder] or a
// [BeamDecoder].
type Decoder interface {
	graph() *tf.Graph
	// begin returns what has ended before the first step, its input, and a state.
	begin() (finished, input tf.Output, s State, err error)
	// emits returns the types and shapes of what step emits.
	emits() []emission
	// step adds a step. finished is what has ended with it, or before as well if
	// the decoder keeps account of that itself.
	step(time, input tf.Output, s State) (emit []tf.Output, next State, nextInput, finished tf.Output)
	// ownFinished reports whether the decoder keeps account of what has ended.
	ownFinished() bool
}

// A BasicDecoder runs a cell on the inputs that a helper gives.
type BasicDecoder struct {
	Cell    Cell
	Helper  Helper
	Initial State
	// Output is applied to the cell's outputs, if it is given: the Apply of a dense
	// layer of OutputSize units, which makes scores of classes.
	Output     func(x tf.Output) tf.Output
	OutputSize int // of what Output returns
	// Watch, if given, returns tensors of a state that are wanted of all steps, such as
	// the Weights of an [AttentionCell]: TensorFlow's alignment history.
	Watch func(s State) []tf.Output
}

// DecodeOpts are what may be chosen for decoding.
type DecodeOpts struct {
	MaxSteps tf.Output // an int32 scalar that ends decoding at the latest; the zero Output sets no limit
	// Impute makes outputs 0 behind the end of a sequence, and keeps the state that
	// it ended with.
	Impute     bool
	TimeMajor  bool // outputs are [time batch …]
	Parallel   int  // 0 stands for 32
	SwapMemory bool
	Scope      string // "" stands for "decoder"
}

// Decoded are the results of a BasicDecoder.
type Decoded struct {
	Output  tf.Output   // [batch time size]
	Samples tf.Output   // int32 [batch time]: what the helper has chosen
	State   State       // after the last step
	Lengths tf.Output   // int32 [batch]: of the sequences
	Watched []tf.Output // what Watch returns after each step, [batch time …]
}

// Decode adds the loop of a decoder until all sequences have ended.
func (d *BasicDecoder) Decode(o ...DecodeOpts) (out Decoded) {
	if err := d.check(); err != nil {
		bad := tf.Failed(nil, "decoder", err).Output(0)
		return Decoded{Output: bad, Samples: bad, State: State{bad}, Lengths: bad}
	}
	emitted, state, lengths := decode(d, first(o))
	return Decoded{Output: emitted[0], Samples: emitted[1], State: state, Lengths: lengths, Watched: emitted[2:]}
}

// check reports what a decoder lacks.
func (d *BasicDecoder) check() error {
	switch {
	case given(d.Cell) == (missing{}):
		return errMissing
	case d.Helper == nil:
		return tf.Errorf(tf.InvalidArgument, "a decoder needs a helper, got nil")
	case len(d.Initial) == 0:
		return tf.Errorf(tf.InvalidArgument, "a decoder needs the initial state of its cell, such as rnn.ZeroState, got none")
	}
	return nil
}

func (d *BasicDecoder) graph() *tf.Graph {
	_, x := d.Helper.First()
	return x.Graph()
}

func (d *BasicDecoder) begin() (finished, input tf.Output, s State, err error) {
	finished, input = d.Helper.First()
	for _, x := range []tf.Output{finished, input} {
		if x.Err() != nil {
			return finished, input, nil, x.Err()
		}
	}
	if d.Output != nil && d.OutputSize <= 0 {
		return finished, input, nil, tf.Errorf(tf.InvalidArgument, "a decoder with an output layer needs its OutputSize, got %d", d.OutputSize)
	}
	if err := checkState(d.Cell, d.Initial); err != nil {
		return finished, input, nil, err
	}
	return finished, input, d.Initial, d.checkWatch()
}

func (d *BasicDecoder) emits() []emission {
	size := d.Cell.OutputSize()
	if d.Output != nil {
		size = d.OutputSize
	}
	all := []emission{{d.Initial[0].DType(), tf.Shape{-1, size}}, {tf.Int32, tf.Shape{-1}}}
	for _, x := range d.watched(d.Initial) {
		all = append(all, emission{x.DType(), append(tf.Shape{-1}, x.Shape()[1:]...)})
	}
	return all
}

func (d *BasicDecoder) watched(s State) []tf.Output {
	if d.Watch == nil {
		return nil
	}
	return d.Watch(s)
}

// checkWatch reports tensors to watch that are not those of a batch.
func (d *BasicDecoder) checkWatch() error {
	for _, x := range d.watched(d.Initial) {
		if x.IsZero() || x.Err() == nil && len(x.Shape()) == 0 {
			return tf.Errorf(tf.InvalidArgument, "Watch must return tensors [batch …] of a state, got %v", x)
		}
		if x.Err() != nil {
			return x.Err()
		}
	}
	return nil
}

func (d *BasicDecoder) ownFinished() bool { return false }

func (d *BasicDecoder) step(time, input tf.Output, s State) ([]tf.Output, State, tf.Output, tf.Output) {
	y, next := d.Cell.Step(input, s)
	if d.Output != nil && y.Err() == nil {
		y = d.Output(y)
	}
	if y.Err() != nil {
		return []tf.Output{y, y}, next, y, y
	}
	ids := d.Helper.Sample(time, y)
	finished, x := d.Helper.Next(time, y, ids)
	return append([]tf.Output{y, ids}, d.watched(next)...), next, x, finished
}

// decode adds the loop. It returns what was emitted, [batch time …], the last
// state, and the lengths of the sequences.
func decode(d Decoder, o DecodeOpts) (emitted []tf.Output, last State, lengths tf.Output) {
	g := d.graph()
	if g == nil {
		g = tf.NewGraph() // what has no graph is a mistake, of which begin tells
	}
	vars.Scope(g, cmp.Or(o.Scope, "decoder"), vars.ScopeOptions{}, func() {
		finished, input, s, err := d.begin()
		if err != nil {
			bad := tf.Failed(g, "decoder", err).Output(0)
			emitted, last, lengths = []tf.Output{bad, bad, bad}, State{bad}, bad
			return
		}
		l := &decoding{d: d, o: o, g: g, states: len(s)}
		emitted, last, lengths = l.run(finished, input, s)
	})
	return emitted, last, lengths
}

// decoding is one loop of a decoder. Its variables are the time, what has ended,
// the lengths, the input, the arrays of what is emitted, and the state.
type decoding struct {
	d      Decoder
	o      DecodeOpts
	g      *tf.Graph
	specs  []emission
	arrays []ops.TensorArray
	states int
}

const (
	atTime = iota
	atFinished
	atLengths
	atInput
	atArrays
)

func (l *decoding) run(finished, input tf.Output, s State) ([]tf.Output, State, tf.Output) {
	zero := ops.Scalar(l.g, int32(0))
	if m := l.o.MaxSteps; !m.IsZero() {
		finished = finished.Or(m.Cast(tf.Int32).LessEqual(0))
	}
	loop := []tf.Output{zero, finished, ops.ZerosLike(finished.Cast(tf.Int32)), input}
	l.specs = l.d.emits()
	for i := range l.specs {
		e := &l.specs[i]
		if in := input.Shape(); len(in) > 0 { // known sizes make even no steps a tensor
			e.shape[0] = in[0]
		}
		a := ops.NewTensorArray(zero, e.dtype, ops.TensorArrayOpts{DynamicSize: true, ElementShape: e.shape})
		l.arrays, loop = append(l.arrays, a), append(loop, a.Flow())
	}
	loop = append(loop, s...)
	end := tf.While(loop, func(v []tf.Output) tf.Output { return v[atFinished].All().Not() }, l.body,
		tf.WhileOpts{ParallelIterations: cmp.Or(l.o.Parallel, 32), SwapMemory: l.o.SwapMemory, ShapeInvariants: l.invariants(loop)})
	if end[0].Err() != nil {
		bad := end[0]
		return []tf.Output{bad, bad, bad}, State{bad}, bad
	}
	var emitted []tf.Output
	for i, a := range l.arrays {
		emitted = append(emitted, l.batchFirst(a.WithFlow(end[atArrays+i]).Stack()))
	}
	return emitted, State(end[len(end)-l.states:]), end[atLengths]
}

// invariants lets the batch be unknown, which steps may not tell.
func (l *decoding) invariants(loop []tf.Output) (out []tf.Shape) {
	for i, v := range loop {
		s := v.Shape().Clone()
		if i >= atFinished && len(s) > 0 && (i < atArrays || i >= atArrays+len(l.specs)) {
			s[0] = -1
		}
		out = append(out, s)
	}
	return out
}

func (l *decoding) body(v []tf.Output) []tf.Output {
	time, finished := v[atTime], v[atFinished]
	state := State(v[len(v)-l.states:])
	emit, next, input, ended := l.d.step(time, v[atInput], state)
	if emit[0].Err() != nil {
		return []tf.Output{emit[0]}
	}
	if !l.d.ownFinished() {
		ended = ended.Or(finished)
	}
	if m := l.o.MaxSteps; !m.IsZero() {
		ended = ended.Or(time.Add(1).GreaterEqual(m.Cast(tf.Int32)))
	}
	lengths := ops.SelectV2(finished, v[atLengths], ops.ZerosLike(v[atLengths]).Add(time.Add(1)))
	out := []tf.Output{time.Add(1), ended, lengths, input}
	for i, a := range l.arrays {
		y := emit[i]
		if l.o.Impute {
			y = ops.Select(finished, ops.ZerosLike(y), y)
		}
		out = append(out, a.WithFlow(v[atArrays+i]).Write(time, y).Flow())
	}
	for i := range next {
		x := next[i]
		if l.o.Impute {
			x = ops.Select(finished, state[i], x)
		}
		out = append(out, x)
	}
	return out
}

func (l *decoding) batchFirst(y tf.Output) tf.Output {
	if l.o.TimeMajor || y.Err() != nil {
		return y
	}
	perm := []int{1, 0}
	for i := 2; i < len(y.Shape()); i++ {
		perm = append(perm, i)
	}
	return ops.Transpose(y, perm)
}

// emission is the type and the shape of something that a step emits.
type emission struct {
	dtype tf.DType
	shape tf.Shape
}
