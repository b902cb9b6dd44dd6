package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/session"
)

// mainVariable makes a process of this test program gorge itself.
const mainVariable = "GORGE_TEST_MAIN"

// served is gorge serve in a process of its own.
type served struct {
	t      *testing.T
	ctx    context.Context // of steps
	giveUp context.CancelFunc
	cmd    *exec.Cmd
	target string
	stderr bytes.Buffer
}

func startServer(t *testing.T, flags ...string) *served {
	t.Helper()
	p := &served{t: t}
	p.ctx, p.giveUp = context.WithCancel(t.Context())
	t.Cleanup(p.giveUp)
	args := append([]string{"serve", "--cluster_spec=worker|127.0.0.1:0", "--job_name=worker", "--log=warn"}, flags...)
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), mainVariable+"=1"), &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // fails if it has ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server said %q, %v, %s", line, err, p.stderr.String())
	}
	p.target = strings.TrimSpace(line)
	return p
}

func (p *served) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// status waits for the end of the process.
func (p *served) status() int {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		var status *exec.ExitError
		if errors.As(err, &status) {
			return status.ExitCode()
		}
		return 0
	case <-time.After(time.Minute):
		p.t.Fatal("the server does not leave")
		return 0
	}
}

// step begins a step of a session of its own.
func (p *served) step(g *tf.Graph, y tf.Fetchable) chan error {
	p.t.Helper()
	return p.stepIn(p.ctx, g, y)
}

func (p *served) stepIn(ctx context.Context, g *tf.Graph, y tf.Fetchable) chan error {
	p.t.Helper()
	s, err := session.New(g, session.Target(p.target))
	if err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, nil, y)
		s.Close()
		ended <- err
	}()
	return ended
}

// reading is a graph that reads a pipe, whose opening blocks until somebody writes
// to it.
func reading(t *testing.T) (g *tf.Graph, y tf.Output, pipe string) {
	t.Helper()
	pipe = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	g = tf.NewGraph()
	return g, io.ReadFile(ops.Scalar(g, pipe)), pipe
}

func init() {
	core.Register(core.OpDef{Name: "TestStuck", Stateful: true, Shape: func(*core.Infer) error { return nil }, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(
		func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(*core.OpContext) error { select {} }), nil
		})})
}

// stuck is a graph whose kernel does not end, as one that a lost file server holds. Waits
// for pipes end with their step.
func stuck() (*tf.Graph, tf.Fetchable) {
	g := tf.NewGraph()
	return g, tf.Apply(g, "TestStuck", nil)
}

// endless is a graph with a loop that does not end.
func endless() (*tf.Graph, tf.Output) {
	g := tf.NewGraph()
	always := func([]tf.Output) tf.Output { return ops.Scalar(g, true) }
	return g, tf.While([]tf.Output{ops.Scalar(g, float32(1))}, always, func(v []tf.Output) []tf.Output { return v })[0]
}

// awaitRefusal waits until the server takes no new steps.
func (p *served) awaitRefusal() {
	p.t.Helper()
	for range 1000 {
		g := tf.NewGraph()
		short, cancel := context.WithTimeout(p.t.Context(), 500*time.Millisecond) // clients try again and again
		err := <-p.stepIn(short, g, ops.Scalar(g, float32(1)))
		cancel()
		if err != nil {
			if tf.CodeOf(err) != tf.Unavailable && tf.CodeOf(err) != tf.DeadlineExceeded {
				p.t.Errorf("a new step: %v, want UNAVAILABLE", err)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatal("the server takes new steps")
}

// TestStopDrains: steps that are under way when the signal comes may end.
func TestStopDrains(t *testing.T) {
	p := startServer(t, "--grace=10m")
	g, y, pipe := reading(t)
	ended := p.step(g, y)
	w := make(chan error, 1)
	// Opening the pipe for writing returns when the step has opened it.
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.signal()
	time.Sleep(100 * time.Millisecond) // whether the signal has come does not matter for the rest
	go func() {
		_, err := f.WriteString("all")
		w <- errors.Join(err, f.Close())
	}()
	if err := errors.Join(<-w, <-ended); err != nil {
		t.Errorf("the step that was under way: %v", err)
	}
	if got := p.status(); got != 0 {
		t.Errorf("status %d, want 0: %s", got, p.stderr.String())
	}
}

// TestStopIsBounded: when the grace is over, loops are cancelled, and kernels that
// do not end are left behind.
func TestStopIsBounded(t *testing.T) {
	t.Run("loop", func(t *testing.T) {
		p := startServer(t, "--grace=100ms")
		g, y := endless()
		ended := p.step(g, y)
		time.Sleep(300 * time.Millisecond) // so that the loop has begun
		p.signal()
		if err := <-ended; tf.CodeOf(err) != tf.Unavailable {
			t.Errorf("the step: %v, want UNAVAILABLE", err)
		}
		if got := p.status(); got != 0 {
			t.Errorf("status %d, want 0: %s", got, p.stderr.String())
		}
	})
	t.Run("kernel", func(t *testing.T) {
		p := startServer(t, "--grace=100ms")
		g, y := stuck()
		ended := p.step(g, y)
		time.Sleep(300 * time.Millisecond) // so that the kernel has been called
		p.signal()
		if got := p.status(); got != 1 || !strings.Contains(p.stderr.String(), "DEADLINE_EXCEEDED: what a server runs must end when it is told to") {
			t.Errorf("status %d: %s; want 1 and what was left", got, p.stderr.String())
		}
		p.giveUp() // a client waits for its server to come back
		if err := <-ended; err == nil {
			t.Error("the step has succeeded")
		}
	})
}

// TestSecondSignal: it ends a server that waits for its steps.
func TestSecondSignal(t *testing.T) {
	p := startServer(t, "--grace=10m")
	g, y := endless()
	ended := p.step(g, y)
	time.Sleep(300 * time.Millisecond) // so that the loop has begun
	p.signal()
	p.awaitRefusal()
	p.signal()
	if got := p.status(); got != 1 || !strings.Contains(p.stderr.String(), "ABORTED: a second signal") {
		t.Errorf("status %d: %s; want 1", got, p.stderr.String())
	}
	p.giveUp() // a client waits for its server to come back
	if err := <-ended; err == nil {
		t.Error("the step has succeeded")
	}
}
