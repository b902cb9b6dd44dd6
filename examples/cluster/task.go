package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// beTask serves as a task of the cluster until in ends; a worker trains as well.
func beTask(ctx context.Context, s *settings, in io.Reader, out io.Writer) error {
	addresses := strings.Split(s.addresses, ",")
	if len(addresses) != 1+s.workers {
		return fmt.Errorf("there must be an address for the parameter server and each of %d workers, got %q", s.workers, s.addresses)
	}
	guard, err := security(s.secrets, "task")
	if err != nil {
		return err
	}
	if guard != nil {
		defer guard.Close()
	}
	server, err := cluster.NewServer(cluster.Config{
		Cluster: cluster.Spec{"ps": addresses[:1], "worker": addresses[1:]}, Job: s.job, Task: s.task, Protocol: s.protocol, Security: guard,
	})
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, in) // the parent process keeps it open
		cancel()
	}()
	t := &task{s, server, json.NewEncoder(out)}
	if err := t.out.Encode(report{Ready: true, Over: server.Transport()}); err != nil {
		return err
	}
	if s.job == "worker" {
		if err := t.train(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return t.report(ctx, report{Done: true})
}

// A task is a process of the cluster.
type task struct {
	*settings
	server *cluster.Server
	out    *json.Encoder
}

// reportEvery is how often tasks tell how they are.
const reportEvery = 250 * time.Millisecond

// report tells of the task until ctx ends.
func (t *task) report(ctx context.Context, r report) error {
	if t.job == "worker" {
		r.Received = t.server.Received().Bytes
		if err := t.out.Encode(r); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	for {
		if err := t.out.Encode(report{Received: t.server.Received().Bytes}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reportEvery):
		}
	}
}

// train does this worker's share of the steps, and tells how it goes.
func (t *task) train(ctx context.Context) error {
	training, _, err := digits.Load("")
	if err != nil {
		return err
	}
	m, err := newModel(t.settings)
	if err != nil {
		return err
	}
	if t.sync {
		return t.trainTogether(ctx, m, newBatches(training, t.settings))
	}
	s, err := session.New(m.g, session.With(session.Config{Target: t.server.Target(), Timeout: patience}))
	if err != nil {
		return err
	}
	defer s.Close()
	if err := m.begin(ctx, s, t.task == 0); err != nil {
		return err
	}
	b := newBatches(training, t.settings)
	told := time.Now()
	var last float32
	for n := 0; ; n++ {
		x, y, err := b.next()
		if err != nil {
			return err
		}
		if x == nil {
			return t.out.Encode(report{Steps: n, Loss: last, Received: t.server.Received().Bytes})
		}
		loss, err := session.Fetch[float32](ctx, s, session.Feeds{m.x: x, m.y: y}, m.loss, m.step)
		if err != nil {
			return err
		}
		last = loss[0]
		if time.Since(told) >= reportEvery || n == 0 {
			told = time.Now()
			if err := t.out.Encode(report{Steps: n + 1, Loss: last, Received: t.server.Received().Bytes}); err != nil {
				return err
			}
		}
	}
}

// trainTogether does steps with the other workers until the updates that the epochs
// make have been done.
func (t *task) trainTogether(ctx context.Context, m *model, b *batches) error {
	updates := int64(t.epochs * len(b.order) * t.workers / (t.batch * (t.workers - t.backup)))
	if t.steps > 0 {
		updates = min(updates, int64(t.steps))
	}
	// Only the chief stops at a step. If the other workers stopped too, the chief
	// might wait for gradients that no worker computes. The other workers end when
	// the chief closes the token queue.
	hooks := []train.Hook{m.replicas.Hook(t.task == 0)}
	if t.task == 0 {
		hooks = append(hooks, &train.StopAtStepHook{LastStep: max(updates, 1)})
	}
	s, err := train.MonitoredTrainingSession(ctx, m.g, train.TrainingOptions{
		Target: t.server.Target(), Worker: t.task > 0, RecoveryWait: 50 * time.Millisecond, MaxWait: patience, StopGrace: patience, Hooks: hooks,
	})
	if err != nil {
		return err
	}
	told, n := time.Time{}, 0
	var last float32
	err = s.Loop(ctx, func(ctx context.Context) error {
		x, y, err := b.next()
		if err != nil {
			return err
		}
		if x == nil {
			return train.ErrStop
		}
		got, err := s.Run(ctx, session.Feeds{m.x: x, m.y: y}, m.loss, m.step)
		if err != nil {
			return err
		}
		last, n = tf.Data[float32](got[0])[0], n+1
		if time.Since(told) < reportEvery {
			return nil
		}
		told = time.Now()
		return t.out.Encode(report{Steps: n, Loss: last, Received: t.server.Received().Bytes})
	})
	if err != nil {
		return err
	}
	return t.out.Encode(report{Steps: n, Loss: last, Received: t.server.Received().Bytes})
}

// evaluate returns which share of the test images the variables of a cluster
// read right.
func evaluate(ctx context.Context, s *settings, target string) (float64, error) {
	_, test, err := digits.Load("")
	if err != nil {
		return 0, err
	}
	m, err := newModel(s)
	if err != nil {
		return 0, err
	}
	guard, err := security(s.secrets, "evaluator")
	if err != nil {
		return 0, err
	}
	opts := []session.Option{session.With(session.Config{Target: target, Timeout: patience})}
	if guard != nil {
		defer guard.Close()
		opts = append(opts, cluster.Secured(guard))
	}
	run, err := session.New(m.g, opts...)
	if err != nil {
		return 0, err
	}
	defer run.Close()
	x, err := tf.FromSlice(test.Pixels, test.N(), test.Size*test.Size)
	if err != nil {
		return 0, err
	}
	guesses, err := session.Fetch[int64](ctx, run, session.Feeds{m.x: x}, m.guesses)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, g := range guesses {
		if int32(g) == test.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(test.N()), nil
}
