package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A logged text may be written to by servers while it is read.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// startWith starts a ps and a worker that exchange tensors by a protocol, and
// returns the worker's target.
func startWith(t *testing.T, protocol string, log io.Writer) string {
	t.Helper()
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	c := cluster.Config{Cluster: spec, Protocol: protocol, Log: slog.NewTextHandler(log, nil)}
	c.Job, c.Listener = "ps", ps
	serve(t, c)
	c.Job, c.Listener = "worker", worker
	return serve(t, c).Target()
}

const trainingSteps = 30

func trained(t *testing.T, target string, opts ...session.Option) []float32 {
	t.Helper()
	r := newRegression("/job:ps", "/job:worker")
	return r.losses(t, open(t, r.g, target, opts...), trainingSteps)
}

// TestVerbsTrains: how tensors cross does not change a bit of them.
func TestVerbsTrains(t *testing.T) {
	want := trained(t, startWith(t, "grpc", io.Discard))
	var log logged
	got := trained(t, startWith(t, "grpc+verbs", &log))
	if !slices.Equal(got, want) {
		t.Errorf("losses over verbs are\n%v, over grpc\n%v", got, want)
	}
	if !strings.Contains(log.String(), "tensors between tasks go by RDMA") || !strings.Contains(log.String(), "RDMA channel is connected") {
		t.Errorf("the log does not say that RDMA was used:\n%s", log.String())
	}
}

// TestVerbsTarget: clients may name the protocol that the servers use.
func TestVerbsTarget(t *testing.T) {
	target := startWith(t, "grpc+verbs", io.Discard)
	trained(t, "grpc+verbs://"+strings.TrimPrefix(target, "grpc://"))
}

// TestVerbsNeedsBoth: a task that does not speak RDMA is found out at the first tensor,
// with an error that says so (TensorFlow's issue 34808: it went by gRPC, and nothing
// said so).
func TestVerbsNeedsBoth(t *testing.T) {
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps})
	w := serve(t, cluster.Config{Cluster: spec, Job: "worker", Listener: worker, Protocol: "grpc+verbs"})
	r := newRegression("/job:ps", "/job:worker")
	s := open(t, r.g, w.Target())
	_, err := s.Run(context.Background(), nil, r.init)
	if err == nil || !strings.Contains(err.Error(), "grpc+verbs") || tf.CodeOf(err) != tf.Unimplemented {
		t.Errorf("a step between a verbs server and another one: %v, want an error that names the protocol", err)
	}
}

// TestVerbsAbort: a step that is given up does no harm to those that follow.
func TestVerbsAbort(t *testing.T) {
	r := newRegression("/job:ps", "/job:worker")
	s := open(t, r.g, startWith(t, "grpc+verbs", io.Discard))
	r.losses(t, s, 1)
	for i := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			_, err := session.Fetch[float32](ctx, s, nil, r.loss)
			ended <- err
		}()
		cancel()
		if err := <-ended; err != nil && tf.CodeOf(err) != tf.Canceled {
			t.Fatalf("cancelled step %d: %v", i, err)
		}
	}
	if _, err := session.Fetch[float32](context.Background(), s, nil, r.loss); err != nil {
		t.Error(err)
	}
}

// TestVerbsAbortTogether: two clients give up steps at once, over and over; the values
// that their other steps get are theirs.
func TestVerbsAbortTogether(t *testing.T) {
	for name, generation := range map[string]int{"last generation": 2, "older generation": 1} {
		t.Run(name, func(t *testing.T) {
			r := startAlike(t, map[string]int{"worker": 2}, cluster.Config{Protocol: "grpc+verbs", RDMA: cluster.RDMA{Provider: provider(), Generation: generation}})
			var wg sync.WaitGroup
			for client := range 2 {
				wg.Go(func() { abortOften(t, r.servers[taskKey("worker", client)].Target(), float32(client+1)) })
			}
			wg.Wait()
		})
	}
}

// abortOften runs steps in which a large value crosses twice, and gives up two of three.
func abortOften(t *testing.T, target string, with float32) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil)
	there := ops.Neg(x, tf.OnDevice("/job:worker/task:0"))
	back := ops.Neg(ops.Neg(there, tf.OnDevice("/job:worker/task:1")), tf.OnDevice("/job:worker/task:0"))
	s := open(t, g, target)
	for i := range 60 {
		n := 1000 + 100_000*(i%2)
		in := must(tf.FromSlice(slices.Repeat([]float32{with}, n), n))
		ctx, cancel := context.WithCancel(t.Context())
		if i%3 > 0 {
			go cancel()
		}
		out, err := s.Run(ctx, session.Feeds{x: in}, back)
		cancel()
		switch {
		case err != nil && (i%3 == 0 || tf.CodeOf(err) != tf.Canceled):
			t.Errorf("step %d: %v", i, err)
		case err == nil && !slices.Equal(tf.Data[float32](out[0]), slices.Repeat([]float32{-with}, n)):
			t.Errorf("step %d has other values than -%v", i, with)
		}
	}
}

// TestVerbsTwoProcesses does what TestVerbsTrains does with the ps in another
// process.
func TestVerbsTwoProcesses(t *testing.T) {
	want := trained(t, startWith(t, "grpc", io.Discard))
	worker := listen(t)
	ps := exec.Command(os.Args[0], "-test.run=^TestServePSProcess$")
	ps.Env = append(os.Environ(), workerAddress+"="+worker.Addr().String())
	ps.Stderr = os.Stderr
	stdin, err := ps.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := ps.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ps.Start(); err != nil {
		t.Fatal(err)
	}
	defer ps.Wait()
	defer stdin.Close() // which ends the process
	target, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at := strings.TrimSpace(strings.TrimPrefix(target, "grpc://"))
	w := serve(t, cluster.Config{
		Cluster: cluster.Spec{"ps": {at}, "worker": {worker.Addr().String()}}, Job: "worker", Listener: worker, Protocol: "grpc+verbs",
	})
	if got := trained(t, w.Target()); !slices.Equal(got, want) {
		t.Errorf("losses between processes are\n%v, within one\n%v", got, want)
	}
}

const workerAddress = "GORGE_TEST_WORKER"

// TestServePSProcess is the ps of TestVerbsTwoProcesses.
func TestServePSProcess(t *testing.T) {
	worker := os.Getenv(workerAddress)
	if worker == "" {
		t.Skip("this is the other process of TestVerbsTwoProcesses")
	}
	lis := listen(t)
	spec := cluster.Spec{"ps": {lis.Addr().String()}, "worker": {worker}}
	s := serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: lis, Protocol: "grpc+verbs"})
	if _, err := io.WriteString(os.Stdout, s.Target()+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}
