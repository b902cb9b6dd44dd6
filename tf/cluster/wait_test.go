package cluster_test

import (
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// firstStep runs a step on target and returns its error and what was logged.
func firstStep(t *testing.T, target string, wait time.Duration) (error, string) {
	t.Helper()
	g := tf.NewGraph()
	op := ops.NoOp(g)
	var log lines
	s, err := session.New(g, session.Target(target), session.StartTimeout(wait), session.Log(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Run(t.Context(), nil, op)
	return err, log.String()
}

// TestRefusedTarget: nobody listens there. The session says so, at once in the
// log and in the end by an error.
func TestRefusedTarget(t *testing.T) {
	lis := listen(t)
	target := "grpc://" + lis.Addr().String()
	lis.Close()
	err, log := firstStep(t, target, 1500*time.Millisecond)
	if tf.CodeOf(err) != tf.DeadlineExceeded && tf.CodeOf(err) != tf.Unavailable || !strings.Contains(err.Error(), target) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(log, "still waiting") || !strings.Contains(log, target) {
		t.Errorf("the log has %q", log)
	}
}

// TestMissingTaskIsNamed: the master answers, but not all of its workers do. The
// client's error names them.
func TestMissingTaskIsNamed(t *testing.T) {
	lis, missing := listen(t), listen(t)
	missing.Close()
	s, err := cluster.NewServer(cluster.Config{
		Cluster: cluster.Spec{"worker": {lis.Addr().String(), missing.Addr().String()}}, Job: "worker", Listener: lis, Log: slog.DiscardHandler,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	// By name and by number: in this process and by gRPC.
	_, port, _ := net.SplitHostPort(lis.Addr().String())
	for _, target := range []string{s.Target(), "grpc://localhost:" + port} {
		err, _ := firstStep(t, target, 2*time.Second)
		if tf.CodeOf(err) != tf.DeadlineExceeded || !strings.Contains(err.Error(), "/job:worker/replica:0/task:1") {
			t.Errorf("%s: the error is %v", target, err)
		}
	}
}
