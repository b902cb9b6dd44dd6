package clustered_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/estimator/clustered"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/train"
)

// A cast is a cluster of a chief, a worker and a parameter server, whose training
// has no end of its own.
type cast struct {
	dir, jobs string
}

func newCast(t *testing.T) *cast {
	return &cast{t.TempDir(), fmt.Sprintf(`"cluster": {"chief": [%q], "ps": [%q], "worker": [%q]}`, address(t), address(t), address(t))}
}

// play does the work of one task until stop, which the chief alone is asked, says so.
func (c *cast) play(ctx context.Context, kind string, stop func() (bool, error), hooks ...train.Hook) error {
	cluster, err := estimator.ParseTFConfig(fmt.Sprintf(`{%s, "task": {"type": %q, "index": 0}}`, c.jobs, kind))
	if err != nil {
		return err
	}
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, estimator.Task{Config: estimator.RunConfig{
		ModelDir: c.dir, SaveCheckpointsSteps: 200, LogStepCountSteps: -1, Cluster: cluster, Serve: clustered.Serve, WorkerDelay: -1, RecoveryWait: 50 * time.Millisecond,
	}})
	if err != nil {
		return err
	}
	hooks = append(hooks, estimator.StopIf(stop, estimator.StopOptions{EverySteps: 10}))
	_, err = estimator.TrainAndEvaluate(ctx, e, estimator.TrainSpec{Input: input, Hooks: hooks}, estimator.EvalSpec{Input: input})
	return err
}

// mustNotAsk is what a worker is given to ask.
func mustNotAsk() (bool, error) { return false, errors.New("a worker has asked whether to stop") }

// TestStopTogether: the chief's hook ends the training of the worker, too; what it
// leaves in the checkpoint does not end the next training. The second time the
// checkpoint has the variable.
func TestStopTogether(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := newCast(t)
	last := int64(0)
	for range 2 {
		asked := 0
		stop := func() (bool, error) { asked++; return asked > 8, nil }
		serving, end := context.WithCancel(ctx)
		var server, workers sync.WaitGroup
		server.Go(func() { report(t, "ps", c.play(serving, "ps", stop)) })
		workers.Go(func() { report(t, "chief", c.play(ctx, "chief", stop)) })
		workers.Go(func() { report(t, "worker", c.play(ctx, "worker", mustNotAsk)) })
		workers.Wait()
		end()
		server.Wait()
		step := stepIn(t, c.dir)
		if step < last+80 || asked != 9 {
			t.Errorf("training went from step %d to %d, the hook asked %d times", last, step, asked)
		}
		last = step
	}
}

func report(t *testing.T, what string, err error) {
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// stepIn returns the global step of the latest checkpoint, which must have the
// variable.
func stepIn(t *testing.T, dir string) int64 {
	t.Helper()
	path, err := train.LatestCheckpoint(dir)
	if err != nil || path == "" {
		t.Fatal(path, err)
	}
	if _, err := train.LoadVariable(path, "signal_early_stopping/STOP"); err != nil {
		t.Error(err)
	}
	v, err := train.LoadVariable(path, "global_step")
	if err != nil {
		t.Fatal(err)
	}
	n, err := v.Ints()
	if err != nil {
		t.Fatal(err)
	}
	return int64(n[0])
}

// noting is a hook that says when a step has been done.
type noting struct {
	train.BaseHook
	note func()
}

func (n noting) AfterRun(context.Context, *train.RunContext, train.RunValues) error {
	n.note()
	return nil
}

const taskVariable = "GORGE_TEST_WORKER"

// workerProcess is a process of its own: it says "step" after each of its steps.
func workerProcess(dir, jobs string) int {
	c := &cast{dir, jobs}
	if err := c.play(context.Background(), "worker", mustNotAsk, noting{note: func() { fmt.Println("step") }}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process starts a worker's process.
func (c *cast) process(t *testing.T) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), taskVariable+"="+c.dir, taskVariable+"_JOBS="+c.jobs)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// steps waits until a process has done some steps.
func steps(t *testing.T, lines *bufio.Scanner, n int) {
	t.Helper()
	for range n {
		if !lines.Scan() {
			t.Fatalf("the worker's process has ended: %v", lines.Err())
		}
	}
}

// TestKilledWorker kills the process of a worker in the midst of its steps: the chief
// goes on, a worker that is started anew takes part, and both stop together.
func TestKilledWorker(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	serving, end := context.WithCancel(ctx)
	c := newCast(t)
	var over atomic.Bool
	var mine atomic.Int64
	stop := func() (bool, error) { return over.Load(), nil }
	var server, chief sync.WaitGroup
	server.Go(func() { report(t, "ps", c.play(serving, "ps", stop)) })
	chief.Go(func() {
		report(t, "chief", c.play(ctx, "chief", stop, noting{note: func() { mine.Add(1) }}))
	})
	defer server.Wait()
	defer end()
	defer chief.Wait()
	defer over.Store(true)
	for range 2 {
		cmd, lines := c.process(t)
		steps(t, lines, 5)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		for from := mine.Load(); mine.Load() < from+20 && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
	}
	cmd, lines := c.process(t)
	steps(t, lines, 5)
	over.Store(true)
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the last worker: %v", err)
	}
	chief.Wait()
	if ctx.Err() != nil || stepIn(t, c.dir) < 55 {
		t.Errorf("%v, training ended at step %d", ctx.Err(), stepIn(t, c.dir))
	}
}
