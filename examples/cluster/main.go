// Command cluster trains on a cluster that it starts on this machine: a
// parameter server and workers, each a process of its own. Every worker has the
// whole graph (replication between graphs) and updates the variables, which are
// on the parameter server, when it has a gradient, without waiting for the
// others. With -sync they make each update together; with -backup as well, the
// slowest are not waited for. With -tls all processes have certificates, and
// refuse connections of others.
//
//	go run ./examples/cluster
//	go run ./examples/cluster -workers 3 -epochs 4
//	go run ./examples/cluster -protocol grpc+verbs
//	go run ./examples/cluster -tls
//	go run ./examples/cluster -sync -workers 3 -backup 1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// settings are what the flags say.
type settings struct {
	workers, epochs, batch int
	steps                  int
	seed                   int64
	sync                   bool // workers update in step
	backup                 int  // how many workers each update leaves out: the slowest
	protocol, hosts        string
	tls                    bool // processes have certificates

	// Of a process that is a task: who it is, and where all are.
	job       string
	task      int
	addresses string
	secrets   string // directory of certificates; "": plain text
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{}
	f := flag.NewFlagSet("cluster", flag.ContinueOnError)
	f.IntVar(&s.workers, "workers", 2, "how many workers to start")
	f.IntVar(&s.epochs, "epochs", 5, "how often to go through the training set, all workers together")
	f.IntVar(&s.batch, "batch", 50, "images in one step of a worker")
	f.IntVar(&s.steps, "steps", 0, "most steps that a worker does; 0: as many as the epochs have")
	f.Int64Var(&s.seed, "seed", 1, "random seed of the variables' first values")
	f.BoolVar(&s.sync, "sync", false, "make updates together: of the mean of all workers' gradients")
	f.IntVar(&s.backup, "backup", 0, "with -sync: workers that are not waited for, the slowest ones of each update")
	f.StringVar(&s.protocol, "protocol", "grpc", "how tasks exchange tensors: grpc, or grpc+verbs")
	f.StringVar(&s.hosts, "hosts", "127.0.0.1", "addresses of this machine that tasks take in turn: host,host")
	f.BoolVar(&s.tls, "tls", false, "give each process a certificate, and speak TLS")
	f.StringVar(&s.secrets, "certificates", "", "the directory with the task's certificate")
	f.StringVar(&s.job, "job", "", "be a task of this `job`, ps or worker (what the processes are that are started)")
	f.IntVar(&s.task, "task", 0, "the number of the task")
	f.StringVar(&s.addresses, "addresses", "", "addresses of all tasks, the parameter server's first")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if s.workers < 1 || s.epochs < 1 || s.batch < 1 {
		return nil, fmt.Errorf("workers, epochs and batch must be positive, got %d, %d and %d", s.workers, s.epochs, s.batch)
	}
	if s.backup < 0 || s.backup >= s.workers || s.backup > 0 && !s.sync {
		return nil, fmt.Errorf("backup takes -sync, and must be less than the %d workers, got %d", s.workers, s.backup)
	}
	return s, nil
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.job != "" {
		return beTask(ctx, s, in, out)
	}
	_, err = lead(ctx, s, out)
	return err
}

// patience is how long processes may take to start, and to end.
const patience = 2 * time.Minute

// lead starts the cluster, watches it train, and stops it. It returns the
// accuracy on images not trained with.
func lead(ctx context.Context, s *settings, out io.Writer) (accuracy float64, err error) {
	hosts := strings.Split(s.hosts, ",")
	addresses, err := freeAddresses(1+s.workers, hosts)
	if err != nil {
		return 0, err
	}
	if s.tls {
		if s.secrets, err = issue(hosts); err != nil {
			return 0, err
		}
		defer os.RemoveAll(s.secrets)
	}
	tasks, err := startAll(ctx, s, addresses)
	defer func() { err = errors.Join(err, stopAll(tasks)) }()
	if err != nil {
		return 0, err
	}
	for _, p := range tasks {
		fmt.Fprintf(out, "%s sends tensors over %s\n", p.name, p.over)
	}
	b := newBoard(out, tasks)
	start := time.Now()
	if err := b.watch(ctx); err != nil {
		return 0, err
	}
	took := time.Since(start)
	accuracy, err = evaluate(ctx, s, "grpc://"+addresses[1])
	if err == nil {
		for _, r := range b.rows {
			if r.worker {
				fmt.Fprintf(out, "%s: last loss %v after %d steps\n", r.name, r.last.Loss, r.last.Steps)
			}
		}
		fmt.Fprintf(out, "trained in %.1f s by %d workers; test accuracy %.2f %%\n", took.Seconds(), s.workers, 100*accuracy)
	}
	return accuracy, err
}

// freeAddresses returns unused loopback addresses. Their ports are below 32768,
// where the system's ephemeral ports begin, so that no other process is assigned
// one of them before the tasks listen.
func freeAddresses(n int, hosts []string) (out []string, err error) {
	for tries := 0; len(out) < n && tries < 1000; tries++ {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(hosts[len(out)%len(hosts)], strconv.Itoa(10_000+rand.IntN(20_000)))); err == nil {
			defer l.Close() // all at once, so that they differ
			out = append(out, l.Addr().String())
		}
	}
	if len(out) < n {
		return nil, err
	}
	return out, nil
}
