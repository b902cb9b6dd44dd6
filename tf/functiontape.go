package tf

import "slices"

// taped is a function as an eager graph calls it while tapes are recording: it
// returns what its gradient needs in addition, and the gradient is a function
// that takes that. Each tape around another may ask for gradients of what the
// gradient takes, which need more again.
type taped struct {
	args   []Output
	levels []tapeLevel
	err    error
}

// tapeLevel is what one more tape needs.
type tapeLevel struct {
	of       []Output  // results that backward takes gradients of
	forward  *Function // returns those and what backward needs
	backward *Function
	takes    []Output       // of forward: the arguments and results that backward takes after gradients
	forms    []gradientForm // of the gradients that backward returns, by argument
}

// onTape returns f for calls that n tapes record.
func (f *Function) onTape(n int) *taped {
	if f.tape == nil {
		f.tape = &taped{args: slices.Concat(f.own, f.inner)}
	}
	for t := f.tape; len(t.levels) < n && t.err == nil; {
		t.err = t.addLevel(f)
	}
	return f.tape
}

func (t *taped) addLevel(f *Function) error {
	rets := f.rets
	if n := len(t.levels); n > 0 {
		rets = t.levels[n-1].forward.rets
	}
	dys := make([]Output, len(rets))
	for k, x := range rets {
		if trainable(x.DType()) {
			dys[k] = x
		}
	}
	w, err := newBackward(&binding{f: f, name: f.name, args: t.args, rets: rets}, dys, nil, nil)
	if err != nil {
		return err
	}
	l := tapeLevel{of: rets, backward: w.fn}
	for _, dx := range w.dxs {
		l.forms = append(l.forms, dx.form())
	}
	w.finish(l.forms)
	l.takes = w.fn.close(f.outer)
	l.forward = &Function{name: f.name + "_forward", outer: f.outer, body: f.body, own: t.args, rets: slices.Concat(rets, w.more), inside: map[Output]Output{}, effects: f.effects}
	t.levels = append(t.levels, l)
	return w.fn.err
}

// close makes what f captures arguments of its own, and returns it.
func (f *Function) close(outer *Graph) (captured []Output) {
	captured = f.captured
	f.own, f.outer = append(f.own, f.inner...), outer
	f.captured, f.inner, f.intercept = nil, nil, nil
	return captured
}

// callTaped calls f in an eager graph that records.
func (f *Function) callTaped(args []Output, opts []Option) []Output {
	g := f.outer
	t := f.onTape(g.eager.tapes)
	if t.err != nil {
		return failed(g, f.name, t.err)
	}
	in := append(slices.Clone(args), f.captured...)
	forward := t.levels[g.eager.tapes-1].forward
	var out []Output
	g.StopRecording(func() { out = forward.Call(in, opts...) })
	if len(out) == 0 || out[0].Err() != nil {
		return out
	}
	op := out[0].op
	op.in, op.grad = in, t.gradients
	g.eager.taped = append(g.eager.taped, op)
	return out[:len(f.rets)]
}

// gradients calls the gradient that takes all of dy that there is.
func (t *taped) gradients(op *Operation, dy []Output) []Gradient {
	last := len(dy)
	for last > 0 && dy[last-1].IsZero() {
		last--
	}
	i := 0
	for i < len(t.levels)-1 && len(t.levels[i].of) < last {
		i++
	}
	l := &t.levels[i]
	grads := make([]Gradient, len(op.in))
	if !anyGradient(l.forms) {
		return grads
	}
	out := l.backward.Call(l.inputs(t, op, dy))
	if err := out[0].Err(); err != nil {
		grads[0] = Dense(out[0])
		return grads
	}
	for i, f := range l.forms {
		grads[i], out = f.take(out)
	}
	return grads
}

// inputs returns what the gradient takes for a call op of forward.
func (l *tapeLevel) inputs(t *taped, op *Operation, dy []Output) (in []Output) {
	for k, x := range l.of {
		switch {
		case !trainable(x.DType()):
		case dy[k].IsZero():
			in = append(in, zerosLike(op.Output(k)))
		default:
			in = append(in, dy[k])
		}
	}
	for _, x := range l.takes {
		if k := slices.Index(t.args, x); k >= 0 {
			in = append(in, op.in[k])
		} else {
			in = append(in, op.Output(slices.Index(l.forward.rets, x)))
		}
	}
	return in
}
