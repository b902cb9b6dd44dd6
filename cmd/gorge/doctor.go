package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
)

// infiniband is where Linux lists devices that can do RDMA.
const infiniband = "/sys/class/infiniband"

// doctor says what this machine can do, and which tasks of a cluster answer.
// It fails if one does not.
func doctor(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge doctor", flag.ContinueOnError)
	spec := s.String("cluster_spec", "", "tasks to ask: `job|host:port;host:port,job|host:port`")
	timeout := s.Duration("timeout", 5*time.Second, "how `long` a task may take to answer")
	secret := &tlsFlags{servesNoClient: true}
	secret.client(s)
	r := &rdmaFlags{}
	r.register(s)
	if err := parseFlags(s, args, stderr); err != nil {
		return err
	}
	if s.NArg() > 0 {
		return tf.Errorf(tf.InvalidArgument, "doctor takes flags only, got %q", s.Args())
	}
	if r.used() && *spec != "" {
		return tf.Errorf(tf.InvalidArgument, "-cluster_spec excludes -rdma_listen and -rdma_ping")
	}
	if err := checkNeeds(s, doctorNeeds); err != nil {
		return err
	}
	if err := version(stdout); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "cores  %d\ncpu    %s\nrdma   %s\n", runtime.NumCPU(), cpuFeatures(), rdmaDevices(infiniband))
	describeRDMA(stdout)
	if r.used() {
		return r.ping(ctx, stdout)
	}
	if *spec == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	return askTasks(ctx, *spec, secret, stdout, stderr)
}

// askTasks prints how the tasks of a cluster are found.
func askTasks(ctx context.Context, spec string, secret *tlsFlags, stdout, stderr io.Writer) error {
	parsed, err := cluster.ParseSpec(spec)
	if err != nil {
		return err
	}
	guard, err := secret.open(nil, stderr)
	if err != nil {
		return err
	}
	defer secret.close(guard)
	tasks, err := cluster.ProbeSecured(ctx, parsed, guard)
	if err != nil {
		return err
	}
	return diagnose(stdout, tasks)
}

// doctorNeeds are about what is asked of other machines.
var doctorNeeds = []need{
	{[]string{"rdma", "rdma_device"}, []string{"rdma_listen", "rdma_ping"}},
	{[]string{"timeout", "tls_ca", "tls_cert", "tls_key", "tls_crl", "tls_server_name", "tls_min_version", "token_file"}, []string{"cluster_spec"}},
}

// cpuFeatures names the instructions that make kernels fast.
func cpuFeatures() string {
	var out []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41}, {"avx", cpu.X86.HasAVX}, {"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA},
		{"avx512f", cpu.X86.HasAVX512F}, {"avx512bw", cpu.X86.HasAVX512BW}, {"avx512vl", cpu.X86.HasAVX512VL}, {"avx512vnni", cpu.X86.HasAVX512VNNI},
		{"neon", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return cmp.Or(strings.Join(out, " "), "nothing special: portable kernels are used")
}

// rdmaDevices names the RDMA devices of this machine.
func rdmaDevices(dir string) string {
	list, err := os.ReadDir(dir)
	if err != nil || len(list) == 0 {
		return "no device; grpc+verbs works in software"
	}
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name()
	}
	return strings.Join(names, " ")
}

// diagnose prints how the tasks were found.
func diagnose(stdout io.Writer, tasks []cluster.TaskStatus) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nTASK\tADDRESS\tSTATE\tTOOK\tSERVER\tDEVICES")
	missing := 0
	for _, t := range tasks {
		state, server := "ok", "not Gorge"
		if t.Version != "" {
			server = "gorge " + t.Version
		}
		if t.Err != nil {
			missing++
			state, server = tf.AsError(t.Err).Code.String(), "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%s\t%d\n", t.Task, t.Address, state, t.Took.Round(100*time.Microsecond), server, len(t.Devices))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range tasks {
		if t.Err != nil {
			why, _, _ := strings.Cut(tf.AsError(t.Err).Message(), "\n") // the rest names the task
			fmt.Fprintf(stdout, "%s: %s\n", t.Task, why)
		}
	}
	if missing > 0 {
		return tf.Errorf(tf.Unavailable, "%d of %d tasks do not answer", missing, len(tasks))
	}
	return nil
}
