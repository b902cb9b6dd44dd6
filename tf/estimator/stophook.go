package estimator

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// stopName is the variable by which a chief tells workers to stop, as in
// TensorFlow's estimators: they stop together, of whichever kind they are.
const stopName = "signal_early_stopping/STOP"

// StopIf returns a hook that ends training when stop says so. In a cluster it is
// asked by the chief.
func StopIf(stop func() (bool, error), o StopOptions) train.Hook {
	if o.Every == 0 && o.EverySteps == 0 {
		o.Every = time.Minute
	}
	return &stopHook{o: o, stop: stop}
}

// stopHook asks in the chief's process, or looks at the variable in a worker's.
// Without an estimator that has declared the variable it asks in any case.
type stopHook struct {
	train.BaseHook
	o      StopOptions
	stop   func() (bool, error)
	timer  train.SecondOrStepTimer
	step   *tf.Variable
	signal *stopSignal
}

// A stopSignal has the operations on the variable in one graph.
type stopSignal struct {
	chief      bool
	clear, set *tf.Operation
	isSet      tf.Output
}

// newStopSignal adds the variable. A checkpoint that it is not in would leave a
// variable of the collections without a value: then it is in none, and the chief
// gives it its first value.
func newStopSignal(g *tf.Graph, chief, saved bool) *stopSignal {
	s := &stopSignal{chief: chief}
	g.Scope("", func() {
		var handle tf.Output
		if saved {
			handle = tf.NewVariable(ops.Scalar(g, false), tf.VariableOptions{Name: stopName, NotTrainable: true}).Handle()
		} else {
			handle = ops.VarHandleOp(g, tf.Bool, tf.Shape{}, ops.VarHandleOpts{SharedName: stopName}, tf.Name(stopName))
		}
		s.clear = ops.AssignVariableOp(handle, ops.Scalar(g, false))
		s.set = ops.AssignVariableOp(handle, ops.Scalar(g, true))
		s.isSet = tf.Cond(ops.VarIsInitializedOp(handle),
			func() []tf.Output { return []tf.Output{ops.ReadVariableOp(handle, tf.Bool)} },
			func() []tf.Output { return []tf.Output{ops.Scalar(g, false)} })[0]
	})
	return s
}

// signalStops adds the variable for hooks that stop early, if there are any, before
// a saver is made.
func (e *Estimator) signalStops(b *build, hooks []train.Hook) error {
	var all []*stopHook
	for _, h := range hooks {
		if h, ok := h.(*stopHook); ok {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return nil
	}
	saved, err := e.hasSignal()
	if err != nil {
		return err
	}
	b.devices(func() {
		signal := newStopSignal(b.g, e.config.Cluster.IsChief(), saved)
		for _, h := range all {
			h.signal = signal
		}
	})
	return b.g.Err()
}

// hasSignal reports whether the latest checkpoint, if there is one, has the variable.
func (e *Estimator) hasSignal() (bool, error) {
	path, err := e.resumable()
	if path == "" || err != nil {
		return true, err
	}
	r, err := train.OpenCheckpoint(path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	return r.Has(stopName), nil
}

func (h *stopHook) Begin(g *tf.Graph) error {
	if h.stop == nil {
		return tf.Errorf(tf.InvalidArgument, "a hook that stops early needs a function that says when, or the estimator whose evaluations do")
	}
	if h.o.Every != 0 && h.o.EverySteps != 0 {
		return tf.Errorf(tf.InvalidArgument, "Only one of `run_every_secs` and `run_every_steps` must be set.")
	}
	h.timer = train.SecondOrStepTimer{Every: h.o.Every, EverySteps: h.o.EverySteps}
	h.step = train.GlobalStep(g)
	return nil
}

// AfterCreateSession takes back what an earlier training has left in the variable.
func (h *stopHook) AfterCreateSession(ctx context.Context, s *session.Session, _ *train.Coordinator) error {
	if h.signal == nil || !h.signal.chief {
		return nil
	}
	_, err := s.Run(ctx, nil, h.signal.clear)
	return err
}

func (h *stopHook) follows() bool { return h.signal != nil && !h.signal.chief }

func (h *stopHook) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	if h.follows() {
		return train.RunArgs{Fetches: []tf.Fetchable{h.signal.isSet}}, nil
	}
	return train.RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}, nil
}

func (h *stopHook) AfterRun(ctx context.Context, r *train.RunContext, v train.RunValues) error {
	if h.follows() {
		if tf.Data[bool](v.Results[0])[0] {
			r.RequestStop()
		}
		return nil
	}
	n, err := v.Results[0].Ints()
	if err != nil || len(n) != 1 || !h.timer.ShouldTrigger(int64(n[0])) {
		return err
	}
	h.timer.Update(int64(n[0]))
	stop, err := h.stop()
	if !stop || err != nil {
		return err
	}
	r.RequestStop()
	if h.signal != nil {
		_, err = r.Session.Run(ctx, nil, h.signal.set)
	}
	return err
}
