package train_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestMain also is the processes that tests start: what they do is in GORGE_TRAIN_CHILD.
func TestMain(m *testing.M) {
	child := map[string]func(dir string) error{"train": trainLoop, "same": sameLoop, "disk": fillDisk, "limit": fillLimit, "replica": replicaLoop}[os.Getenv("GORGE_TRAIN_CHILD")]
	if child == nil {
		leaktest.Main(m)
		return
	}
	if err := child(os.Getenv("GORGE_TRAIN_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childOf returns a process that does one thing in a directory.
func childOf(what, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GORGE_TRAIN_CHILD="+what, "GORGE_TRAIN_DIR="+dir)
	return cmd
}

// growing is a graph of a few variables, all of which have the number of steps in all
// of their elements.
func growing() (*tf.Graph, *tf.Operation) {
	g := tf.NewGraph()
	step := train.GetOrCreateGlobalStep(g)
	all := []*tf.Operation{step.AssignAdd(ops.Scalar(g, int64(1)))}
	for i := range 3 {
		v := tf.NewVariable(ops.Const(g, make([]int64, 20_000)), tf.VariableOptions{Name: fmt.Sprint("v", i)})
		all = append(all, v.AssignAdd(ops.Fill(ops.Const(g, []int32{20_000}), ops.Scalar(g, int64(1)))))
	}
	return g, tf.Group(g, "step", all...)
}

// A teller prints the steps that have been saved.
type teller struct{ train.BaseListener }

func (teller) AfterSave(_ context.Context, _ *session.Session, step int64) (bool, error) {
	fmt.Println(step)
	return false, nil
}

// trainLoop trains without end, with a checkpoint of each few steps that is written
// beside.
func trainLoop(dir string) error {
	ctx := context.Background()
	g, next := growing()
	m, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 3, AsyncCheckpoints: true, SaveSummariesSteps: -1, LogStepCountSteps: -1,
		Listeners: []train.CheckpointSaverListener{teller{}},
	})
	for err == nil {
		_, err = m.Run(ctx, nil, next)
	}
	return err
}

// sameLoop saves under one name again and again, every other time beside the steps.
func sameLoop(dir string) error {
	ctx := context.Background()
	g, next := growing()
	saver, err := train.NewSaver(g, train.SaverOptions{Sharded: true})
	if err != nil {
		return err
	}
	init := tf.InitializeAll(g)
	s, err := session.New(g)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "model.ckpt")
	if train.CheckpointExists(path) {
		err = saver.Restore(ctx, s, path)
	} else {
		_, err = s.Run(ctx, nil, init)
	}
	for i := 0; err == nil; i++ {
		err = saveOnce(ctx, saver, s, next, path, i%2 == 0)
	}
	return err
}

func saveOnce(ctx context.Context, saver *train.Saver, s *session.Session, next *tf.Operation, path string, aside bool) error {
	if _, err := s.Run(ctx, nil, next); err != nil {
		return err
	}
	if !aside {
		_, err := saver.Save(ctx, s, path)
		return err
	}
	p, err := saver.SaveAsync(ctx, s, path)
	if err == nil {
		_, err = s.Run(ctx, nil, next)
	}
	if err == nil {
		_, err = p.Wait(ctx)
	}
	if err == nil {
		fmt.Println("saved")
	}
	return err
}

// killsOf is how many processes a test kills: more with GORGE_KILLS.
func killsOf(t *testing.T, few int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("GORGE_KILLS"))
	if err != nil {
		return few
	}
	return n
}

// TestTrainingKilled kills training while its checkpoints are written beside it: the
// latest one is whole each time, of one step, and not older than what was told.
func TestTrainingKilled(t *testing.T) {
	for _, what := range []string{"train", "same"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for range killsOf(t, 8) {
				told := killAfter(t, childOf(what, dir), 2+rand.IntN(20))
				latest, err := train.LatestCheckpoint(dir)
				if err != nil || latest == "" {
					t.Fatal(latest, err)
				}
				if got := countIn(t, latest); got < told {
					t.Fatalf("the latest checkpoint is of step %d, step %d was told to be saved", got, told)
				}
			}
		})
	}
}

// killAfter kills a process after it has written some lines, and returns the last
// number among them.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int) (last int64) {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := bufio.NewScanner(out); r.Scan(); {
		if v, err := strconv.ParseInt(r.Text(), 10, 64); err == nil {
			last = v
		}
		if n++; n == lines {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if n < lines {
		t.Fatalf("the process ended by itself after %d lines:\n%s", n, errs.String())
	}
	return last
}
