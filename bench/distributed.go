package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// distributed is workload 12: each task is a process of its own on loopback.
func distributed(b *bench) {
	c := b.startCluster("server", map[string]int{"ps": 1, "worker": 1})
	b.clientIdentity(c.target())
	b.scalarStep(c.target())
	for _, f := range []struct {
		name   string
		n, run int
	}{{"1KB", 250, 100}, {"1MB", 250_000, 50}, {"100MB", 25_000_000, 3}} {
		b.fetch(c.target(), f.name, f.n, f.run)
		b.push(c.target(), f.name, f.n, f.run)
	}
	b.sparseGather(c.target(), "_of_9765_rows", 9765)
	b.sparseGather(c.target(), "", 97656)
	c.close()
	b.allReduce()
	b.asyncMLP()
}

// tasks are the processes of a cluster; each ends when its input closes.
type tasks struct {
	spec  cluster.Spec
	procs map[string]*task
}

type task struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startCluster starts the tasks; those of job worker play the given role.
func (b *bench) startCluster(role string, jobs map[string]int) *tasks {
	c := &tasks{spec: cluster.Spec{}, procs: map[string]*task{}}
	for job, n := range jobs {
		for range n {
			c.spec[job] = append(c.spec[job], freeAddress())
		}
	}
	for job, addrs := range c.spec {
		for i := range addrs {
			r := "server"
			if job == "worker" {
				r = role
			}
			c.procs[fmt.Sprintf("%s%d", job, i)] = startTask(r, strconv.Itoa(b.threads), c.spec.String(), job, strconv.Itoa(i))
		}
	}
	for _, t := range c.procs {
		t.expect("READY")
	}
	return c
}

func freeAddress() string {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}

func startTask(role string, args ...string) *task {
	argv := append([]string{must(os.Executable()), "-role", role}, args...)
	if prefix := os.Getenv(rdmaPrefix); prefix != "" && role == "rdma_task" && args[2] == "worker" {
		argv = append(strings.Fields(prefix), argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	t := &task{cmd: cmd, in: must(cmd.StdinPipe())}
	t.out = bufio.NewReader(must(cmd.StdoutPipe()))
	if err := cmd.Start(); err != nil {
		fatal(err)
	}
	return t
}

func (t *task) line() string { return strings.TrimSpace(must(t.out.ReadString('\n'))) }

func (t *task) expect(want string) {
	if got := t.line(); got != want {
		fatal(fmt.Errorf("a task said %q, want %q", got, want))
	}
}

func (t *task) say(format string, args ...any) { fmt.Fprintf(t.in, format+"\n", args...) }

func (c *tasks) target() string { return "grpc://" + c.spec["worker"][0] }

func (c *tasks) close() {
	for _, t := range c.procs {
		t.in.Close()
	}
	for _, t := range c.procs {
		if err := t.cmd.Wait(); err != nil {
			fatal(err)
		}
	}
}

// actInCluster is the process of one task: threads, cluster, job, task.
func actInCluster(b *bench, role string, args []string) {
	if len(args) != 4 {
		fatal(fmt.Errorf("role %q wants threads, cluster, job and task", role))
	}
	runtime.GOMAXPROCS(max(b.threads, 2))
	n := must(strconv.Atoi(args[3]))
	c := cluster.Config{Cluster: must(cluster.ParseSpec(args[1])), Job: args[2], Task: n, CollectiveLeader: "/job:worker/task:0"}
	guard(&c)
	carry(&c)
	s := must(cluster.NewServer(c))
	if err := s.Start(); err != nil {
		fatal(err)
	}
	fmt.Println("READY")
	switch role {
	case "async_worker":
		b.asyncWorker(s.Target(), n)
	case "rdma_task":
		rdmaTask(s)
	default:
		io.Copy(io.Discard, os.Stdin)
	}
	if err := s.Stop(); err != nil {
		fatal(err)
	}
}

// on builds a graph and opens a session on the cluster.
func on(target string, build func(g *tf.Graph)) *session.Session {
	g := tf.NewGraph()
	build(g)
	s := must(session.New(g, session.Target(target)))
	if len(tf.Variables(g, tf.GlobalVariables)) > 0 {
		must(s.Run(ctx, nil, tf.InitializeAll(g)))
	}
	return s
}

func (b *bench) clientIdentity(target string) {
	var x, out tf.Output
	s := on(target, func(g *tf.Graph) {
		x = ops.Placeholder(g, tf.Float32, tf.Shape{})
		out = ops.Identity(x, tf.OnDevice("/job:worker/task:0"))
	})
	defer s.Close()
	one := tf.Scalar(float32(1))
	n := b.steps(200)
	run := func() { must(s.Run(ctx, session.Feeds{x: one}, out)) }
	c := must(s.MakeCallable([]tf.Output{x}, out))
	for _, way := range []struct {
		name string
		f    func()
	}{{"run", run}, {"run_callable", func() { must(c.Run(ctx, one)) }}} {
		for range max(20, n/10) {
			way.f()
		}
		b.emit("client_identity."+way.name+".us", b.best(n, b.repeat, way.f)*1e6, "us")
	}
}

func (b *bench) scalarStep(target string) {
	var d tf.Output
	var v *tf.Variable
	var step *tf.Operation
	s := on(target, func(g *tf.Graph) {
		g.Device("/job:ps/task:0", func() {
			v = tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
		})
		d = ops.Placeholder(g, tf.Float32, tf.Shape{})
		delta := ops.Minimum(v.Value(), d, tf.OnDevice("/job:worker/task:0"))
		g.Device("/job:ps/task:0", func() { step = v.AssignAdd(delta) })
	})
	defer s.Close()
	c := must(s.MakeCallable([]tf.Output{d}, step))
	one := tf.Scalar(float32(1))
	for range 50 {
		must(c.Run(ctx, one))
	}
	b.check("ps_scalar_step.result", float64(must(session.Fetch[float32](ctx, s, nil, v.Value()))[0]), nil)
	b.emit("ps_scalar_step.us", b.best(b.steps(100), b.repeat, func() { must(c.Run(ctx, one)) })*1e6, "us")
}

// ramp adds a variable of n values (i mod 1024)/1024 on the parameter server.
func ramp(g *tf.Graph, name string, shape ...int32) (v *tf.Variable) {
	n := int32(1)
	for _, d := range shape {
		n *= d
	}
	g.Device("/job:ps/task:0", func() {
		i := ops.FloorMod(ops.Range(g, 0, ops.Scalar(g, n), 1), ops.Scalar(g, int32(1024)))
		x := ops.RealDiv(ops.Cast(i, tf.Float32), ops.Scalar(g, float32(1024)))
		v = tf.NewVariable(ops.Reshape(x, ops.Const(g, shape, len(shape))), tf.VariableOptions{Name: name})
	})
	return v
}

// last returns the last element of x of the given sizes, as a scalar.
func last(g *tf.Graph, x tf.Output, size ...int32) tf.Output {
	begin, one := make([]int32, len(size)), make([]int32, len(size))
	for i, d := range size {
		begin[i], one[i] = d-1, 1
	}
	e := ops.Slice(x, ops.Const(g, begin, len(begin)), ops.Const(g, one, len(one)))
	return ops.Reshape(e, ops.Const(g, []int32{}, 0))
}

func (b *bench) fetch(target, name string, n, runs int) {
	var out, mean tf.Output
	s := on(target, func(g *tf.Graph) {
		v := ramp(g, "v_"+name, int32(n))
		g.Device("/job:worker/task:0", func() {
			got := ops.Identity(v.Value())
			out, mean = last(g, got, int32(n)), ops.Mean(got, ops.Const(g, []int32{0}))
		})
	})
	defer s.Close()
	b.check("fetch_"+name+".mean", float64(must(session.Fetch[float32](ctx, s, nil, mean))[0]), nil)
	c := must(s.MakeCallable(nil, out))
	t := b.calls(n, runs, func() { must(c.Run(ctx)) })
	b.emit("fetch_"+name+".us", t*1e6, "us")
	b.emit("fetch_"+name+".MB_per_s", float64(n)*4/1e6/t, "MB/s")
}

func (b *bench) push(target, name string, n, runs int) {
	var step *tf.Operation
	var sum tf.Output
	s := on(target, func(g *tf.Graph) {
		fill := func(x float32) tf.Output { return ops.Fill(ops.Const(g, []int32{int32(n)}), ops.Scalar(g, x)) }
		var v, src *tf.Variable
		g.Device("/job:ps/task:0", func() { v = tf.NewVariable(fill(0), tf.VariableOptions{Name: "p_" + name}) })
		g.Device("/job:worker/task:0", func() { src = tf.NewVariable(fill(1), tf.VariableOptions{Name: "s_" + name}) })
		g.Device("/job:ps/task:0", func() {
			step = v.Assign(src.Value())
			sum = ops.Sum(v.Value(), ops.Const(g, []int32{0}))
		})
	})
	defer s.Close()
	c := must(s.MakeCallable(nil, step))
	t := b.calls(n, runs, func() { must(c.Run(ctx)) })
	b.emit("push_"+name+".us", t*1e6, "us")
	b.emit("push_"+name+".MB_per_s", float64(n)*4/1e6/t, "MB/s")
	b.check("push_"+name+".sum", float64(must(session.Fetch[float32](ctx, s, nil, sum))[0]), nil)
}

// calls returns the time of one call that moves n numbers: less warming up and
// no more calls than told for what is large.
func (b *bench) calls(n, runs int, run func()) float64 {
	warm := 3
	if n < 1e7 {
		warm, runs = 20, b.steps(runs)
	}
	for range warm {
		run()
	}
	return b.best(runs, 10, run)
}

// sparseGather fetches rows of a table; how many it has should not matter.
func (b *bench) sparseGather(target, name string, rows int) {
	const dim, k = 512, 1000
	var idx, out, mean tf.Output
	s := on(target, func(g *tf.Graph) {
		v := ramp(g, "emb"+name, int32(rows), dim)
		idx = ops.Placeholder(g, tf.Int32, tf.Shape{k})
		wid := ops.Identity(idx, tf.OnDevice("/job:worker/task:0"))
		got := ops.ResourceGather(v.Handle(), wid, tf.Float32)
		g.Device("/job:worker/task:0", func() {
			got = ops.Identity(got)
			out, mean = last(g, got, k, dim), ops.Mean(got, ops.Const(g, []int32{0, 1}))
		})
	})
	defer s.Close()
	ids := tensor(labels(1007, k, rows), k)
	b.check("sparse_gather"+name+".mean", float64(must(session.Fetch[float32](ctx, s, session.Feeds{idx: ids}, mean))[0]), nil)
	c := must(s.MakeCallable([]tf.Output{idx}, out))
	for range 20 {
		must(c.Run(ctx, ids))
	}
	b.emit("sparse_gather_1000x512"+name+".us", b.best(b.steps(50), b.repeat, func() { must(c.Run(ctx, ids)) })*1e6, "us")
}

// asyncMLP trains on one parameter server from two workers at once.
func (b *bench) asyncMLP() {
	c := b.startCluster("async_worker", map[string]int{"ps": 1, "worker": 2})
	defer c.close()
	w := []*task{c.procs["worker0"], c.procs["worker1"]}
	w[0].say("init")
	w[0].expect("OK")
	c.both(w, 20)
	n := b.steps(100)
	best, loss := c.both(w, n)
	for range min(b.repeat, 8) - 1 {
		rate, _ := c.both(w, n)
		best = max(best, rate)
	}
	b.emit("async_mlp_2_workers.steps_per_s", best, "steps/s")
	b.check("async_mlp_2_workers.loss_last_approx", loss, map[string]any{"tolerance": 0.05})
	best = 0
	for range min(b.repeat, 8) {
		w[0].say("run %d", n)
		r := w[0].result()
		best = max(best, float64(n)/(r.End-r.Start))
	}
	b.emit("async_mlp_1_worker.steps_per_s", best, "steps/s")
	b.emit("peak_rss_ps.MB", peakRSS(strconv.Itoa(c.procs["ps0"].cmd.Process.Pid)), "MB")
}

// loopResult is what a worker says of a run.
type loopResult struct{ Start, End, Loss float64 }

func (t *task) result() (r loopResult) {
	if err := json.Unmarshal([]byte(t.line()), &r); err != nil {
		fatal(err)
	}
	return r
}

// both runs n steps on both workers at once.
func (c *tasks) both(w []*task, n int) (rate, loss float64) {
	for _, t := range w {
		t.say("run %d", n)
	}
	a, z := w[0].result(), w[1].result()
	return 2 * float64(n) / (max(a.End, z.End) - min(a.Start, z.Start)), (a.Loss + z.Loss) / 2
}

// asyncWorker is server and training loop of one worker.
func (b *bench) asyncWorker(target string, index int) {
	g := tf.NewGraph()
	var x, y, loss tf.Output
	var step *tf.Operation
	g.Device(fmt.Sprintf("/job:worker/task:%d", index), func() {
		x, y = ops.Placeholder(g, tf.Float32, tf.Shape{100, 784}), ops.Placeholder(g, tf.Int32, tf.Shape{100})
		loss = (&mlp{g: g, device: "/job:ps/task:0"}).net(x, y)
		step = train.GradientDescent{LearningRate: 0.01}.Minimize(loss)
	})
	s := must(session.New(g, session.Target(target)))
	defer s.Close()
	c := must(s.MakeCallable([]tf.Output{x, y}, loss, step))
	batches, k := imageBatches(10, 100, 784), 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		cmd := strings.Fields(in.Text())
		if cmd[0] == "init" {
			must(s.Run(ctx, nil, tf.InitializeAll(g)))
			fmt.Println("OK")
			continue
		}
		r := loopResult{Start: now()}
		for range must(strconv.Atoi(cmd[1])) {
			v := batches[k%10]
			k++
			r.Loss = float64(tf.Data[float32](must(c.Run(ctx, v...))[0])[0])
		}
		r.End = now()
		fmt.Println(string(must(json.Marshal(r))))
	}
}

func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }
