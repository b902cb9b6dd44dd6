// Package interop holds the tests that need real TensorFlow beside Gorge:
// clients, masters, workers and parameter servers of both kinds in one cluster.
//
// GORGE_TF_PYTHON names a Python that has tensorflow-cpu 2.21.0, and tensorboard 2.21.0
// unless GORGE_TB_PYTHON names one that has that; GORGE_SERVING_API a directory that has
// tensorflow-serving-api 2.21.0.
package interop

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	python = os.Getenv("GORGE_TF_PYTHON")
	gorge  string // the binary under test
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gorge = filepath.Join(dir, "gorge")
	if out, err := exec.Command("go", "build", "-o", gorge, "../cmd/gorge").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building gorge: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func needTensorFlow(t *testing.T) {
	t.Helper()
	if python == "" {
		t.Skip("GORGE_TF_PYTHON names no Python that has TensorFlow")
	}
}

// kinds of servers.
const (
	ofGorge      = "gorge"
	ofTensorFlow = "tensorflow"
)

// serve starts one task of a cluster, of either kind, which ends with the test.
// It returns when the task says that it is ready.
func serve(t *testing.T, kind, cluster, job string, task int) {
	t.Helper()
	serveLed(t, kind, cluster, job, task, "")
}

// serveLed is serve for a task of a cluster with a leader of collective
// operations.
func serveLed(t *testing.T, kind, cluster, job string, task int, leader string) {
	t.Helper()
	cmd := exec.Command(gorge, "serve", "--cluster_spec="+cluster, "--job_name="+job, fmt.Sprintf("--task_id=%d", task), "--log=warn", "--collective_group_leader="+leader)
	if kind == ofTensorFlow {
		cmd = exec.Command(python, "testdata/server.py", cluster, job, fmt.Sprint(task), leader)
	}
	start(t, cmd)
}

// start starts a server and waits for its first line.
func start(t *testing.T, cmd *exec.Cmd) (ended func() error) {
	t.Helper()
	var errors strings.Builder
	cmd.Stderr = &errors
	in, err := cmd.StdinPipe() // a TensorFlow server ends with its input
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = func() error {
		in.Close()
		if cmd.Path == gorge {
			cmd.Process.Signal(os.Interrupt)
		}
		hard := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer hard.Stop()
		return cmd.Wait()
	}
	t.Cleanup(func() { ended() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		ended()
		t.Fatalf("%v did not start: %q, %v\n%s", cmd.Args, line, err, errors.String())
	}
	go io.Copy(io.Discard, out)
	return ended
}

// given are the ports that tests of this process have been given.
var given sync.Map

// ports returns addresses that are free, and stay so until servers that take their
// time to start listen there: systems give programs that ask for any port, or
// connect to others, one from 32768 on.
func ports(t *testing.T, n int) (out []string) {
	t.Helper()
	for tries := 0; len(out) < n; tries++ {
		port := 10_000 + rand.IntN(20_000)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		lis, err := net.Listen("tcp", address)
		if err == nil {
			lis.Close()
			out = append(out, address)
		} else if tries > 1000 {
			t.Fatal(err)
		}
	}
	return out
}

// script runs a script of testdata and returns the lines that it prints.
func script(t *testing.T, name string, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{"testdata/" + name}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, lastLines(errors.String(), 15))
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
