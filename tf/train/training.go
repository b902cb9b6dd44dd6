package train

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TrainingOptions adjust [MonitoredTrainingSession].
type TrainingOptions struct {
	// Target is the cluster to train on, as in session.Target; Session has further
	// options.
	Target  string
	Session []session.Option
	// Worker: another process is the chief, which initializes the model.
	Worker bool
	// CheckpointDir is where the model is restored from and saved; "": neither. A damaged
	// checkpoint is skipped: see PrepareOptions.
	CheckpointDir string
	Scaffold      *Scaffold // nil: one with defaults
	Hooks         []Hook
	ChiefHooks    []Hook // left out in a worker
	// Listeners take part in saving checkpoints.
	Listeners []CheckpointSaverListener
	// SaveCheckpointEvery is the time between checkpoints; 0: 10 minutes, unless
	// SaveCheckpointSteps is given, the steps between them. If the one that is given is
	// negative, none are saved.
	SaveCheckpointEvery time.Duration
	SaveCheckpointSteps int64
	// AsyncCheckpoints writes them while training goes on: see CheckpointSaverHook.
	AsyncCheckpoints bool
	// SaveSummariesSteps is the number of steps between summaries; 0: 100, unless
	// SaveSummariesEvery is given, the time between them. Negative: none.
	SaveSummariesSteps int64
	SaveSummariesEvery time.Duration
	// SummaryDir is where event files go, CheckpointDir if empty.
	SummaryDir string
	// LogStepCountSteps is after how many steps the rate is logged; 0: 100,
	// negative: never.
	LogStepCountSteps int64
	// StopGrace is how long goroutines may take to end; 0: 2 minutes.
	StopGrace time.Duration
	// MaxWait is how long a worker waits for the chief; 0: two hours.
	MaxWait time.Duration
	// RecoveryWait is how often a worker looks for the chief; 0: every 30 seconds.
	RecoveryWait time.Duration
	// NoGraphDef writes no graph.pbtxt and no MetaGraphs beside checkpoints.
	NoGraphDef bool
}

// MonitoredTrainingSession returns a session that trains a model: a chief's
// restores the latest checkpoint or initializes the variables, saves checkpoints
// and summaries, and logs the rate of steps; a worker's waits for the chief's.
//
//	s, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{CheckpointDir: dir, Hooks: hooks})
//	...
//	err = s.Loop(ctx, func(ctx context.Context) error {
//		_, err := s.Run(ctx, nil, step)
//		return err
//	})
func MonitoredTrainingSession(ctx context.Context, g *tf.Graph, o TrainingOptions) (*MonitoredSession, error) {
	if o.Scaffold == nil {
		o.Scaffold = &Scaffold{}
	}
	options := o.Session
	if o.Target != "" {
		options = append([]session.Option{session.Target(o.Target)}, options...)
	}
	m := MonitoredOptions{StopGrace: o.StopGrace}
	if o.Worker {
		longest := o.MaxWait
		if longest == 0 {
			longest = 2 * time.Hour
		}
		m.Creator = &WorkerSessionCreator{Graph: g, Scaffold: o.Scaffold, Options: options, MaxWait: longest, RecoveryWait: o.RecoveryWait}
		m.Hooks = o.Hooks
		return NewMonitoredSession(ctx, g, m)
	}
	m.Creator = &ChiefSessionCreator{Graph: g, Scaffold: o.Scaffold, Options: options, CheckpointDir: o.CheckpointDir}
	m.Hooks = append(append(append([]Hook(nil), o.ChiefHooks...), o.defaultHooks()...), o.Hooks...)
	return NewMonitoredSession(ctx, g, m)
}

// defaultHooks are those that a chief has in TensorFlow, in their order.
func (o *TrainingOptions) defaultHooks() (hooks []Hook) {
	dir := o.SummaryDir
	if dir == "" {
		dir = o.CheckpointDir
	}
	if dir != "" {
		n := o.LogStepCountSteps
		if n == 0 {
			n = 100
		}
		if n > 0 {
			hooks = append(hooks, &StepCounterHook{EverySteps: n, OutputDir: dir})
		}
		if h := o.summaryHook(dir); h != nil {
			hooks = append(hooks, h)
		}
	}
	if h := o.checkpointHook(); h != nil {
		hooks = append(hooks, h)
	}
	return hooks
}

func (o *TrainingOptions) summaryHook(dir string) Hook {
	steps, every := o.SaveSummariesSteps, o.SaveSummariesEvery
	if steps == 0 && every == 0 {
		steps = 100
	}
	switch {
	case every > 0:
		return &SummarySaverHook{SaveEvery: every, OutputDir: dir, Scaffold: o.Scaffold}
	case steps > 0:
		return &SummarySaverHook{SaveSteps: steps, OutputDir: dir, Scaffold: o.Scaffold}
	}
	return nil
}

func (o *TrainingOptions) checkpointHook() Hook {
	steps, every := o.SaveCheckpointSteps, o.SaveCheckpointEvery
	if steps == 0 && every == 0 {
		every = 10 * time.Minute
	}
	h := &CheckpointSaverHook{CheckpointDir: o.CheckpointDir, Scaffold: o.Scaffold, NoGraphDef: o.NoGraphDef, Listeners: o.Listeners, Async: o.AsyncCheckpoints}
	switch {
	case o.CheckpointDir == "":
		return nil
	case every > 0:
		h.SaveEvery = every
	case steps > 0:
		h.SaveSteps = steps
	default:
		return nil
	}
	return h
}
