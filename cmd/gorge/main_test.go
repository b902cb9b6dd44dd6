package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestMain(m *testing.M) {
	if os.Getenv(mainVariable) != "" {
		main()
	}
	if command := os.Getenv(serveVariable); command != "" {
		os.Exit(run(context.Background(), strings.Fields(command), os.Stdout, os.Stderr))
	}
	leaktest.Main(m)
}

// A server says where it is, serves until its context ends, and leaves with
// status 0.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		defer w.Close()
		status <- run(ctx, []string{"serve", "--cluster_spec=worker|127.0.0.1:0", "--job_name=worker", "--devices=CPU:2", "--log=error"}, w, io.Discard)
	}()
	lines := bufio.NewReader(out)
	target, err := lines.ReadString('\n')
	if err != nil || !strings.HasPrefix(target, "grpc://127.0.0.1:") {
		t.Fatalf("the server said %q, %v; want its target", target, err)
	}
	says(t, 0, "/job:worker/replica:0/task:0/device:CPU:1", "devices", strings.TrimSpace(target), "--timeout", "30s")
	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 4, tf.OnDevice("/job:worker/device:CPU:1"))
	s, err := session.New(g, session.Target(strings.TrimSpace(target)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := session.Fetch[float32](t.Context(), s, nil, y); err != nil || got[0] != 4 {
		t.Errorf("a step = %v, %v", got, err)
	}
	s.Close()
	stop()
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("the server also said %q, %v", rest, err)
	}
	if got := <-status; got != 0 {
		t.Errorf("status %d, want 0", got)
	}
}

// Why a command fails is its last line.
func TestFailures(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	broken := filepath.Join(t.TempDir(), "def")
	if err := os.WriteFile(broken, []byte("no message"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"", "INVALID_ARGUMENT: a command has to be given"},
		{"train", `INVALID_ARGUMENT: the command must be one of those listed, got "train"`},
		{"version extra", `INVALID_ARGUMENT: version takes no arguments, got ["extra"]`},
		{"version --x", "INVALID_ARGUMENT: flag provided but not defined: -x; gorge version -h lists the flags"},
		{"devices a b -timeout 5s", `INVALID_ARGUMENT: devices takes a target, grpc://host:port, got ["a" "b"]`},
		{"devices a --timeout=x", `INVALID_ARGUMENT: invalid value "x" for flag -timeout`},
		{"events export a -format=xml", `INVALID_ARGUMENT: -format must be csv or json, got "xml"`},
		{"serve now", `INVALID_ARGUMENT: serve takes flags only, got ["now"]`},
		{"serve --port=1", "INVALID_ARGUMENT: flag provided but not defined: -port"},
		{"serve --cluster_spc=x", "INVALID_ARGUMENT: flag provided but not defined: -cluster_spc; did you mean -cluster_spec?"},
		{"serve --cluster_spec=local|127.0.0.1:0,a|127.0.0.1:0", "INVALID_ARGUMENT: -cluster_spec needs -job_name, one of a, local"},
		{"serve --job_name=x", "INVALID_ARGUMENT: -job_name and -task_id need -cluster_spec"},
		{"serve --cluster_spec=x", "INVALID_ARGUMENT: a cluster has the form"},
		{"serve --cluster_spec=local|127.0.0.1:0 --job_name=x", `INTERNAL: Job "x" was not defined in cluster`},
		{"serve --cluster_spec=local|127.0.0.1:0 --job_name=local --task_id=1", `INTERNAL: Task 1 was not defined in job "local"`},
		{"serve --cluster_spec=local|" + taken.Addr().String() + " --job_name=local", "UNKNOWN: Could not start gRPC server"},
		{"serve --cluster_spec=local|127.0.0.1:0 --job_name=local --protocol=tcp", "NOT_FOUND: No server factory registered"},
		{"serve --cluster_spec=local|127.0.0.1:0 --job_name=local --devices=CPU", "INVALID_ARGUMENT: devices have the form"},
		{"serve --cluster_spec=local|127.0.0.1:0 --job_name=local --log=loud", "INVALID_ARGUMENT: -log must be"},
		{"serve --server_def=" + broken, "INVALID_ARGUMENT: a server definition must be"},
		{"serve --server_def=/nowhere", "NOT_FOUND: cannot read the server definition"},
		{"serve --server_def=/", "FAILED_PRECONDITION: cannot read the server definition"},
		{"serve --config=/", "FAILED_PRECONDITION: cannot read the flags"},
		{"serve --server_def=x --job_name=y", "INVALID_ARGUMENT: -server_def says which task it is"},
		{"serve --server_def=x --cluster_spec=y", "INVALID_ARGUMENT: -server_def and -cluster_spec exclude each other"},
	} {
		var stderr bytes.Buffer
		status := run(t.Context(), strings.Fields(c.args), io.Discard, &stderr)
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if last := lines[len(lines)-1]; status == 0 || !strings.HasPrefix(last, c.want) {
			t.Errorf("gorge %s: status %d, last line %q; want %q", c.args, status, last, c.want)
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	for args, want := range map[string]string{"version": "gorge ", "help": "usage: gorge"} {
		var out bytes.Buffer
		if status := run(t.Context(), []string{args}, &out, io.Discard); status != 0 || !strings.HasPrefix(out.String(), want) {
			t.Errorf("gorge %s: status %d, output %q", args, status, out.String())
		}
	}
	says(t, 0, "usage: gorge version\n", "help", "version")
	if status := run(t.Context(), []string{"serve", "-h"}, io.Discard, io.Discard); status != 0 {
		t.Errorf("gorge serve -h: status %d", status)
	}
}

// The help of a command says what it takes beside flags.
func TestHelpNamesOperands(t *testing.T) {
	for args, want := range map[string]string{
		"devices":            "usage: gorge devices [flags] grpc://host:port\n",
		"savedmodel show":    "usage: gorge savedmodel show DIR\n",
		"savedmodel run":     "usage: gorge savedmodel run DIR [flags]\n",
		"savedmodel convert": "usage: gorge savedmodel convert FROM TO [flags]\n",
		"savedmodel freeze":  "usage: gorge savedmodel freeze DIR GRAPH.pb [flags]\n",
		"savedmodel bench":   "usage: gorge savedmodel bench DIR [flags]\n",
	} {
		var out bytes.Buffer
		if status := run(t.Context(), append(strings.Fields(args), "-h"), &out, &out); status != 0 || !strings.HasPrefix(out.String(), want) {
			t.Errorf("gorge %s -h: status %d, output %q", args, status, out.String())
		}
	}
}
