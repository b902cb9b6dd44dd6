package cluster_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// taskVariable tells a process of this test program which task it is: "cluster
// job task".
const taskVariable = "GORGE_TEST_TASK"

// serveTask is one task in a process of its own, until its input ends.
func serveTask(text string) {
	f := strings.Fields(text)
	spec, err := cluster.ParseSpec(f[0])
	if err != nil {
		panic(err)
	}
	task, err := strconv.Atoi(f[2])
	if err != nil {
		panic(err)
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s, err := cluster.NewServer(cluster.Config{Cluster: spec, Job: f[1], Task: task, Listener: lis, Log: slog.DiscardHandler})
	if err != nil {
		panic(err)
	}
	if err := s.Start(); err != nil {
		panic(err)
	}
	fmt.Println(lis.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin) // which ends with the test, however that ends
	s.Stop()
}

// A process is a task in a process of its own, behind a link.
type process struct {
	*link
	t    testing.TB
	task string
	cmd  *exec.Cmd
	in   io.Closer
}

// begin starts the task, or another life of it.
func (p *process) begin() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), taskVariable+"="+p.task)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.in = in
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.t.Fatalf("task %s: %v", p.task, err)
	}
	p.lead(strings.TrimSpace(address))
}

// killer returns what ends the process without a word, as kill -9 does: the one
// that there is now, not another life of the task.
func (p *process) killer() func() {
	proc := p.cmd.Process
	return func() { _ = proc.Kill() } // fails if the process has ended already
}

// again kills the task, if nothing has yet, and starts it anew.
func (p *process) again() {
	p.t.Helper()
	p.killer()()
	p.end()
	p.begin()
}

func (p *process) end() {
	p.in.Close()
	_ = p.cmd.Wait() // says that it was killed
	p.cut()
}

// processes starts a ps and two workers, each a process behind a link, by
// "job:task".
func processes(t *testing.T) map[string]*process {
	t.Helper()
	jobs := []string{"ps:0", "worker:0", "worker:1"}
	all, address := map[string]*process{}, map[string]string{}
	for _, key := range jobs {
		all[key] = &process{t: t, link: newLink(t)}
		address[key] = all[key].address()
	}
	spec := fmt.Sprintf("ps|%s,worker|%s;%s", address["ps:0"], address["worker:0"], address["worker:1"])
	for _, key := range jobs {
		job, task, _ := strings.Cut(key, ":")
		all[key].task = strings.Join([]string{spec, job, task}, " ")
		all[key].begin()
		t.Cleanup(all[key].end)
	}
	return all
}
