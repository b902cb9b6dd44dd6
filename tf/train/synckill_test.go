package train_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A crew is a cluster whose parameter server and chief are in this process and whose
// other workers are processes of their own.
type crew struct {
	team
	aggregate int
	sockets   []*os.File // on which the workers listen, dead or alive
}

// newCrew starts the tasks of this process.
func newCrew(t *testing.T, workers, aggregate int) *crew {
	t.Helper()
	c := &crew{team{cluster.Spec{}, map[string]*cluster.Server{}, cluster.Config{}}, aggregate, make([]*os.File, workers)}
	var own []net.Listener
	for i := range workers + 1 {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		job := "worker"
		if i == 0 {
			job = "ps"
		}
		c.spec[job] = append(c.spec[job], lis.Addr().String())
		if i < 2 {
			own = append(own, lis)
			continue
		}
		if c.sockets[i-1], err = lis.(*net.TCPListener).File(); err != nil {
			t.Fatal(err)
		}
		lis.Close()
		t.Cleanup(func() { c.sockets[i-1].Close() })
	}
	c.serve(t, "ps", 0, own[0])
	c.serve(t, "worker", 0, own[1])
	return c
}

// A role is what the process of a worker is told.
type role struct {
	Spec             cluster.Spec
	Task             int
	Aggregate, Total int
}

// worker starts the process of a worker. Its lines say which step it begins.
func (c *crew) worker(t *testing.T, task int) (cmd *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	text, _ := json.Marshal(role{c.spec, task, c.aggregate, len(c.spec["worker"])})
	cmd = childOf("replica", string(text))
	cmd.ExtraFiles = []*os.File{c.sockets[task]}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return cmd, bufio.NewScanner(strings.NewReader(""))
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out)
}

// replicaLoop is the process of a worker.
func replicaLoop(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	lis, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	s, err := cluster.NewServer(cluster.Config{Cluster: r.Spec, Job: "worker", Task: r.Task, Listener: lis, Log: slog.DiscardHandler})
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return err
	}
	defer s.Stop()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx := context.Background()
	tm := &team{spec: r.Spec}
	w := newReplica(r.Task, r.Aggregate, r.Total)
	m, err := join(ctx, tm, w, r.Task)
	if err != nil {
		return err
	}
	err = m.Loop(ctx, func(ctx context.Context) error {
		fmt.Println("begins")
		_, err := m.Run(ctx, session.Feeds{w.x: tf.Scalar(float32(1))}, w.op)
		return err
	})
	if tf.CodeOf(err) == tf.Unavailable || tf.CodeOf(err) == tf.Aborted {
		return nil // the chief's servers are gone
	}
	return err
}

// join begins the session of a worker, which has to do with the parameter server and
// with its own task alone: it would else wait for all when it begins.
func join(ctx context.Context, tm *team, r *replica, task int) (*train.MonitoredSession, error) {
	return train.MonitoredTrainingSession(ctx, r.g, train.TrainingOptions{
		Target: tm.target(task), Worker: task > 0, Hooks: []train.Hook{r.o.Hook(task == 0, 0)}, RecoveryWait: 10 * time.Millisecond,
		StopGrace: 10 * time.Second, Session: []session.Option{session.DeviceFilters("/job:ps", fmt.Sprint("/job:worker/task:", task))},
	})
}

// TestSyncWorkerKilled kills a worker in the middle of its steps, again and again. With
// a backup no other worker waits for it. Without one, the others wait until another
// process has taken its place, and go on.
func TestSyncWorkerKilled(t *testing.T) {
	for workers, name := range map[int]string{3: "backup", 2: "no backup"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrew(t, workers, 2)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			chief := newReplica(0, 2, workers)
			m, err := join(ctx, &c.team, chief, 0)
			if err != nil {
				t.Fatal(err)
			}
			if workers > 2 {
				_, lines := c.worker(t, 2)
				go drain(lines)
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				for round := range 4 {
					c.killWithin(t, 1, 3+round)
				}
				if workers == 2 {
					_, lines := c.worker(t, 1)
					go drain(lines)
				}
			}()
			for after := 0; after < 10; {
				if _, err := m.Run(ctx, session.Feeds{chief.x: tf.Scalar(float32(1))}, chief.op); err != nil {
					t.Fatal(err)
				}
				select {
				case <-over:
					after++
				default:
				}
			}
			if at, err := train.StepOf(ctx, m.RawSession(), chief.step); err != nil || at < 10 {
				t.Errorf("%d updates, %v", at, err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// killWithin starts a worker and kills it when it has begun so many steps.
func (c *crew) killWithin(t *testing.T, task, steps int) {
	cmd, lines := c.worker(t, task)
	n := 0
	for lines.Scan() {
		if n++; n == steps {
			_ = cmd.Process.Kill()
		}
	}
	if n < steps {
		t.Errorf("a worker has ended by itself after %d steps", n)
	}
}

func drain(lines *bufio.Scanner) {
	for lines.Scan() {
		if strings.Contains(lines.Text(), "panic") {
			fmt.Fprintln(os.Stderr, lines.Text())
		}
	}
}
