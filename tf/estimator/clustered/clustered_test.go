package clustered_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/estimator/clustered"
	"github.com/gorge-tf/gorge/tf/feature"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(taskVariable); dir != "" {
		os.Exit(workerProcess(dir, os.Getenv(taskVariable+"_JOBS")))
	}
	leaktest.Main(m)
}

// address returns an address of the loopback that is free, and stays so until a server
// listens there: systems give programs that ask for any port one from 32768 on.
func address(t *testing.T) string {
	t.Helper()
	for tries := 0; ; tries++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
		if tries > 1000 {
			t.Fatal(err)
		}
	}
}

func input(context.Context) (*estimator.Input, error) {
	x, err := tf.FromSlice([]float32{0, 1, 2, 3})
	if err != nil {
		return nil, err
	}
	y, err := tf.FromSlice([]float32{1, 3, 5, 7})
	if err != nil {
		return nil, err
	}
	return &estimator.Input{Data: data.FromTensors(x, y).Repeat(data.Infinite), Keys: []string{"x", "y"}, Labels: []string{"y"}}, nil
}

// task does the work of one task, as its process would.
func task(ctx context.Context, dir, config string) (estimator.Metrics, error) {
	c, err := estimator.ParseTFConfig(config)
	if err != nil {
		return nil, err
	}
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, estimator.Task{Config: estimator.RunConfig{
		ModelDir: dir, SaveCheckpointsSteps: 50, Cluster: c, Serve: clustered.Serve, WorkerDelay: -1, RecoveryWait: 100 * time.Millisecond,
	}})
	if err != nil {
		return nil, err
	}
	return estimator.TrainAndEvaluate(ctx, e, estimator.TrainSpec{Input: input, MaxSteps: 400}, estimator.EvalSpec{Input: input, Steps: 1, StartDelay: -1, Throttle: -1})
}

// TestCluster trains with a chief, a worker and a parameter server, while an
// evaluator follows the checkpoints.
func TestCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	serving, stop := context.WithCancel(ctx)
	dir := t.TempDir()
	jobs := fmt.Sprintf(`"cluster": {"chief": [%q], "ps": [%q], "worker": [%q]}`, address(t), address(t), address(t))
	config := func(kind string) string { return fmt.Sprintf(`{%s, "task": {"type": %q, "index": 0}}`, jobs, kind) }
	var server, workers sync.WaitGroup
	server.Go(func() {
		if _, err := task(serving, dir, config("ps")); err != nil {
			t.Errorf("the parameter server: %v", err)
		}
	})
	for _, kind := range []string{"chief", "worker"} {
		workers.Go(func() {
			if _, err := task(ctx, dir, config(kind)); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		})
	}
	m, err := task(ctx, dir, config("evaluator"))
	workers.Wait()
	stop()
	server.Wait()
	if err != nil || m["global_step"] < 400 || m["average_loss"] > 2 {
		t.Errorf("the evaluator: %v, %v", m, err)
	}
}

// TestMaster: in a cluster with a master, that evaluates while it trains with a worker
// and a parameter server.
func TestMaster(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	serving, stop := context.WithCancel(ctx)
	dir := t.TempDir()
	jobs := fmt.Sprintf(`"cluster": {"master": [%q], "ps": [%q], "worker": [%q]}`, address(t), address(t), address(t))
	config := func(kind string) string { return fmt.Sprintf(`{%s, "task": {"type": %q, "index": 0}}`, jobs, kind) }
	var server, workers sync.WaitGroup
	server.Go(func() {
		if _, err := task(serving, dir, config("ps")); err != nil {
			t.Errorf("the parameter server: %v", err)
		}
	})
	workers.Go(func() {
		if m, err := task(ctx, dir, config("worker")); err != nil || m != nil {
			t.Errorf("the worker: %v, %v", m, err)
		}
	})
	m, err := task(ctx, dir, config("master"))
	workers.Wait()
	stop()
	server.Wait()
	if err != nil || m["global_step"] < 400 || m["average_loss"] > 2 {
		t.Errorf("the master: %v, %v", m, err)
	}
	if all, err := estimator.ReadEvalMetrics(filepath.Join(dir, "eval")); err != nil || len(all) < 2 {
		t.Errorf("evaluations: %v, %v", all, err)
	}
}
