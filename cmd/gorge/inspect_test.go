package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// servingTask starts a server that is a cluster by itself.
func servingTask(t *testing.T) *cluster.Server {
	t.Helper()
	s, err := cluster.NewServer(cluster.Config{Cluster: cluster.Spec{"worker": {"127.0.0.1:0"}}, Job: "worker", Devices: map[string]int{"CPU": 2}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDevices(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"devices", "--timeout=1m", servingTask(t).Target()}, &out, &errs); code != 0 {
		t.Fatalf("status %d: %s", code, errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "/job:worker/replica:0/task:0/device:CPU:0  CPU") || !strings.Contains(lines[2], "CPU:1") {
		t.Errorf("devices:\n%s", out.String())
	}
}

func TestDoctor(t *testing.T) {
	up := strings.TrimPrefix(servingTask(t).Target(), "grpc://")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"doctor", "--timeout=1m", "--cluster_spec=worker|" + up}, &out, &errs); code != 0 {
		t.Errorf("status %d: %s", code, errs.String())
	}
	for _, want := range []string{"cpu  ", "rdma  ", "/job:worker/replica:0/task:0  " + up + "  ok", "gorge ("} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in what the doctor says:\n%s", want, out.String())
		}
	}
	out.Reset()
	code := run(t.Context(), []string{"doctor", "--timeout=1m", "--cluster_spec=worker|" + up + ",ps|127.0.0.1:1"}, &out, &errs)
	if code != 1 || !strings.HasSuffix(strings.TrimSpace(errs.String()), "UNAVAILABLE: 1 of 2 tasks do not answer") || !strings.Contains(out.String(), "UNAVAILABLE") || !strings.Contains(out.String(), "\n/job:ps/replica:0/task:0: connection error: ") {
		t.Errorf("status %d with a task missing: %s\n%s", code, errs.String(), out.String())
	}
}

// TestDevicesOfNobody: a port without server is said to be unreachable, with its address.
func TestDevicesOfNobody(t *testing.T) {
	var errs bytes.Buffer
	code := run(t.Context(), []string{"devices", "--timeout=500ms", "grpc://127.0.0.1:1"}, io.Discard, &errs)
	if code != 1 || !strings.Contains(errs.String(), "UNAVAILABLE: 127.0.0.1:1 cannot be reached: ") || !strings.Contains(errs.String(), "refused") {
		t.Errorf("status %d: %s", code, errs.String())
	}
}

func TestRDMADevices(t *testing.T) {
	dir := t.TempDir()
	if got := rdmaDevices(dir); !strings.HasPrefix(got, "no device") {
		t.Errorf("an empty directory: %q", got)
	}
	for _, name := range []string{"mlx5_0", "mlx5_1"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := rdmaDevices(dir); got != "mlx5_0 mlx5_1" {
		t.Errorf("two devices: %q", got)
	}
}
