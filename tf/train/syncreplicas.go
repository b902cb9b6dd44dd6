package train

import (
	"context"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A SyncReplicas is an optimizer for several workers that update one model in
// step: it adds up what they compute, and the mean of ReplicasToAggregate
// gradients makes one update. Those that come too late, because they were
// computed with older variables, are dropped. With more workers than that, the
// slowest ones are backups, which a step does not wait for. With fewer, each
// worker computes several gradients for one update. The method is that of
// Chen et al. (arXiv:1604.00981).
//
// Only the chief should stop at a step: it might else wait for gradients of workers
// that have ended. When it closes its session, the others' end as at the end of their
// input.
//
// A worker that dies takes nothing from the others but its gradients: with backups
// they go on at once, else when another process has taken its place. Give the session
// of each worker session.DeviceFilters of the parameter servers and its own task: a
// session that begins waits for all tasks that it may use.
//
// The chief's session runs [SyncReplicas.Hook] with chief set, those of the other
// workers without. Accumulators and the queue of tokens have TensorFlow's names, so
// that Python's workers take part in the same training.
type SyncReplicas struct {
	Optimizer           Optimizer
	ReplicasToAggregate int
	TotalReplicas       int // 0: ReplicasToAggregate
	// GlobalStep counts updates; nil: that of the graph.
	GlobalStep *tf.Variable
	// Average, if given, is brought up to date after each update, for AverageVars.
	Average     *ExponentialMovingAverage
	AverageVars []*tf.Variable
	Name        string // "sync_replicas" if empty

	localStep     *tf.Variable
	localInit     *tf.Operation // of a worker
	chiefInit     *tf.Operation
	readyForLocal tf.Output
	tokens        tf.Output
	runner        *QueueRunner
}

// accumulated is a gradient on its way through an accumulator.
type accumulated struct {
	apply *tf.Operation
	mean  tf.Gradient
	reset *tf.Operation
}

// Minimize adds an operation with which a worker takes part in making loss smaller.
func (o *SyncReplicas) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	return minimize(o, loss, vars)
}

// withStep notes the variable that counts updates.
func (o *SyncReplicas) withStep(v *tf.Variable) {
	if o.GlobalStep == nil {
		o.GlobalStep = v
	}
}

// ApplyGradients adds the operation that hands a worker's gradients in and waits
// for the token of the next step; the update itself is part of the hook of the
// chief. A SyncReplicas has it called once.
func (o *SyncReplicas) ApplyGradients(gvs []GradVar) (*tf.Operation, error) {
	if err := o.check(gvs); err != nil {
		return nil, err
	}
	g := gvs[0].Var.Graph()
	g.AddToCollection(rareUpdates, o) // by several replicas' steps together
	o.addLocalStep(g)
	name := o.Name
	if name == "" {
		name = "sync_replicas"
	}
	var all []accumulated
	scope := ""
	g.Scope("", func() {
		g.Scope(name, func() {
			scope = g.CurrentScope()
			for _, gv := range gvs {
				beside(gv.Var, func() { all = append(all, o.accumulate(gv)) })
			}
		})
	})
	var op *tf.Operation
	var err error
	g.Scope("", func() { op, err = o.add(g, gvs, all) })
	if err != nil {
		return nil, err
	}
	inits := []*tf.Operation{o.localInit}
	for _, a := range all {
		inits = append(inits, a.reset)
	}
	g.Scope(scope, func() { o.chiefInit = tf.Group(g, "group_deps", inits...) })
	return op, g.Err()
}

func (o *SyncReplicas) check(gvs []GradVar) error {
	if len(gvs) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Must supply at least one variable")
	}
	if err := checkGrads(gvs); err != nil {
		return err
	}
	g := gvs[0].Var.Graph()
	switch {
	case g.IsEager():
		return tf.Errorf(tf.InvalidArgument, "replicas are synchronized by queues of a cluster: an eager graph has none")
	case o.Optimizer == nil:
		return noOptimizer("a SyncReplicas")
	case o.ReplicasToAggregate < 1 || o.TotalReplicas < 0:
		return tf.Errorf(tf.InvalidArgument, "the numbers of replicas must be positive, got %d of %d", o.ReplicasToAggregate, o.TotalReplicas)
	case o.runner != nil:
		return tf.Errorf(tf.FailedPrecondition, "a SyncReplicas applies gradients in one place, this is the second")
	}
	if o.TotalReplicas == 0 {
		o.TotalReplicas = o.ReplicasToAggregate
	}
	o.withStep(GetGlobalStep(g))
	if o.GlobalStep == nil {
		return tf.Errorf(tf.InvalidArgument, "Global step is required to check staleness")
	}
	if o.GlobalStep.DType() != tf.Int64 {
		return tf.Errorf(tf.InvalidArgument, "the global step of a SyncReplicas must be an int64, got %v", o.GlobalStep.DType())
	}
	return nil
}

// addLocalStep makes the variable in which a worker has the step that its
// gradients are computed in: where the worker's operations are.
func (o *SyncReplicas) addLocalStep(g *tf.Graph) {
	g.Scope("", func() {
		anchor := tf.Group(g, "NoOp")
		o.localStep = tf.NewVariable(ops.Scalar(g, int64(0)), tf.VariableOptions{Name: "sync_rep_local_step", NotTrainable: true, Local: true, Device: anchor.Device})
		beside(o.localStep, func() { o.localInit = o.localStep.Assign(o.GlobalStep.Read()) })
		globals := tf.Variables(g, tf.GlobalVariables)
		if !slices.Contains(globals, o.GlobalStep) {
			globals = append(globals, o.GlobalStep)
		}
		o.readyForLocal = vars.ReportUninitialized(g, globals...)
	})
}

// accumulate adds the accumulator of one gradient.
func (o *SyncReplicas) accumulate(gv GradVar) (a accumulated) {
	g, name := gv.Var.Graph(), queue.AccumulatorOpts{SharedName: gv.Var.Name() + ":0/grad_accum"}
	n := ops.Scalar(g, int32(o.ReplicasToAggregate))
	s, sparse := gv.Grad.IndexedSlices()
	if !sparse {
		h := queue.ResourceConditionalAccumulator(g, gv.Var.DType(), gv.Var.Shape(), name, tf.Name("conditional_accumulator"))
		a.apply = queue.AccumulatorApplyGradient(h, o.localStep.Read(), gv.Grad.Output())
		a.mean = tf.Dense(queue.AccumulatorTakeGradient(h, n, gv.Var.DType()))
		a.reset = queue.AccumulatorSetGlobalStep(h, o.GlobalStep.Read(), tf.Name("SetGlobalStep"))
		return a
	}
	s = ordered(s)
	h := queue.SparseConditionalAccumulator(g, gv.Var.DType(), nil, name, tf.Name("sparse_conditional_accumulator"))
	shape := ops.Const(g, []int64{})
	if !s.DenseShape.IsZero() {
		shape = s.DenseShape.Cast(tf.Int64)
	}
	a.apply = queue.SparseAccumulatorApplyGradient(h, o.localStep.Read(), s.Indices, s.Values, shape, tf.Attr("has_known_shape", !s.DenseShape.IsZero()))
	indices, values, dense := queue.SparseAccumulatorTakeGradient(h, n, gv.Var.DType())
	a.mean = tf.Sparse(tf.IndexedSlices{Values: values, Indices: indices, DenseShape: dense})
	a.reset = queue.AccumulatorSetGlobalStep(h, o.GlobalStep.Read(), tf.Name("SetGlobalStep"))
	return a
}

// ordered returns slices with rising int64 indices, none twice, as accumulators
// take them.
func ordered(s tf.IndexedSlices) tf.IndexedSlices {
	i := s.Indices.Cast(tf.Int64).Reshape(-1)
	down := tf.Apply(nil, "TopKV2", []tf.Output{i.Neg(), ops.Size(i)})
	s.Indices = down.Output(0).Neg()
	s.Values = s.Values.Gather(down.Output(1), 0)
	return unrepeated(s)
}

// add adds the update, the queue of tokens and what a worker runs.
func (o *SyncReplicas) add(g *tf.Graph, gvs []GradVar, all []accumulated) (*tf.Operation, error) {
	means := make([]GradVar, len(gvs))
	applied := make([]*tf.Operation, len(gvs))
	for i, a := range all {
		means[i], applied[i] = GradVar{a.mean, gvs[i].Var}, a.apply
	}
	var train *tf.Operation
	var err error
	beside(o.GlobalStep, func() {
		var updated *tf.Operation
		if updated, err = o.Optimizer.ApplyGradients(means); err != nil {
			return
		}
		updated = o.GlobalStep.AssignAdd(oneLike(o.GlobalStep), tf.After(updated))
		o.tokens = queue.FIFOQueueV2(g, []tf.DType{tf.Int64}, queue.Opts{Capacity: -1, Shapes: []tf.Shape{{}}, SharedName: "sync_token_q"}, tf.Name("sync_token_q"))
		token := queue.QueueDequeueV2(o.tokens, []tf.DType{tf.Int64}, tf.After(applied...), tf.Name("sync_token_q_Dequeue"))[0]
		beside(o.localStep, func() { train = o.localStep.Assign(token) })
		o.addRunner(g, updated)
	})
	return train, err
}

// addRunner makes what the chief runs over and over: an update, and tokens for
// all workers.
func (o *SyncReplicas) addRunner(g *tf.Graph, updated *tf.Operation) {
	n := max(o.TotalReplicas, o.ReplicasToAggregate)
	next := ops.Fill(ops.Const(g, []int32{int32(n)}), o.GlobalStep.Read(tf.After(updated)))
	sync := queue.QueueEnqueueManyV2(o.tokens, []tf.Output{next}, tf.Name("sync_token_q_EnqueueMany"))
	if o.Average != nil {
		g.ControlDependencies([]*tf.Operation{sync}, func() { sync = o.Average.Apply(g, o.AverageVars...) })
	}
	o.runner = &QueueRunner{
		Queue: o.tokens.Operation().Name, Enqueue: []*tf.Operation{sync},
		Close:  queue.QueueCloseV2(o.tokens, tf.Name("sync_token_q_Close")),
		Cancel: queue.QueueCloseV2(o.tokens, queue.CloseOpts{CancelPendingEnqueues: true}, tf.Name("sync_token_q_Close")),
	}
}

// ChiefQueueRunner returns what the chief runs to update the model; nil before
// ApplyGradients. The hook of the chief starts it.
func (o *SyncReplicas) ChiefQueueRunner() *QueueRunner { return o.runner }

// ChiefInitOp and LocalStepInitOp return what the chief and the other workers run
// in a new session, ReadyForLocalInitOp the names of variables that must be
// initialized before. The hooks run them.
func (o *SyncReplicas) ChiefInitOp() *tf.Operation { return o.chiefInit }

// LocalStepInitOp: see ChiefInitOp.
func (o *SyncReplicas) LocalStepInitOp() *tf.Operation { return o.localInit }

// ReadyForLocalInitOp: see ChiefInitOp.
func (o *SyncReplicas) ReadyForLocalInitOp() tf.Output { return o.readyForLocal }

// InitTokensOp adds an operation that puts the first n tokens into the queue, as
// many as gradients make an update if n is negative. There must be as many as the
// first update needs beyond the workers.
func (o *SyncReplicas) InitTokensOp(n int) (op *tf.Operation, err error) {
	if o.runner == nil {
		return nil, tf.Errorf(tf.FailedPrecondition, "get_init_tokens_op() should be called after apply_gradients().")
	}
	if needed := o.ReplicasToAggregate - o.TotalReplicas; n < 0 {
		n = o.ReplicasToAggregate
	} else if n < needed {
		return nil, tf.Errorf(tf.InvalidArgument, "Too few tokens to finish the first step: %d (given) vs %d (needed)", n, needed)
	}
	g := o.GlobalStep.Graph()
	g.Scope("", func() {
		if n == 0 {
			op = tf.Group(g, "no_init_tokens")
			return
		}
		beside(o.GlobalStep, func() {
			first := ops.Fill(ops.Const(g, []int32{int32(n)}), o.GlobalStep.Read())
			op = queue.QueueEnqueueManyV2(o.tokens, []tf.Output{first}, tf.Name("sync_token_q_EnqueueMany"))
		})
	})
	return op, op.Err()
}

// A SyncReplicasHook initializes a worker's part of a [SyncReplicas], and in the
// chief starts the updates.
type SyncReplicasHook struct {
	BaseHook
	o     *SyncReplicas
	chief bool
	n     int
	init  *tf.Operation
	first *tf.Operation // tokens
}

// Hook returns the hook that sessions of workers need. Exactly one of them is the
// chief's. tokens is how many there are in the beginning: see InitTokensOp.
func (o *SyncReplicas) Hook(chief bool, tokens ...int) *SyncReplicasHook {
	return &SyncReplicasHook{o: o, chief: chief, n: append(tokens, -1)[0]}
}

// Begin adds what puts the first tokens into the queue.
func (h *SyncReplicasHook) Begin(*tf.Graph) (err error) {
	if h.o.runner == nil {
		return tf.Errorf(tf.FailedPrecondition, "SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
	}
	if h.init = h.o.localInit; h.chief {
		h.init = h.o.chiefInit
		h.first, err = h.o.InitTokensOp(h.n)
	}
	return err
}

// AfterCreateSession initializes and starts.
func (h *SyncReplicasHook) AfterCreateSession(ctx context.Context, s *session.Session, c *Coordinator) error {
	missing, err := ready(ctx, s, h.o.readyForLocal)
	if err == nil && missing != "" {
		err = tf.Errorf(tf.FailedPrecondition, "Init operations did not make model ready for SyncReplicasOptimizer local_init. Init op: %s, error: %s", h.init.Name, missing)
	}
	if err == nil {
		_, err = s.Run(ctx, nil, h.init)
	}
	if err != nil || !h.chief {
		return err
	}
	if _, err := s.Run(ctx, nil, h.first); err != nil {
		return err
	}
	h.o.runner.Start(c, s)
	return nil
}
