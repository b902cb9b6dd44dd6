package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// What the environment says of workload 18: bench/rdma sets it in the virtual machine
// that has RDMA devices.
const (
	rdmaHosts  = "GORGE_BENCH_HOSTS"    // of the ps and the worker, separated by a comma
	rdmaPrefix = "GORGE_BENCH_WORKER"   // command before the worker's, so that its packets take the link
	rdmaLink   = "GORGE_BENCH_LINK"     // network interface whose bytes are counted
	transport  = "GORGE_BENCH_PROTOCOL" // of tasks: verbs, links or grpc
)

// sizes that cross in a step: so many tensors of so many bytes.
var rdmaSizes = []struct {
	name     string
	bytes, k int
}{{"64KiB", 64 << 10, 16}, {"1MiB", 1 << 20, 8}, {"8MiB", 8 << 20, 2}}

// rdmaHops is how often the scalar of the latency's step crosses.
const rdmaHops = 64

// rdma is workload 18: tensors between two tasks by RDMA, links and gRPC, and, where
// there are RDMA devices, the same bytes by perftest: all in turn, five times. What is
// reported is the median.
func rdma(b *bench) {
	b.repeat = 5
	var all []*series
	for _, way := range []string{"verbs", "links", "grpc"} {
		c := b.rdmaTasks(way)
		defer c.close()
		all = append(all, b.hops(c, way))
		for _, s := range rdmaSizes {
			all = append(all, b.stream(c, way, s.name, s.bytes, s.k))
		}
	}
	if os.Getenv(rdmaLink) != "" {
		all = append(all, b.perftest()...)
	}
	for range b.repeat {
		for _, s := range all {
			s.measure()
		}
	}
	for _, s := range all {
		s.report(b)
	}
}

// A series is something that is measured several times.
type series struct {
	name       string
	bytes      float64 // that cross in a run, 0: it is a latency
	run        func() (seconds, processors float64)
	end        func() // after all
	walls, cpu []float64
}

func (s *series) measure() {
	t, cpu := s.run()
	s.walls, s.cpu = append(s.walls, t), append(s.cpu, cpu)
}

// report prints the medians.
func (s *series) report(b *bench) {
	slices.Sort(s.walls)
	slices.Sort(s.cpu)
	t, cpu := s.walls[len(s.walls)/2], s.cpu[len(s.cpu)/2]
	b.spread = t / s.walls[0]
	if s.bytes == 0 {
		b.emit(s.name+".us", t*1e6, "us")
	} else {
		b.emit(s.name+".MB_per_s", s.bytes/1e6/t, "MB/s")
		b.emit(s.name+".cpu_s_per_GB", cpu/s.bytes*1e9, "s")
	}
	if s.end != nil {
		s.end()
	}
}

// timed is n calls of f, after one that warms up: how long they take, and of how
// many processors' time.
func timed(n int, f func()) func() (seconds, processors float64) {
	return func() (float64, float64) {
		f()
		start, used := time.Now(), cpuBusy()
		for range n {
			f()
		}
		return time.Since(start).Seconds(), cpuBusy() - used
	}
}

// rdmaTasks starts both tasks, which exchange tensors in one way.
func (b *bench) rdmaTasks(way string) *tasks {
	os.Setenv(transport, way)
	hosts := strings.Split(orElse(os.Getenv(rdmaHosts), "127.0.0.1,127.0.0.1"), ",")
	c := &tasks{spec: cluster.Spec{"ps": {freeAddressOf(hosts[0])}, "worker": {freeAddressOf(hosts[1])}}, procs: map[string]*task{}}
	for job := range c.spec {
		c.procs[job] = startTask("rdma_task", strconv.Itoa(b.threads), c.spec.String(), job, "0")
	}
	for _, t := range c.procs {
		t.expect("READY")
	}
	return c
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func freeAddressOf(host string) string {
	l := must(net.Listen("tcp", net.JoinHostPort(host, "0")))
	defer l.Close()
	return l.Addr().String()
}

// carry sets how a task exchanges tensors.
func carry(c *cluster.Config) {
	switch os.Getenv(transport) {
	case "verbs":
		c.Protocol, c.RDMA.ArenaBytes = "grpc+verbs", 96<<20
	case "grpc":
		c.NoLinks = true
	}
}

// rdmaTask tells its counters each time that it is asked, until its input ends.
func rdmaTask(s *cluster.Server) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var sum cluster.RDMAStats
		for _, sum = range s.RDMAStats() { // there is one peer
		}
		fmt.Println(string(must(json.Marshal(sum))))
	}
}

func (c *tasks) counters(job string) (s cluster.RDMAStats) {
	c.procs[job].say("stats")
	must(0, json.Unmarshal([]byte(c.procs[job].line()), &s))
	return s
}

// unoptimized opens a session whose graph runs as it is written.
func unoptimized(target string, build func(g *tf.Graph)) *session.Session {
	g := tf.NewGraph()
	build(g)
	s := must(session.New(g, session.Target(target), session.With(session.Config{DisabledPasses: []string{"all"}})))
	if len(tf.Variables(g, tf.GlobalVariables)) > 0 {
		must(s.Run(ctx, nil, tf.InitializeAll(g)))
	}
	return s
}

// hops measures how long a scalar takes from one task to the other: it goes there and
// back in one step, so that the step itself counts little.
func (b *bench) hops(c *tasks, way string) *series {
	var x, y tf.Output
	s := unoptimized(c.target(), func(g *tf.Graph) {
		x = ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.OnDevice("/job:worker/task:0"))
		y = x
		for i := range rdmaHops {
			y = ops.Neg(y, tf.OnDevice([]string{"/job:ps/task:0", "/job:worker/task:0"}[i%2]))
		}
	})
	one := tf.Scalar(float32(1))
	run := func() { must(s.Run(ctx, session.Feeds{x: one}, y)) }
	got := must(session.Fetch[float32](ctx, s, session.Feeds{x: one}, y))
	b.check(way+".hops.result", float64(got[0]), nil)
	n := b.steps(20)
	all := timed(n, run)
	return &series{name: way + ".hop_4B", run: func() (float64, float64) {
		t, cpu := all()
		return t / float64(n*rdmaHops), cpu
	}, end: func() { s.Close() }}
}

// stream has k variables of the ps read by the worker in each step.
func (b *bench) stream(c *tasks, way, name string, bytes, k int) *series {
	var sum tf.Output
	s := unoptimized(c.target(), func(g *tf.Graph) {
		var ends []tf.Output
		for i := range k {
			var v *tf.Variable
			g.Device("/job:ps/task:0", func() {
				v = tf.NewVariable(ops.Fill(ops.Const(g, []int32{int32(bytes / 4)}), ops.Scalar(g, float32(i))), tf.VariableOptions{Name: fmt.Sprintf("%s_%d", name, i)})
			})
			g.Device("/job:worker/task:0", func() { ends = append(ends, last(g, v.Value(), int32(bytes/4))) })
		}
		g.Device("/job:worker/task:0", func() { sum = ops.AddN(ends) })
	})
	b.check(way+"."+name+".sum", float64(must(session.Fetch[float32](ctx, s, nil, sum))[0]), nil)
	run := func() { must(s.Run(ctx, nil, sum)) }
	run() // what is sent twice from the same memory is registered
	run()
	n := b.steps(20)
	all := timed(n, run)
	return &series{name: way + "." + name, bytes: float64(bytes * k * n), run: func() (float64, float64) {
		link := linkBytes()
		ps, worker := c.counters("ps"), c.counters("worker")
		t, cpu := all()
		sent := int64(k * (n + 1))
		if at := os.Getenv(rdmaLink); at != "" && linkBytes()-link < sent*int64(bytes) {
			fatal(fmt.Errorf("%s: %d bytes crossed %s, the tensors alone have %d", way, linkBytes()-link, at, sent*int64(bytes)))
		}
		if way == "verbs" {
			b.counts(name, sent, c.counters("ps"), ps, c.counters("worker"), worker)
		}
		return t, cpu
	}, end: func() { s.Close() }}
}

// counts makes sure that n tensors took a request, a write and no copy each, beside
// the scalars with which the client's runs begin and end.
func (b *bench) counts(name string, n int64, ps, ps0, worker, worker0 cluster.RDMAStats) {
	writes, requests, copies := ps.Writes-ps0.Writes, worker.Messages-worker0.Messages, ps.Staged-ps0.Staged+worker.Staged-worker0.Staged
	// The sender hears of a request and of the end of a write, and sometimes of credits.
	completions := ps.Completed - ps0.Completed
	if requests != n || copies != 0 || writes < n || writes%n != 0 || completions > 2*n+n/8+8 {
		fatal(fmt.Errorf("%s: %d tensors took %d requests, %d writes, %d completions and %d copies, want one request, the same number of writes and two completions for each, and no copy", name, n, requests, writes, completions, copies))
	}
}

// linkBytes is how many bytes the network interface has received, 0 without one.
func linkBytes() int64 {
	name := os.Getenv(rdmaLink)
	if name == "" {
		return 0
	}
	b := must(os.ReadFile("/sys/class/net/" + name + "/statistics/rx_bytes"))
	return must(strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64))
}

// perftest has the tools of that package move the same bytes between the devices.
// Its writes are polled for; what sleeps until something comes, as tasks do, are
// its sends.
func (b *bench) perftest() (all []*series) {
	host := strings.Split(os.Getenv(rdmaHosts), ",")[0]
	for _, s := range rdmaSizes {
		n := max(5, s.k*b.steps(20))
		for name, args := range map[string][]string{"write": {"ib_write_bw"}, "send_events": {"ib_send_bw", "-e"}} {
			args = append(args, "-s", strconv.Itoa(s.bytes), "-n", strconv.Itoa(n))
			total := float64(s.bytes * n)
			all = append(all, &series{name: "perftest." + name + "." + s.name, bytes: total, run: func() (float64, float64) {
				used := cpuBusy()
				rate := tool(host, 3, args...) * (1 << 20)
				return total / rate, cpuBusy() - used
			}})
		}
	}
	for name, args := range map[string][]string{"write": {"ib_write_lat"}, "send_events": {"ib_send_lat", "-e"}} {
		args = append(args, "-s", "4", "-n", "1000")
		all = append(all, &series{name: "perftest." + name + "_4B", run: func() (float64, float64) { return tool(host, 4, args...) / 1e6, 0 }})
	}
	return all
}

// tool runs both ends of a tool and returns a column of what the client says. A tool
// that could not tell how fast the processor's counter runs ("Correlation coefficient
// r^2: … < 0.9") says 0 and is run again.
func tool(host string, column int, args ...string) float64 {
	for range 10 {
		if v := columnOf(runTool(host, args), column); v > 0 {
			return v
		}
	}
	fatal(fmt.Errorf("%s gave no result in ten runs", args[0]))
	return 0
}

// runTool runs both ends of a tool and returns what the client says.
func runTool(host string, args []string) string {
	end := func(device string, more ...string) *exec.Cmd {
		return exec.Command(args[0], slices.Concat([]string{"-d", device, "-x", "1", "-F"}, args[1:], more)...)
	}
	server := end("rxe0")
	must(0, server.Start())
	out, err := retried(func() ([]byte, error) { return end("rxe1", host).CombinedOutput() })
	if err != nil {
		fatal(fmt.Errorf("%s: %v: %s", args[0], err, out))
	}
	must(0, server.Wait())
	return string(out)
}

// retried calls f again while the server is not there yet.
func retried(f func() ([]byte, error)) (out []byte, err error) {
	for range 50 {
		if out, err = f(); err == nil || !strings.Contains(string(out), "ouldn't connect") {
			return out, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return out, err
}

// columnOf returns a number of the last line that is made of numbers, 0 if there is none.
func columnOf(text string, column int) (v float64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) <= column {
			continue
		}
		if _, err := strconv.Atoi(f[0]); err != nil {
			continue
		}
		if x, err := strconv.ParseFloat(f[column], 64); err == nil {
			v = x
		}
	}
	return v
}
