package estimator

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// InMemoryOptions adjust [InMemoryEvaluator].
type InMemoryOptions struct {
	Steps int64 // batches at most; 0: until the input ends
	Hooks []train.Hook
	Name  string // tells evaluations on several datasets apart
	// Every is after how many steps of training the model is evaluated; 0: 100.
	Every int64
}

// InMemoryEvaluator returns a hook that evaluates the model of e while it trains,
// without checkpoints: TensorFlow's InMemoryEvaluatorHook. It evaluates before the
// first step, every so many steps, and at the end, and writes summaries to
// [Estimator.EvalDir]. The hook is for a model without a saver or initial values of
// its own, on a single machine, and for one training at a time.
func InMemoryEvaluator(e *Estimator, input InputFn, o InMemoryOptions) (train.Hook, error) {
	switch {
	case e == nil || input == nil:
		return nil, tf.Errorf(tf.InvalidArgument, "InMemoryEvaluator needs an estimator and an input function (called at %s)", caller())
	case o.Every < 0:
		return nil, e.wrong("invalid every_n_iter=%d.", o.Every)
	case o.Steps < 0:
		return nil, e.wrong("Must specify steps > 0, given: %d", o.Steps)
	case slices.Contains(o.Hooks, nil):
		return nil, e.wrong("hooks must not be nil")
	}
	if c := e.config.Cluster; c != nil && (len(c.Jobs[PS]) > 0 || len(c.Jobs[Worker]) > 0) {
		return nil, e.wrong("InMemoryEvaluator supports only single machine (aka Local) setting.")
	}
	if o.Every == 0 {
		o.Every = 100
	}
	return &inMemory{e: e, input: input, o: o}, nil
}

// inMemory has a graph of evaluation, whose variables get the values of the graph
// that is trained before each evaluation.
type inMemory struct {
	train.BaseHook
	e     *Estimator
	input InputFn
	o     InMemoryOptions

	steps  int64 // since training began
	last   int64 // at which the model was evaluated
	b      *build
	all    map[string]Metric
	shared []sharedVariable
}

// A sharedVariable is one that both graphs have.
type sharedVariable struct {
	value tf.Output     // in the graph that is trained
	feed  tf.Output     // a placeholder in that of evaluation
	set   *tf.Operation // assigns feed to the variable
}

func (h *inMemory) Begin(*tf.Graph) error {
	h.steps, h.last, h.b, h.shared = 0, 0, nil, nil
	return nil
}

// AfterCreateSession makes the graph, and evaluates the model as it is before
// training. Another session of the same training finds the graph made.
func (h *inMemory) AfterCreateSession(ctx context.Context, s *session.Session, _ *train.Coordinator) error {
	if h.b == nil {
		if err := h.build(ctx, s.Graph()); err != nil {
			return err
		}
	}
	return h.evaluate(ctx, s)
}

func (h *inMemory) build(ctx context.Context, trained *tf.Graph) error {
	b, err := h.e.build(ctx, Eval, h.input)
	if err != nil {
		return err
	}
	own := *b.scaffold() // the model's may be used in other graphs, too
	switch sc := &own; {
	case sc.Saver != nil:
		return h.e.wrong("InMemoryEvaluator does not support custom saver")
	case sc.InitFn != nil:
		return h.e.wrong("InMemoryEvaluator does not support custom init_fn")
	}
	if h.all, err = b.metrics(); err != nil {
		return h.e.wrong("%s", tf.AsError(err).Message())
	}
	b.spec.Scaffold = &own
	h.share(b.g, trained)
	if err := b.g.Err(); err != nil {
		return err
	}
	h.b = b
	return nil
}

// share finds the variables that both graphs have.
func (h *inMemory) share(g, trained *tf.Graph) {
	byName := map[string]*tf.Variable{}
	for _, v := range tf.Variables(trained, tf.GlobalVariables) {
		byName[v.Name()] = v
	}
	g.Scope("in_memory", func() {
		for _, v := range tf.Variables(g, tf.GlobalVariables) {
			if from := byName[v.Name()]; from != nil {
				x := ops.Placeholder(g, v.DType(), v.Shape())
				h.shared = append(h.shared, sharedVariable{from.Value(), x, v.Assign(x)})
			}
		}
	})
}

// evaluate takes the values of the session that trains to another one.
func (h *inMemory) evaluate(ctx context.Context, s *session.Session) error {
	var values, sets []tf.Fetchable
	for _, v := range h.shared {
		values, sets = append(values, v.value), append(sets, v.set)
	}
	now, err := s.Run(ctx, nil, values...)
	if err != nil {
		return err
	}
	feeds := session.Feeds{}
	for i, v := range h.shared {
		feeds[v.feed] = now[i]
	}
	h.b.scaffold().InitFn = func(ctx context.Context, _ *train.Scaffold, s *session.Session) error {
		_, err := s.Run(ctx, feeds, sets...)
		return err
	}
	out, err := h.e.evaluate(ctx, h.b, maps.Clone(h.all), "", EvalOptions{Steps: h.o.Steps, Hooks: h.o.Hooks})
	if err != nil {
		return err
	}
	h.last = h.steps
	return h.e.summarize(out, h.o.Name, "")
}

func (h *inMemory) AfterRun(ctx context.Context, r *train.RunContext, _ train.RunValues) error {
	if h.steps++; h.steps-h.last < h.o.Every {
		return nil
	}
	return h.evaluate(ctx, r.Session)
}

// End evaluates the model as training leaves it.
func (h *inMemory) End(ctx context.Context, s *session.Session) error { return h.evaluate(ctx, s) }

// StopAtCheckpointStep returns a hook that ends training at a global step:
// TensorFlow's make_stop_at_checkpoint_step_hook. In a worker of a cluster it waits
// until a checkpoint of that step or a later one has been saved, and looks for it
// each time a step has been done, with a pause after each look; 0 stands for 30 s.
func StopAtCheckpointStep(e *Estimator, step int64, pause time.Duration) (train.Hook, error) {
	switch {
	case e == nil:
		return nil, tf.Errorf(tf.InvalidArgument, "StopAtCheckpointStep needs an estimator (called at %s)", caller())
	case step < 1:
		return nil, e.wrong("last_step must be positive, got %d", step)
	case e.config.Cluster.IsChief():
		return &train.StopAtStepHook{LastStep: step}, nil
	}
	return &checkpointStop{e: e, last: step, pause: positive(pause, 30*time.Second)}, nil
}

// checkpointStop is the hook of a worker.
type checkpointStop struct {
	train.BaseHook
	e     *Estimator
	last  int64
	pause time.Duration
	step  *tf.Variable
}

func (h *checkpointStop) Begin(g *tf.Graph) error {
	h.step = train.GlobalStep(g)
	return nil
}

func (h *checkpointStop) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	return train.RunArgs{Fetches: []tf.Fetchable{h.step.Value()}}, nil
}

// AfterRun may see the step as it was before the step that has been run.
func (h *checkpointStop) AfterRun(ctx context.Context, r *train.RunContext, v train.RunValues) error {
	n, err := v.Results[0].Ints()
	if err != nil || len(n) != 1 || int64(n[0])+1 < h.last {
		return err
	}
	saved, err := h.e.GlobalStep()
	if err != nil {
		return err
	}
	if saved >= h.last {
		r.RequestStop()
		return nil
	}
	return sleep(ctx, h.pause)
}
