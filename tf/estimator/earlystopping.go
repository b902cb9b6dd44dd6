package estimator

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/train"
)

// ReadEvalMetrics reads the results of evaluations from the event files of a
// directory, by their steps. A directory that does not exist has none. The end
// of a file that is being written may be missing.
func ReadEvalMetrics(dir string) ([]Metrics, error) {
	dir = core.LocalPath(dir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, tf.Errorf(tf.Unavailable, "the directory of evaluations cannot be read: %v", err)
	}
	byStep := map[int64]Metrics{}
	for _, entry := range entries {
		if !strings.Contains(entry.Name(), "tfevents") {
			continue
		}
		if err := readEvents(filepath.Join(dir, entry.Name()), byStep); err != nil {
			return nil, err
		}
	}
	var out []Metrics
	for step, m := range byStep {
		m[GlobalStepKey] = float64(step)
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Metrics) int { return int(a[GlobalStepKey] - b[GlobalStepKey]) })
	return out, nil
}

func readEvents(name string, byStep map[int64]Metrics) error {
	r, err := record.Open(name, record.None, record.Unfinished)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		text, err := r.Next()
		if err == io.EOF || err != nil && strings.Contains(err.Error(), "truncated record") {
			return nil // the rest is being written
		}
		if err != nil {
			return err
		}
		e := &pb.Event{}
		if err := proto.Unmarshal(text, e); err != nil {
			return tf.Errorf(tf.DataLoss, "%s is no event file: %v", name, err)
		}
		for _, v := range e.GetSummary().GetValue() {
			if _, ok := v.GetValue().(*pb.Summary_Value_SimpleValue); !ok {
				continue
			}
			if byStep[e.GetStep()] == nil {
				byStep[e.GetStep()] = Metrics{}
			}
			byStep[e.GetStep()][v.GetTag()] = float64(v.GetSimpleValue())
		}
	}
}

// StopOptions adjust hooks that stop training early. An evaluation without the metric
// that a hook looks at ends training with InvalidArgument. In a cluster the chief looks at
// evaluations; the variable signal_early_stopping/STOP, TensorFlow's, tells workers.
type StopOptions struct {
	EvalDir  string // where evaluations are read; "": that of the estimator
	MinSteps int64  // before which training is never stopped
	// Every or EverySteps is how often evaluations are looked at; 0: every minute.
	Every      time.Duration
	EverySteps int64
}

// StopIfNoDecrease returns a hook that ends training when a metric has not become
// less for a number of steps; 0 ends it at the first evaluation, as in TensorFlow.
func StopIfNoDecrease(e *Estimator, metric string, steps int64, o StopOptions) train.Hook {
	return stopper(e, metric, o, stalled(steps, func(a, b float64) bool { return a < b }))
}

// StopIfNoIncrease returns a hook that ends training when a metric has not become
// greater for a number of steps; 0 ends it at the first evaluation, as in TensorFlow.
func StopIfNoIncrease(e *Estimator, metric string, steps int64, o StopOptions) train.Hook {
	return stopper(e, metric, o, stalled(steps, func(a, b float64) bool { return a > b }))
}

// StopIfHigher returns a hook that ends training when a metric is higher than a
// threshold.
func StopIfHigher(e *Estimator, metric string, threshold float64, o StopOptions) train.Hook {
	return stopper(e, metric, o, func(_ int64, v float64) bool { return v > threshold })
}

// StopIfLower returns a hook that ends training when a metric is lower than a
// threshold.
func StopIfLower(e *Estimator, metric string, threshold float64, o StopOptions) train.Hook {
	return stopper(e, metric, o, func(_ int64, v float64) bool { return v < threshold })
}

// stalled returns a test of values in the order of their steps: whether none has
// been better than the best one for a number of steps.
func stalled(steps int64, better func(a, b float64) bool) func(step int64, v float64) bool {
	seen, best, at := false, 0.0, int64(0)
	return func(step int64, v float64) bool {
		if !seen || step <= at || better(v, best) {
			seen, best, at = true, v, step
		}
		return step-at >= steps
	}
}

// stopper looks at evaluations from time to time. judge is called with each value
// once, in the order of the steps.
func stopper(e *Estimator, metric string, o StopOptions, judge func(step int64, v float64) bool) train.Hook {
	if o.EvalDir == "" {
		if e == nil {
			return StopIf(nil, o) // which fails when training begins
		}
		o.EvalDir = e.EvalDir("")
	}
	if o.Every == 0 && o.EverySteps == 0 {
		o.Every = time.Minute
	}
	last := int64(-1)
	return &stopHook{o: o, stop: func() (bool, error) {
		all, err := ReadEvalMetrics(o.EvalDir)
		if err != nil {
			return false, err
		}
		for _, m := range all {
			v, ok := m[metric]
			step := int64(m[GlobalStepKey])
			if step <= last || step < o.MinSteps {
				continue
			}
			if !ok {
				return false, tf.Errorf(tf.InvalidArgument, "the metric of early stopping must be one of the evaluation's, got %q: step %d in %s has %q", metric, step, o.EvalDir, slices.Sorted(maps.Keys(m)))
			}
			last = step
			if judge(step, v) {
				slog.Info("Requesting early stopping.", "metric", metric, "value", v, "step", step)
				return true, nil
			}
		}
		return false, nil
	}}
}
