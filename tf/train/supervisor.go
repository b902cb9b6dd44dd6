package train

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/summary"
)

// SupervisorOptions adjust [NewSupervisor].
type SupervisorOptions struct {
	// LogDir is where checkpoints and event files go and where the model is restored
	// from; "": there are none.
	LogDir string
	// Worker: another process is the chief, which initializes the model and writes.
	Worker   bool
	Scaffold *Scaffold // nil: one with defaults
	// Target is the cluster to train on, Session has further options.
	Target  string
	Session []session.Option
	// SaveSummariesEvery is the time between summaries and rates of steps, 0: 2 minutes;
	// SaveModelEvery that between checkpoints, 0: 10 minutes. Negative: none.
	SaveSummariesEvery, SaveModelEvery time.Duration
	// Writer has the events; nil: one for LogDir, unless NoWriter is set. Stop closes it,
	// unless KeepWriter is set; PrepareSession opens it again, with another file.
	Writer               *summary.FileWriter
	NoWriter, KeepWriter bool
	// NoServices leaves it to the program to start them: see StartServices.
	NoServices bool
	// RecoveryWait is how often a worker looks for the chief, 0: 30 seconds; StopGrace
	// how long goroutines may take to end, 0: 2 minutes.
	RecoveryWait, StopGrace time.Duration
	Basename                string // of checkpoints; "model.ckpt" if empty
}

// A Supervisor is what programs of early TensorFlow train with: it makes sessions that
// are ready, and saves checkpoints and summaries from goroutines beside the program. A
// [MonitoredSession] also recovers when a task is lost, and saves between steps; new
// programs use that.
//
// Its state goes from stopped to running with PrepareSession and back with Stop.
type Supervisor struct {
	g      *tf.Graph
	o      SupervisorOptions
	coord  *Coordinator
	writer *summary.FileWriter // nil: none
	graph  bool                // the writer's file has the graph
	step   *tf.Variable        // nil: none
}

// NewSupervisor returns a supervisor of g and finalizes its scaffold: nothing should be
// added to the graph after that. Stop, or the end of Managed, ends its goroutines.
func NewSupervisor(ctx context.Context, g *tf.Graph, o SupervisorOptions) (*Supervisor, error) {
	if err := core.NeedContext(ctx, "a supervisor"); err != nil {
		return nil, err
	}
	if g == nil {
		return nil, noGraph("a supervisor")
	}
	if o.Scaffold == nil {
		o.Scaffold = &Scaffold{}
	}
	if o.Basename == "" {
		o.Basename = "model.ckpt"
	}
	if o.StopGrace <= 0 {
		o.StopGrace = DefaultGrace
	}
	if o.Worker {
		if err := checkDevices(g); err != nil {
			return nil, err
		}
	}
	sv := &Supervisor{g: g, o: o, step: GetGlobalStep(g)}
	if err := o.Scaffold.Finalize(g); err != nil {
		return nil, err
	}
	if !o.Worker && !o.NoWriter {
		sv.writer = o.Writer
		if sv.writer == nil && o.LogDir != "" {
			w, err := summary.NewFileWriter(o.LogDir)
			if err != nil {
				return nil, err
			}
			sv.writer = w
		}
	}
	sv.coord = NewCoordinator(ctx, CleanStop)
	return sv, nil
}

// checkDevices refuses variables of a worker that would be its own.
func checkDevices(g *tf.Graph) error {
	for _, op := range g.Operations() {
		if op.Def.Has(core.HoldsVariable) && op.OutTypes[0].IsRef() && op.Device == "" {
			return tf.Errorf(tf.InvalidArgument, "When using replicas, all Variables must have their device set: %s", op.Name)
		}
	}
	return nil
}

// writeGraph writes the graph, as text and to the event file.
func (sv *Supervisor) writeGraph() error {
	if sv.o.LogDir != "" {
		if err := WriteGraph(sv.g, sv.o.LogDir, "graph.pbtxt"); err != nil {
			return err
		}
	}
	if sv.writer == nil || sv.graph {
		return nil
	}
	sv.graph = true
	m, err := sv.g.MetaGraphProto(tf.MetaGraphOptions{Collections: []string{}})
	if err != nil {
		return err
	}
	if s := sv.o.Scaffold.Saver; s != nil && !s.empty() {
		m.SaverDef = s.Proto()
	}
	if err := sv.writer.Graph(sv.g); err != nil {
		return err
	}
	return sv.writer.MetaGraph(m)
}

// Coordinator returns what the goroutines stop with.
func (sv *Supervisor) Coordinator() *Coordinator { return sv.coord }

// Writer returns the writer of event files, nil if there is none.
func (sv *Supervisor) Writer() *summary.FileWriter { return sv.writer }

// Saver returns what saves checkpoints.
func (sv *Supervisor) Saver() *Saver { return sv.o.Scaffold.Saver }

// SavePath is what the names of checkpoints begin with.
func (sv *Supervisor) SavePath() string { return inDir(sv.o.LogDir, sv.o.Basename) }

// ShouldStop reports whether training is over.
func (sv *Supervisor) ShouldStop() bool { return sv.coord.ShouldStop() }

// RequestStop asks all to stop; err, if it is not nil and no end of input, is what Stop
// returns.
func (sv *Supervisor) RequestStop(err error) { sv.coord.RequestStop(err) }

// Loop calls f again and again, every interval, in a goroutine that ends with the
// supervisor.
func (sv *Supervisor) Loop(interval time.Duration, f func(ctx context.Context) error) {
	sv.coord.Loop(interval, f)
}

// PrepareSession returns a session that is ready: the chief's is restored from the latest
// checkpoint or initialized, a worker's waits for that. The chief's services run after
// it, see StartServices, and the queue runners of the graph.
func (sv *Supervisor) PrepareSession(ctx context.Context) (*session.Session, error) {
	s, err := sv.prepared(ctx)
	if err != nil {
		return nil, err
	}
	if !sv.o.Worker {
		err = sv.writeGraph()
		if err == nil && !sv.o.NoServices {
			err = sv.StartServices(ctx, s)
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	StartQueueRunners(sv.g, sv.coord, s)
	return s, nil
}

// prepared returns a session without goroutines.
func (sv *Supervisor) prepared(ctx context.Context) (*session.Session, error) {
	sv.coord.ClearStop()
	sc := sv.o.Scaffold
	options := append([]session.Option{session.Target(sv.o.Target)}, sv.o.Session...)
	if sv.o.Worker {
		return (&WorkerSessionCreator{Graph: sv.g, Scaffold: sc, Options: options, MaxWait: 2 * time.Hour, RecoveryWait: sv.o.RecoveryWait}).CreateSession(ctx)
	}
	if sv.writer != nil {
		if err := sv.writer.Reopen(); err != nil {
			return nil, err
		}
	}
	return (&ChiefSessionCreator{Graph: sv.g, Scaffold: sc, Options: options, CheckpointDir: sv.o.LogDir}).CreateSession(ctx)
}

// Managed calls f with a session and stops afterwards. What f returns is returned; the end
// of input (OutOfRange) is a good end.
func (sv *Supervisor) Managed(ctx context.Context, f func(ctx context.Context, s *session.Session) error) error {
	s, err := sv.PrepareSession(ctx)
	if err != nil {
		return errors.Join(err, sv.Stop())
	}
	defer s.Close()
	err = f(ctx, s)
	if tf.CodeOf(err) == tf.OutOfRange || errors.Is(err, ErrStop) {
		err = nil
	}
	sv.coord.RequestStop(err)
	if e := sv.Stop(); err == nil {
		err = e
	}
	return err
}

// Stop ends all goroutines and closes the event file. It returns the first of their
// errors, or what RequestStop was given.
func (sv *Supervisor) Stop() error {
	sv.coord.RequestStop(nil)
	err := sv.coord.Join(sv.o.StopGrace)
	if sv.writer == nil || sv.o.KeepWriter {
		return err
	}
	sv.graph = false
	if e := sv.writer.SessionLog(0, &pb.SessionLog{Status: pb.SessionLog_STOP}); e != nil && tf.CodeOf(e) != tf.FailedPrecondition {
		err = errors.Join(err, e)
	}
	return errors.Join(err, sv.writer.Close())
}

// SummaryComputed adds a serialized Summary to the event file, with the global step
// unless another one is given.
func (sv *Supervisor) SummaryComputed(ctx context.Context, s *session.Session, summary *tf.Tensor, step ...int64) error {
	switch {
	case sv.writer == nil:
		return tf.Errorf(tf.FailedPrecondition, "Writing a summary requires a summary writer.")
	case summary == nil || summary.DType() != tf.String || summary.Len() != 1:
		return tf.Errorf(tf.InvalidArgument, "a summary must be a string scalar, got %v", summary)
	}
	at, err := sv.stepOf(ctx, s)
	if len(step) > 0 {
		at, err = step[0], nil
	}
	if err != nil {
		return err
	}
	return sv.writer.Summary(at, tf.Data[string](summary)[0])
}

// stepOf returns the global step, 0 if there is none.
func (sv *Supervisor) stepOf(ctx context.Context, s *session.Session) (int64, error) {
	if sv.step == nil {
		return 0, nil
	}
	return StepOf(ctx, s, sv.step)
}

// StartServices starts what the chief does beside the program, each in a goroutine:
// summaries, the rate of steps and checkpoints. PrepareSession starts them, unless
// NoServices is set. They need a LogDir.
func (sv *Supervisor) StartServices(ctx context.Context, s *session.Session) error {
	switch {
	case sv.o.Worker:
		return tf.Errorf(tf.FailedPrecondition, "Only chief supervisor can start standard services. Because only chief supervisors can write events.")
	case sv.o.LogDir == "":
		slog.Warn("Standard services need a log directory")
		return nil
	}
	step, err := sv.stepOf(ctx, s)
	if err == nil && sv.writer != nil && sv.step != nil {
		err = sv.writer.SessionLog(step, &pb.SessionLog{Status: pb.SessionLog_START})
	}
	if err != nil {
		return err
	}
	if sv.writer != nil {
		sv.startSummaries(s, step)
	}
	if every := period(sv.o.SaveModelEvery, 10*time.Minute); every > 0 && sv.Saver() != nil && !sv.Saver().empty() {
		sv.Loop(every, func(ctx context.Context) error { return sv.saveModel(ctx, s) })
	}
	return nil
}

// period returns d, or what 0 stands for.
func period(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

func (sv *Supervisor) startSummaries(s *session.Session, step int64) {
	every := period(sv.o.SaveSummariesEvery, 2*time.Minute)
	if every < 0 {
		return
	}
	if op := sv.o.Scaffold.SummaryOp; !op.IsZero() {
		sv.Loop(every, func(ctx context.Context) error {
			out, err := s.Run(ctx, nil, op)
			if err != nil {
				return err
			}
			return sv.SummaryComputed(ctx, s, out[0])
		})
	}
	if sv.step != nil {
		r := stepCount{time.Now(), step}
		sv.Loop(every, func(ctx context.Context) error { return sv.countSteps(ctx, s, &r) })
	}
}

// A stepCount is what the steps were counted to last.
type stepCount struct {
	at   time.Time
	step int64
}

// countSteps writes how many steps there were in a second.
func (sv *Supervisor) countSteps(ctx context.Context, s *session.Session, r *stepCount) error {
	step, err := sv.stepOf(ctx, s)
	if err != nil {
		return err
	}
	now := time.Now()
	last := *r
	*r = stepCount{now, step}
	if elapsed := now.Sub(last.at).Seconds(); elapsed > 0 {
		perSecond := float64(step-last.step) / elapsed
		slog.Info(sv.step.Name()+"/sec", "rate", perSecond)
		return sv.writer.Scalar(step, sv.step.Name()+"/sec", float32(perSecond))
	}
	return nil
}

// saveModel saves a checkpoint, under the step if there is a global one.
func (sv *Supervisor) saveModel(ctx context.Context, s *session.Session) error {
	slog.Info("Saving checkpoint", "path", sv.SavePath())
	if sv.step == nil {
		_, err := sv.Saver().Save(ctx, s, sv.SavePath())
		return err
	}
	step, err := sv.stepOf(ctx, s)
	if err == nil {
		_, err = sv.Saver().SaveStep(ctx, s, sv.SavePath(), step)
	}
	if err == nil && sv.writer != nil {
		err = sv.writer.SessionLog(step, &pb.SessionLog{Status: pb.SessionLog_CHECKPOINT, CheckpointPath: sv.SavePath()})
	}
	return err
}
