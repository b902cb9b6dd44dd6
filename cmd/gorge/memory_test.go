package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestByteCount(t *testing.T) {
	for text, want := range map[string]byteCount{
		"0": 0, "1000": 1000, "1K": 1 << 10, "512MiB": 512 << 20, "512MB": 512 << 20, "1.5G": 3 << 29, "2tb": 2 << 40, "64 GiB": 64 << 30, "7B": 7,
	} {
		var b byteCount
		if err := b.Set(text); err != nil || b != want {
			t.Errorf("%q is %d, %v, want %d", text, b, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1X", "1KM", "NaN", "1e30", "G", "iB"} {
		var b byteCount
		if err := b.Set(text); err == nil {
			t.Errorf("%q is %d", text, b)
		}
	}
}

// serveVariable has a process of this test program run the command that it names.
const serveVariable = "GORGE_TEST_COMMAND"

// TestMemoryLimit: a server with little memory refuses what does not fit, and
// goes on.
func TestMemoryLimit(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveVariable+"=serve --cluster_spec=worker|127.0.0.1:0 --job_name=worker --memory_limit=128MiB --log=error")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
	}()
	target, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	n := ops.Placeholder(g, tf.Int32, tf.Shape{1})
	y := ops.Sum(ops.Fill(n, ops.Scalar[float32](g, 1)), ops.Const(g, []int32{0}))
	s, err := session.New(g, session.Target(strings.TrimSpace(target)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		_, err := s.Run(t.Context(), session.Feeds{n: must(tf.FromSlice([]int32{64 << 20}))}, y)
		if tf.CodeOf(err) != tf.ResourceExhausted || !strings.Contains(err.Error(), "limit of 134217728 bytes") {
			t.Errorf("256 MB within 128: %v", err)
		}
		if got, err := s.Run(t.Context(), session.Feeds{n: must(tf.FromSlice([]int32{4 << 20}))}, y); err != nil || got[0].At(0) != float32(4<<20) {
			t.Errorf("16 MB within 128: %v, %v", got, err)
		}
	}
}

func must(t *tf.Tensor, err error) *tf.Tensor {
	if err != nil {
		panic(err)
	}
	return t
}
