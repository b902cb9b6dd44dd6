package estimator

import (
	"os"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

// A RunConfig says where a model is kept and how it is trained. The zero value is
// ready to use.
type RunConfig struct {
	// ModelDir has the checkpoints; "": a new temporary directory.
	ModelDir string
	// Seed is that of the graphs; 0 stands for 1, TensorFlow's default.
	Seed int64
	// SaveSummarySteps is the number of steps between summaries; 0: 100,
	// negative: none.
	SaveSummarySteps int64
	// SaveCheckpointsEvery is the time between checkpoints, SaveCheckpointsSteps
	// the steps: at most one is set. 0: 10 minutes. Negative: there are none.
	SaveCheckpointsEvery time.Duration
	SaveCheckpointsSteps int64
	// KeepCheckpointMax is how many checkpoints are kept; 0: 5, negative: all.
	KeepCheckpointMax int
	// KeepCheckpointEveryHours keeps one for every so many hours besides; 0:
	// 10,000.
	KeepCheckpointEveryHours float64
	// LogStepCountSteps is after how many steps the loss and the rate are logged;
	// 0: 100, negative: never.
	LogStepCountSteps int64
	// Session has further options of sessions.
	Session []session.Option
	// Cluster says which task of which cluster this is; nil: there is none. See
	// ParseTFConfig.
	Cluster *Cluster
	// Serve makes this task's server, for [TrainAndEvaluate] in a cluster: the
	// function of package tf/estimator/clustered. It is not linked otherwise. A chief
	// that is the whole cluster needs none: it trains in process.
	Serve func(c *Cluster) (Server, error)
	// WorkerDelay is how long worker i waits before it begins, times i+1, 60 s at
	// most; 0: 5 s, negative: not at all.
	WorkerDelay time.Duration
	// RecoveryWait is how often a worker looks for the chief's model; 0: every 30 s.
	RecoveryWait time.Duration
	// SessionTimeout is how long a worker waits for the chief's model; 0: 2 hours.
	SessionTimeout time.Duration
	// Master is the address of the server that training and predictions use,
	// "grpc://host:port"; "": this process or, in a cluster, the task's own server
	// in training. EvalMaster is that of evaluations; "": this process. See
	// [RunConfig.WithEnvironment].
	Master, EvalMaster string
	// Service is for what the platform tells a program: TF_CONFIG's "service".
	Service map[string]any
	// DeviceFn chooses the devices of nodes in training; nil: variables are spread
	// over the parameter servers, if there are any.
	DeviceFn func(n *core.Node) string
}

// Kinds of tasks in a cluster.
const (
	Chief     = "chief"
	Master    = "master" // a chief that evaluates, too
	Worker    = "worker"
	PS        = "ps"
	Evaluator = "evaluator"
)

// A Cluster says which task of which cluster a process is. Jobs has the
// addresses of tasks by job; the evaluator is in none of them.
type Cluster struct {
	Jobs  map[string][]string
	Type  string
	Index int
}

// A Server is a task of a cluster while it runs.
type Server interface {
	// Stop ends it.
	Stop() error
}

// IsChief reports whether the task initializes and saves the model: the master does
// what the chief of other clusters does.
func (c *Cluster) IsChief() bool { return c == nil || c.Type == Chief || c.Type == Master }

// boss is the job that initializes the model: chief, or master in a cluster that has
// one.
func (c *Cluster) boss() string {
	if _, ok := c.Jobs[Master]; ok {
		return Master
	}
	return Chief
}

// target is the address of the task's own server.
func (c *Cluster) target() string { return "grpc://" + c.Jobs[c.Type][c.Index] }

func (c *Cluster) check() error {
	bad := func(format string, args ...any) error { return tf.Errorf(tf.InvalidArgument, format, args...) }
	boss := c.boss()
	if len(c.Jobs[boss]) == 0 && len(c.Jobs[Worker]) > 0 && c.Type == Worker && c.Index == 0 {
		return bad("If \"cluster\" is set in TF_CONFIG, it must have one %q node.", boss)
	}
	switch n := len(c.Jobs[boss]); {
	case boss == Master && len(c.Jobs[Chief]) > 0:
		return bad("If `master` node exists in `cluster`, job `chief` is not supported.")
	case n != 1:
		return bad("The \"cluster\" in TF_CONFIG must have only one %q node, got %d", boss, n)
	case len(c.Jobs[Evaluator]) > 0:
		return bad("the evaluator must not be in the \"cluster\" of TF_CONFIG")
	}
	return c.checkTask(boss)
}

// checkTask checks type and index of the task.
func (c *Cluster) checkTask(boss string) error {
	bad := func(format string, args ...any) error { return tf.Errorf(tf.InvalidArgument, format, args...) }
	switch {
	case c.Index < 0:
		return bad("Task index must be non-negative number, got %d", c.Index)
	case c.Type == Evaluator && boss == Master:
		return bad("If `master` node exists in `cluster`, task_type `evaluator` is not supported: the master evaluates")
	case c.Type == Evaluator:
		return nil
	case c.Type != boss && c.Type != Worker && c.Type != PS:
		return bad("the task of TF_CONFIG must be of type %s, worker, ps or evaluator, got %q", boss, c.Type)
	case c.Index >= len(c.Jobs[c.Type]):
		return bad("%d is not a valid task_id for task_type %s in the cluster_spec", c.Index, c.Type)
	}
	return nil
}

// alone reports whether the task is the whole cluster and has no server to make.
func (c *RunConfig) alone() bool {
	return c.Serve == nil && c.Cluster.IsChief() && c.Cluster != nil && len(c.Cluster.Jobs) == 1
}

// complete fills in defaults and checks what is set.
func (c *RunConfig) complete() error {
	if c.SaveCheckpointsEvery != 0 && c.SaveCheckpointsSteps != 0 {
		return tf.Errorf(tf.InvalidArgument, "SaveCheckpointsSteps and SaveCheckpointsEvery cannot be both set: %d, %v", c.SaveCheckpointsSteps, c.SaveCheckpointsEvery)
	}
	if c.Cluster != nil {
		if err := c.Cluster.check(); err != nil {
			return err
		}
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.LogStepCountSteps == 0 {
		c.LogStepCountSteps = 100
	}
	if c.ModelDir != "" {
		c.ModelDir = core.LocalPath(c.ModelDir) // what is below it is named by joining names
		if info, err := os.Stat(c.ModelDir); err == nil && !info.IsDir() {
			return tf.Errorf(tf.InvalidArgument, "ModelDir must be a directory, %s is a file", c.ModelDir)
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		return tf.Errorf(tf.Internal, "a temporary model directory cannot be made: %v", err)
	}
	c.ModelDir = dir
	return nil
}
