package train_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// InitFn runs after the variables have got their first values, and not if they are
// restored from a checkpoint.
func ExampleScaffold() {
	ctx, g := context.Background(), tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	set := v.Assign(x)
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Creator: &train.ChiefSessionCreator{
		Graph: g,
		Scaffold: &train.Scaffold{InitFn: func(ctx context.Context, _ *train.Scaffold, s *session.Session) error {
			_, err := s.Run(ctx, session.Feeds{x: tf.Scalar[float32](5)}, set)
			return err
		}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(ctx, nil, v.Value())
	fmt.Println(out, err)
	// Output: [float32[]{5}] <nil>
}

// Within RunStepFn some steps are run without hooks, and some with.
func ExampleMonitoredSession() {
	ctx, g := context.Background(), tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	add := v.AssignAdd(x)
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; i < 3 && err == nil && !s.ShouldStop(); i++ {
		err = s.RunStepFn(ctx, func(ctx context.Context, c *train.StepContext) error {
			now, err := c.Session.Run(ctx, nil, v.Value()) // without hooks
			if err == nil {
				_, err = c.Run(ctx, session.Feeds{x: now[0]}, add)
			}
			return err
		})
	}
	out, _ := s.RawSession().Run(ctx, nil, v.Value())
	fmt.Println(out, s.CloseWith(err))
	// Output: [float32[]{8}] <nil>
}

// tracing is a SessionCreator that says what it does.
type tracing struct{ train.SessionCreator }

func (t tracing) CreateSession(ctx context.Context) (*session.Session, error) {
	fmt.Println("a new session")
	return t.SessionCreator.CreateSession(ctx)
}

// A creator makes the first session, and another one whenever it is lost.
func ExampleSessionCreator() {
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{
		Creator: tracing{&train.ChiefSessionCreator{Graph: g}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lost := true
	err = s.RunStepFn(ctx, func(ctx context.Context, c *train.StepContext) error {
		if lost {
			lost = false
			return tf.Errorf(tf.Unavailable, "a task is lost") // as a cluster says it
		}
		out, err := c.Run(ctx, nil, v.Value())
		fmt.Println(out, err)
		return err
	})
	fmt.Println(err, s.Close())
	// Output:
	// a new session
	// a new session
	// [float32[]{1}] <nil>
	// <nil> <nil>
}

// A worker waits for the chief, and fails if that takes too long. In a cluster both
// have the same target; in one process nobody initializes the worker's session.
func ExampleWorkerSessionCreator() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	worker := &train.WorkerSessionCreator{Graph: g, MaxWait: 2 * time.Millisecond, RecoveryWait: time.Millisecond}
	_, err := worker.CreateSession(context.Background())
	fmt.Println(tf.CodeOf(err))
	// Output: DEADLINE_EXCEEDED
}

// A manager restores the latest checkpoint, or initializes if there is none.
func ExampleSessionManager() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	double := v.Assign(v.Value().Mul(float32(2)))
	saver, err := train.NewSaver(g, train.SaverOptions{})
	manager := &train.SessionManager{Graph: g}
	prepare := train.PrepareOptions{InitOp: tf.InitializeAll(g), Saver: saver, CheckpointDir: dir}
	for i := 0; i < 2 && err == nil; i++ {
		s, err := manager.PrepareSession(ctx, prepare)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer s.Close()
		if _, err = s.Run(ctx, nil, double); err == nil {
			_, err = saver.Save(ctx, s, dir+"/model.ckpt")
		}
		out, _ := session.Fetch[float32](ctx, s, nil, v.Value())
		fmt.Println(out, err)
	}
	// Output:
	// [2] <nil>
	// [4] <nil>
}

// A supervisor is what programs of early TensorFlow train with.
func ExampleSupervisor() {
	ctx, g := context.Background(), tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	double := v.Assign(v.Value().Mul(float32(2)))
	sv, err := train.NewSupervisor(ctx, g, train.SupervisorOptions{NoWriter: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = sv.Managed(ctx, func(ctx context.Context, s *session.Session) error {
		for i := 0; i < 3 && !sv.ShouldStop(); i++ {
			if _, err := s.Run(ctx, nil, double); err != nil {
				return err
			}
		}
		out, err := session.Fetch[float32](ctx, s, nil, v.Value())
		fmt.Println(out)
		return err
	})
	fmt.Println(err)
	// Output:
	// [8]
	// <nil>
}

// An update is the mean of two gradients. One worker computes both here: the token
// in the queue lets it go on after the first; the second waits for the update.
func ExampleSyncReplicas() {
	ctx, g := context.Background(), tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	v := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "v"})
	count := train.GetOrCreateGlobalStep(g)
	optimizer := &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 1}, ReplicasToAggregate: 2, TotalReplicas: 1}
	step := train.Minimize(optimizer, v.Value().Mul(x), train.Options{GlobalStep: count})
	var hook *train.SyncReplicasHook = optimizer.Hook(true, 1)
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{Hooks: []train.Hook{hook}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, gradient := range []float32{-1, -3} {
		if _, err := s.Run(ctx, session.Feeds{x: tf.Scalar(gradient)}, step); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := s.RawSession().Run(ctx, nil, v.Value(), count.Value())
	fmt.Println(out, err, s.Close())
	// Output: [float32[]{2} int64[]{1}] <nil> <nil>
}

// A queue runner of one's own runs an operation that fills a queue, over and over.
func ExampleQueueRunner() {
	ctx, g := context.Background(), tf.NewGraph()
	q := queue.NewFIFO(g, []tf.DType{tf.Int32}, queue.Opts{Capacity: 2})
	v := tf.NewVariable(ops.Scalar[int32](g, 0), tf.VariableOptions{Name: "v"})
	count := v.AssignAdd(ops.Scalar[int32](g, 10))
	train.AddQueueRunner(g, &train.QueueRunner{
		Queue:   q.Name(),
		Enqueue: []*tf.Operation{q.Enqueue([]tf.Output{v.Read(tf.After(count))})},
		Close:   q.Close(),
		Cancel:  q.Close(queue.CloseOpts{CancelPendingEnqueues: true}),
	})
	next := q.Dequeue()[0]
	s, err := train.NewMonitoredSession(ctx, g, train.MonitoredOptions{}) // starts the runners
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		out, err := s.Run(ctx, nil, next)
		fmt.Println(out, err)
	}
	fmt.Println(s.Close())
	// Output:
	// [int32[]{10}] <nil>
	// [int32[]{20}] <nil>
	// [int32[]{30}] <nil>
	// <nil>
}
