package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/all"   // clients send graphs of any op
	_ "github.com/gorge-tf/gorge/tf/ops/probe" // TensorFlow's servers have them, for its own tests
	"github.com/gorge-tf/gorge/tf/session"
)

// defaultAddress is where a server listens that is a cluster by itself.
const defaultAddress = "127.0.0.1:2222"

// defaultGeneration of TensorFlow's RDMA protocol is the last one.
const defaultGeneration = 2

// serveFlags are the flags of serve; those of TensorFlow's own server binary
// have its names.
type serveFlags struct {
	cluster, job, serverDef, devices, protocol, level, exitWith, leader string
	listen                                                              string
	task, threads, retries                                              int
	cache                                                               bool
	noLinks, fallback                                                   bool
	rdma                                                                string
	generation                                                          int
	grace                                                               time.Duration
	limits                                                              session.Limits
	memory                                                              memoryFlags
	tls                                                                 tlsFlags
	observe                                                             observeFlags
	confine                                                             confineFlags
	quotas                                                              cluster.Quotas
	configFile                                                          string
	sessionTimeout, keepAlive, keepAliveTimeout                         time.Duration
}

func parseServe(args []string, stderr io.Writer) (*serveFlags, error) {
	f := &serveFlags{}
	s := flag.NewFlagSet("gorge serve", flag.ContinueOnError)
	s.StringVar(&f.cluster, "cluster_spec", "", "all tasks of the cluster: `job|host:port;host:port,job|host:port`; without it the environment's TF_CONFIG says so, or the server is a cluster by itself, at "+defaultAddress)
	s.StringVar(&f.job, "job_name", "", "`job` of this task")
	s.IntVar(&f.task, "task_id", 0, "`number` of this task in its job")
	s.StringVar(&f.serverDef, "server_def", "", "`file` with a serialized tensorflow.ServerDef, instead of the flags above")
	s.StringVar(&f.listen, "listen", "", "`host:port` to listen at, 0.0.0.0:2222 say, where the address in the cluster is one that others know the task by; without it the server listens there")
	s.StringVar(&f.devices, "devices", "", "devices of the task: `TYPE:COUNT,...`, CPU:2 say")
	s.StringVar(&f.protocol, "protocol", "", "how tasks exchange tensors: grpc, or grpc+verbs")
	s.StringVar(&f.rdma, "rdma", "", "`provider` of RDMA devices for grpc+verbs: ibverbs, or soft; the environment's GORGE_RDMA_PROVIDER otherwise")
	s.IntVar(&f.generation, "rdma_generation", defaultGeneration, "`number` of the generation of TensorFlow's RDMA protocol that all tasks speak: 2 as TensorFlow 1.6, or 1 as TensorFlow 1.1 to 1.4")
	s.BoolVar(&f.fallback, "rdma_fallback", false, "let tensors go by gRPC where there is no RDMA")
	s.BoolVar(&f.noLinks, "no_links", false, "speak gRPC with Gorge's clients and tasks, too")
	s.IntVar(&f.threads, "threads", 0, "goroutines that one operation uses; 0: as many as there are cores")
	s.IntVar(&f.retries, "grpc_max_retries", retriesFromEnv(), "`times` that the receive of a tensor is tried again; the environment's GRPC_MAX_RETRIES otherwise")
	s.BoolVar(&f.cache, "cache_rpc_response", false, "keep tensors until their receivers say that they have arrived, so that receives can be tried again")
	s.DurationVar(&f.sessionTimeout, "session_timeout", 0, "close sessions that no client has used for so `long`; 0: never")
	s.DurationVar(&f.grace, "grace", 10*time.Second, "how `long` running steps may go on after the first signal; then, or at the second signal, they are ended")
	s.IntVar(&f.limits.Nodes, "max_nodes", 0, "nodes that a graph may have, what its functions expand to included; 0: 10,000,000, -1: no limit")
	s.IntVar(&f.limits.FunctionDepth, "max_function_depth", 0, "calls of functions within one another; 0: 5,000, -1: no limit")
	s.IntVar(&f.limits.FunctionCalls, "max_function_calls", 0, "calls of functions that a step has under way; 0: 100,000, -1: no limit")
	s.DurationVar(&f.limits.PlanTime, "plan_time", 0, "how `long` the preparation of a graph may take; 0: 10m, -1s: no limit")
	f.memory.define(s)
	f.tls.server(s)
	f.observe.define(s)
	f.confine.define(s)
	f.defineQuotas(s)
	s.StringVar(&f.configFile, "config", "", "`file` with a flag and its value on each line; those of the command line win")
	s.DurationVar(&f.keepAlive, "keepalive", 5*time.Second, "ask a task or client whether it is there that has been silent for so `long`; negative: never")
	s.DurationVar(&f.keepAliveTimeout, "keepalive_timeout", 10*time.Second, "take one for gone that has not answered for so `long` then")
	s.StringVar(&f.leader, "collective_group_leader", "", "`task` that completes groups for collective operations, /job:worker/task:0 say; the same for all tasks")
	s.StringVar(&f.exitWith, "exit_with", "", "stop when this `task` is gone, /job:chief/task:0 say")
	s.StringVar(&f.level, "log", "info", "least `level` that is logged: debug, info, warn, error")
	if err := parseFlags(s, args, stderr); err != nil {
		return nil, err
	}
	if err := readFlags(s, f.configFile); err != nil {
		return nil, err
	}
	if s.NArg() > 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "serve takes flags only, got %q", s.Args())
	}
	return f, checkNeeds(s, observeNeeds)
}

// serve is a task of a cluster until ctx ends. When it is ready it prints its
// target, one line.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parseServe(args, stderr)
	if err != nil {
		return err
	}
	c, err := f.config(stderr)
	if err != nil {
		return err
	}
	if c.Security, err = f.tls.open(c.Log, stderr); err != nil {
		return err
	}
	defer f.tls.close(c.Security)
	reloadAtHangup(ctx, c.Security)
	if err := f.confine.apply(); err != nil {
		return err
	}
	f.memory.apply()
	ops.SetPrinter(printer(stdout, stderr))
	seen, err := f.observe.telemetry(ctx, &c)
	if err != nil {
		return err
	}
	if seen != nil {
		c.Observer = seen
	}
	return f.serve(ctx, &c, seen, stdout)
}

// serve runs the server that c describes.
func (f *serveFlags) serve(ctx context.Context, c *cluster.Config, seen *telemetry.Telemetry, stdout io.Writer) error {
	var shown *telemetry.Server
	defer func() { f.observe.end(shown, seen) }() // after the server: it is seen to drain
	if f.listen != "" {
		lis, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
		if err != nil {
			return tf.Errorf(tf.Unknown, "Could not start gRPC server: %v", err)
		}
		c.Listener = lis
	}
	s, err := cluster.NewServer(*c)
	if err != nil {
		if c.Listener != nil {
			c.Listener.Close()
		}
		return err
	}
	defer s.Stop()
	if shown, err = f.observe.show(s, seen, c); err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, s.Target()); err != nil {
		return tf.Errorf(tf.Unavailable, "cannot say where the server is: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		s.Join() // which returns after Stop at the latest
		close(ended)
	}()
	select {
	case <-ctx.Done():
	case <-ended: // with the task that it exits with
	}
	return s.Stop()
}

// config works out which server the flags describe.
func (f *serveFlags) config(stderr io.Writer) (cluster.Config, error) {
	c, err := f.identity()
	if err != nil {
		return c, err
	}
	if f.devices != "" {
		if c.Devices, err = parseDevices(f.devices); err != nil {
			return c, err
		}
	}
	if err := f.transport(&c); err != nil {
		return c, err
	}
	if f.threads != 0 {
		c.Threads = f.threads
	}
	c.Retries, c.SessionTimeout, c.ExitWith = f.retries, f.sessionTimeout, f.exitWith
	c.Grace, c.Limits, c.Quotas = f.grace, f.limits, f.quotas
	c.AllowPeers = f.confine.allowedPeers()
	c.KeepAlive, c.KeepAliveTimeout = f.keepAlive, f.keepAliveTimeout
	if f.leader != "" {
		c.CollectiveLeader = f.leader
	}
	c.CacheResponses, c.NoLinks = c.CacheResponses || f.cache, f.noLinks
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return c, tf.Errorf(tf.InvalidArgument, "-log must be debug, info, warn or error, got %q", f.level)
	}
	if c.Log, err = f.observe.handler(stderr, level); err != nil {
		return c, err
	}
	warnOfTwins(slog.New(c.Log), c.Cluster)
	return c, nil
}

// transport says how tensors go to other tasks.
func (f *serveFlags) transport(c *cluster.Config) error {
	if f.protocol != "" {
		c.Protocol = f.protocol
	}
	if c.Protocol != "grpc+verbs" && (f.rdma != "" || f.fallback || f.generation != defaultGeneration) {
		return tf.Errorf(tf.InvalidArgument, "-rdma, -rdma_fallback and -rdma_generation have no effect without -protocol=grpc+verbs")
	}
	c.RDMA.Provider, c.RDMA.Fallback, c.RDMA.Generation = f.rdma, f.fallback, f.generation
	return nil
}

// warnOfTwins tells of addresses that several tasks have. TensorFlow takes such a
// cluster, too, although calls to the others reach the one task that listens there.
func warnOfTwins(l *slog.Logger, spec cluster.Spec) {
	first := map[string]string{}
	for _, job := range spec.Jobs() {
		for i, addr := range spec[job] {
			task := fmt.Sprintf("/job:%s/task:%d", job, i)
			if other := first[addr]; other != "" {
				l.Warn("tasks of a cluster should have addresses of their own", "address", addr, "tasks", other+" "+task)
			} else if addr != "" && !strings.HasSuffix(addr, ":0") {
				first[addr] = task
			}
		}
	}
}

// identity finds out which task of which cluster it is.
func (f *serveFlags) identity() (cluster.Config, error) {
	switch {
	case f.serverDef != "" && f.cluster != "":
		return cluster.Config{}, tf.Errorf(tf.InvalidArgument, "-server_def and -cluster_spec exclude each other")
	case f.serverDef != "" && (f.job != "" || f.task != 0):
		return cluster.Config{}, tf.Errorf(tf.InvalidArgument, "-server_def says which task it is: it excludes -job_name and -task_id")
	case f.serverDef != "":
		data, err := os.ReadFile(f.serverDef)
		if err != nil {
			return cluster.Config{}, tf.Errorf(tf.CodeOf(core.FileError(f.serverDef, err)), "cannot read the server definition: %v", err)
		}
		return cluster.FromServerDef(data)
	case f.cluster == "" && f.job == "" && f.task == 0 && os.Getenv("TF_CONFIG") != "":
		return cluster.FromTFConfig(os.Getenv("TF_CONFIG"))
	case f.cluster == "":
		if f.job != "" || f.task != 0 {
			return cluster.Config{}, tf.Errorf(tf.InvalidArgument, "-job_name and -task_id need -cluster_spec")
		}
		return cluster.Local(defaultAddress), nil
	}
	return f.member()
}

// member is the task that the command line names.
func (f *serveFlags) member() (cluster.Config, error) {
	spec, err := cluster.ParseSpec(f.cluster)
	if err == nil && f.job == "" {
		err = tf.Errorf(tf.InvalidArgument, "-cluster_spec needs -job_name, one of %s", strings.Join(spec.Jobs(), ", "))
	}
	return cluster.Config{Cluster: spec, Job: f.job, Task: f.task}, err
}

// retriesFromEnv is what TensorFlow's servers take from the environment.
func retriesFromEnv() int {
	n, err := strconv.Atoi(os.Getenv("GRPC_MAX_RETRIES"))
	if err != nil {
		return 0
	}
	return n
}

// parseDevices reads "CPU:2,FAKE:1".
func parseDevices(s string) (map[string]int, error) {
	out := map[string]int{}
	for part := range strings.SplitSeq(s, ",") {
		typ, count, _ := strings.Cut(part, ":")
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || n > 1024 || typ == "" {
			return nil, tf.Errorf(tf.InvalidArgument, "devices have the form TYPE:COUNT,TYPE:COUNT, got %q", s)
		}
		out[typ] = n
	}
	return out, nil
}
