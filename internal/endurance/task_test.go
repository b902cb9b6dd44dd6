package endurance

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tasks ask a silent peer after this time whether it is there, and take it for
// gone when it has not answered for that one: short, so that plans are.
const (
	silence  = 300 * time.Millisecond
	patience = 700 * time.Millisecond
)

// A task is one process of a cluster.
type task struct {
	t    testing.TB
	name string // job:index
	argv []string
	log  string // the file with what it says
	ns   string // its network namespace, if it has one
	link string // the end of its network link that is ours
	cmd  *exec.Cmd
	lost int // lives before this one
}

// start begins a life of the task and waits until it serves.
func (k *task) start() {
	k.t.Helper()
	argv := k.argv
	if k.ns != "" {
		argv = append([]string{"ip", "netns", "exec", k.ns}, argv...)
	}
	log, err := os.OpenFile(k.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		k.t.Fatal(err)
	}
	defer log.Close()
	k.cmd = exec.Command(argv[0], argv[1:]...)
	k.cmd.Stderr = log
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := k.cmd.StdinPipe(); err != nil { // TensorFlow's server ends with its input
		k.t.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		k.t.Fatalf("%s does not start: %v; it says\n%s", k.name, err, tail(k.log))
	}
}

// end waits until the process is gone.
func (k *task) end() {
	_ = k.cmd.Wait() // how it ended follows from the fault
	k.lost++
}

// signal sends the process a signal.
func (k *task) signal(s syscall.Signal) { _ = k.cmd.Process.Signal(s) }

// suffer makes a fault happen, from its begin to its end.
func (k *task) suffer(f fault) {
	k.t.Helper()
	switch f.kind {
	case kill, term:
		k.signal(map[kind]syscall.Signal{kill: syscall.SIGKILL, term: syscall.SIGTERM}[f.kind])
		k.end()
		time.Sleep(f.lasts)
		k.start()
	case hold:
		k.signal(syscall.SIGSTOP)
		time.Sleep(f.lasts)
		k.signal(syscall.SIGCONT)
	case cut:
		run(k.t, "ip", "link", "set", k.link, "down")
		time.Sleep(f.lasts)
		run(k.t, "ip", "link", "set", k.link, "up")
	}
}

// use is what a process holds.
type use struct{ descriptors, memory, threads int } // memory in KiB, resident

// uses reads what the process of the task holds.
func (k *task) uses() use { return usesOf(k.t, k.cmd.Process.Pid) }

// usesOf reads what a process holds.
func usesOf(t testing.TB, pid int) (u use) {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	u.descriptors = len(fds)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "VmRSS:":
			u.memory, _ = strconv.Atoi(f[1])
		case "Threads:":
			u.threads, _ = strconv.Atoi(f[1])
		}
	}
	return u
}

// tail returns the end of a file.
func tail(file string) string {
	data, _ := os.ReadFile(file)
	return string(data[max(0, len(data)-2000):])
}

// run runs a command that must succeed.
func run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
}

// gorge builds the command of this tree.
func gorge(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "gorge")
	cmd := exec.Command("go", "build", "-o", bin, "../../cmd/gorge")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return bin
}

// A group is a cluster of tasks.
type group struct {
	t     testing.TB
	tasks []*task
	spec  map[string][]string
}

var jobs = []string{"ps:0", "worker:0", "worker:1"}

// cluster starts a parameter server and two workers on this machine's loopback.
func cluster(t testing.TB, bin string, flags ...string) *group {
	t.Helper()
	addresses := make([]string, len(jobs))
	for i := range jobs {
		addresses[i] = freeAddress(t)
	}
	c := newGroup(t, addresses)
	for i := range jobs {
		c.add(i, bin, flags)
	}
	c.start()
	return c
}

// newGroup returns a cluster without tasks.
func newGroup(t testing.TB, addresses []string) *group {
	c := &group{t: t, spec: map[string][]string{}}
	for i, name := range jobs {
		job, _, _ := strings.Cut(name, ":")
		c.spec[job] = append(c.spec[job], addresses[i])
	}
	return c
}

// add adds the task of a number, served by the binary.
func (c *group) add(i int, bin string, flags []string) *task {
	k := &task{t: c.t, name: jobs[i], argv: c.argv(i, bin, flags), log: filepath.Join(c.t.TempDir(), "log")}
	c.tasks = append(c.tasks, k)
	return k
}

// argv returns the command of a task. With GORGE_PEER, TensorFlow's python, it is a
// server of TensorFlow's.
func (c *group) argv(i int, bin string, flags []string) []string {
	job, index, _ := strings.Cut(jobs[i], ":")
	var parts []string
	for _, job := range []string{"ps", "worker"} {
		parts = append(parts, job+"|"+strings.Join(c.spec[job], ";"))
	}
	spec := strings.Join(parts, ",")
	if python := os.Getenv("GORGE_PEER"); python != "" {
		return []string{python, "../../interop/testdata/server.py", spec, job, index}
	}
	return append([]string{bin, "serve", "--cluster_spec=" + spec, "--job_name=" + job, "--task_id=" + index, "--log=warn",
		"--grace=1s", "--keepalive=" + silence.String(), "--keepalive_timeout=" + patience.String()}, flags...)
}

// start starts all tasks. They end with the test.
func (c *group) start() {
	c.t.Helper()
	for _, k := range c.tasks {
		k.start()
		c.t.Cleanup(func() { k.signal(syscall.SIGCONT); k.signal(syscall.SIGKILL); k.end() })
	}
}

// freeAddress returns an address of this machine that is free, below the range from
// which the system takes those of outgoing connections.
func freeAddress(t testing.TB) string {
	t.Helper()
	for port := 20000 + os.Getpid()%5000; port < 32000; port++ {
		if used[port] {
			continue
		}
		lis, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		lis.Close()
		used[port] = true
		return lis.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}

var used = map[int]bool{}
