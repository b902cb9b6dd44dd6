package estimator

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf"
)

// An Exporter decides which evaluated checkpoints [TrainAndEvaluate] exports.
type Exporter interface {
	// Name is that of the directory under export in the model directory.
	Name() string
	// Export may export a checkpoint under base. final is set after training.
	Export(ctx context.Context, e *Estimator, base, checkpoint string, m Metrics, final bool) error
}

// export calls the exporters.
func (e *Estimator) export(ctx context.Context, all []Exporter, path string, m Metrics, final bool) error {
	for _, x := range all {
		if err := x.Export(ctx, e, filepath.Join(e.config.ModelDir, "export", x.Name()), path, m, final); err != nil {
			return err
		}
	}
	return nil
}

// checkExporters refuses exporters before there is anything to export.
func (e *Estimator) checkExporters(all []Exporter) error {
	seen := map[string]bool{}
	for _, x := range all {
		if v := reflect.ValueOf(x); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return e.wrong("`exporters` must not be nil")
		}
		if name := x.Name(); name == "" || seen[name] || !filepath.IsLocal(name) {
			return e.wrong("`exporters` must have unique names, which are names of directories: got %q", name)
		}
		if x, ok := x.(interface{ receiver() ReceiverFn }); ok && x.receiver() == nil {
			return e.wrong("an exporter needs a receiver function: Receive of %T is nil", x)
		}
		seen[x.Name()] = true
	}
	return nil
}

func (x *FinalExporter) receiver() ReceiverFn { return x.Receive }

func (x *LatestExporter) receiver() ReceiverFn { return x.Receive }

func (x *BestExporter) receiver() ReceiverFn { return x.Receive }

// A FinalExporter exports the last checkpoint, after training.
type FinalExporter struct {
	Label   string // its name
	Receive ReceiverFn
	Options ExportOptions
}

// Name returns the label.
func (x *FinalExporter) Name() string { return x.Label }

// Export exports if final is set.
func (x *FinalExporter) Export(ctx context.Context, e *Estimator, base, checkpoint string, _ Metrics, final bool) error {
	if !final {
		return nil
	}
	return save(ctx, e, base, checkpoint, x.Receive, x.Options, 0)
}

// A LatestExporter exports every checkpoint, and keeps the latest ones.
type LatestExporter struct {
	Label   string
	Receive ReceiverFn
	Options ExportOptions
	Keep    int // 0: 5, negative: all
}

// Name returns the label.
func (x *LatestExporter) Name() string { return x.Label }

// Export exports, and removes old exports.
func (x *LatestExporter) Export(ctx context.Context, e *Estimator, base, checkpoint string, _ Metrics, _ bool) error {
	return save(ctx, e, base, checkpoint, x.Receive, x.Options, keep(x.Keep))
}

// A BestExporter exports a checkpoint when its evaluation is the best so far, also
// compared with those that event files of earlier runs have.
type BestExporter struct {
	Label   string // "": "best_exporter"
	Receive ReceiverFn
	Options ExportOptions
	// Better reports whether now is better than best; nil: its loss is smaller.
	Better func(best, now Metrics) bool
	// EvalName is the name of the evaluation whose event files are read.
	EvalName string
	Keep     int // 0: 5, negative: all

	best Metrics
	read bool
}

// Name returns the label.
func (x *BestExporter) Name() string {
	if x.Label == "" {
		return "best_exporter"
	}
	return x.Label
}

// Export exports if m is better than what has been seen.
func (x *BestExporter) Export(ctx context.Context, e *Estimator, base, checkpoint string, m Metrics, _ bool) error {
	if !x.read {
		if err := x.earlier(e, int64(m[GlobalStepKey])); err != nil {
			return err
		}
	}
	if x.best != nil && !x.better(x.best, m) {
		return nil
	}
	x.best = m
	return save(ctx, e, base, checkpoint, x.Receive, x.Options, keep(x.Keep))
}

func (x *BestExporter) better(best, now Metrics) bool {
	if x.Better != nil {
		return x.Better(best, now)
	}
	return now[LossKey] < best[LossKey]
}

// earlier finds the best evaluation of steps before this one.
func (x *BestExporter) earlier(e *Estimator, step int64) error {
	all, err := ReadEvalMetrics(e.EvalDir(x.EvalName))
	if err != nil {
		return err
	}
	x.read = true
	for _, m := range all {
		_, evaluated := m[LossKey] // hooks write summaries to the directory, too
		if evaluated && int64(m[GlobalStepKey]) < step && (x.best == nil || x.better(x.best, m)) {
			x.best = m
		}
	}
	return nil
}

func keep(n int) int {
	if n == 0 {
		return 5
	}
	return n
}

// save exports, and leaves the latest n exports if n > 0.
func save(ctx context.Context, e *Estimator, base, checkpoint string, r ReceiverFn, o ExportOptions, n int) error {
	o.Checkpoint = checkpoint
	if _, err := e.ExportSavedModel(ctx, base, r, o); err != nil || n <= 0 {
		return err
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return tf.Errorf(tf.Unavailable, "the exports cannot be listed: %v", err)
	}
	var at []int64
	for _, entry := range entries {
		if t, err := strconv.ParseInt(entry.Name(), 10, 64); err == nil && entry.IsDir() {
			at = append(at, t)
		}
	}
	slices.Sort(at)
	for _, t := range at[:max(len(at)-n, 0)] {
		if err := os.RemoveAll(filepath.Join(base, strconv.FormatInt(t, 10))); err != nil {
			return tf.Errorf(tf.Unavailable, "an old export cannot be removed: %v", err)
		}
	}
	return nil
}
