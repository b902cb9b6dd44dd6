package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// watched returns the full name of a task that a configuration names.
func watched(task string) (string, error) {
	if task == "" {
		return "", nil
	}
	d, err := tf.ParseDevice(task)
	if err != nil || d.Job == "" || d.Task < 0 {
		return "", tf.Errorf(tf.InvalidArgument, "the task to exit with must have the form /job:NAME/task:NUMBER, got %q", task)
	}
	return taskName(d.Job, d.Task), nil
}

// checkExit refuses a task to exit with that the server would wait for in vain.
func (c *Config) checkExit() error {
	task, err := watched(c.ExitWith)
	if err == nil && task != "" && !slices.Contains(c.Cluster.tasks(), task) {
		err = tf.Errorf(tf.InvalidArgument, "the task to exit with must be one of the cluster, got %q", c.ExitWith)
	}
	return err
}

const (
	// checkEvery is how often a watched task is asked whether it is there, and
	// how long it may take to answer.
	checkEvery = time.Second
	// checksMissed in a row mean that it is gone. It may be busy, or have been
	// restarted in between.
	checksMissed = 3
)

// watch stops the server when the task that it exits with is gone. It ends with
// the server.
func (s *Server) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	s.serving.Go(func() {
		<-s.stopping
		cancel()
	})
	s.serving.Go(func() {
		if s.awaitEnd(ctx, s.exitWith) {
			s.log.Info("stopping, as the task to exit with is gone", "of", s.exitWith)
			go s.Stop() // which waits for this goroutine
		}
	})
}

// awaitEnd reports whether a task has come and gone, false when ctx ends first.
func (s *Server) awaitEnd(ctx context.Context, task string) bool {
	w, err := s.channels.Worker(task)
	if err != nil {
		s.log.Error("the task to exit with cannot be watched", "of", task, "error", err)
		return false
	}
	refused := false
	for up := false; !up; { // a connection may have been lost
		_, err := w.GetStatus(ctx, &pb.GetStatusRequest{}) // waits for the task to come
		if up = s.isThere(task, err, &refused); !up && !wait(ctx, checkEvery) {
			return false
		}
	}
	s.log.Info("the task to exit with is up", "of", task)
	for missed := 0; missed < checksMissed; {
		if !wait(ctx, checkEvery) {
			return false
		}
		try, cancel := context.WithTimeout(ctx, checkEvery)
		_, err := w.GetStatus(try, &pb.GetStatusRequest{})
		cancel()
		missed++
		if s.isThere(task, err, &refused) {
			missed = 0
		}
	}
	return true
}

// isThere reports whether a task has answered a check, be it by a refusal, of which the
// log is told once: roles may have changed while the task goes on.
func (s *Server) isThere(task string, err error, refused *bool) bool {
	if err == nil {
		*refused = false
		return true
	}
	switch tf.CodeOf(err) {
	case tf.PermissionDenied, tf.Unauthenticated, tf.ResourceExhausted:
	default:
		return false
	}
	if !*refused {
		s.log.Warn("the task to exit with does not say how it is", "of", task, "error", err)
	}
	*refused = true
	return true
}

// wait reports whether ctx is still there after a time.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
