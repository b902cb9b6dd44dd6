package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/serving/batch"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// benchSavedModel measures how long a model takes to load and a signature to run.
func benchSavedModel(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := flag.NewFlagSet("gorge savedmodel bench", flag.ContinueOnError)
	takes(s, "DIR [flags]")
	options := loadFlags(s)
	name := s.String("signature_def", savedmodel.DefaultSignature, "`name` of the signature")
	inputs := s.String("inputs", "", "npz `file` with an array for each input, by the signature's keys")
	runs := s.Int("runs", 100, "`number` of runs that are measured, after a tenth of them that are not")
	clients := s.Int("clients", 1, "`number` of goroutines that run the signature at once")
	batched := s.Bool("batching", false, "join runs that come at the same time, as the model server does with --enable_batching and no parameters")
	dir, err := oneDir(s, args, stdout)
	if err != nil {
		return err
	}
	if *runs < 1 || *clients < 1 {
		return tf.Errorf(tf.InvalidArgument, "runs and clients must be positive, got %d and %d", *runs, *clients)
	}
	in, err := readArchive(*inputs)
	if err != nil {
		return err
	}
	start := time.Now()
	m, err := savedmodel.Load(ctx, dir, options())
	if err != nil {
		return err
	}
	defer m.Close()
	loaded := time.Since(start)
	sig := m.Signature(*name)
	if err := given(s.Name(), sig, *inputs, in); err != nil {
		return err
	}
	start = time.Now()
	if _, err := sig.RunTensors(ctx, in); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "load %v, first run %v\n", loaded.Round(time.Microsecond), time.Since(start).Round(time.Microsecond))
	run := func(ctx context.Context) error {
		_, err := sig.RunTensors(ctx, in)
		return err
	}
	if *batched {
		q := batch.NewQueue(batch.NewThreads(0), batch.Params{}, func(ctx context.Context, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error) {
			return sig.RunTensors(ctx, in, want...)
		}, func(int, int) {})
		defer q.Close()
		run = func(ctx context.Context) error {
			_, err := q.Run(ctx, in, nil)
			return err
		}
	}
	return benchRuns(ctx, stdout, run, *runs, *clients)
}

// benchRuns runs a signature, first without measuring, and prints how long it takes.
func benchRuns(ctx context.Context, stdout io.Writer, run func(context.Context) error, runs, clients int) error {
	if _, _, err := measure(ctx, run, max(1, runs/10), clients); err != nil {
		return err
	}
	times, wall, err := measure(ctx, run, runs, clients)
	if err != nil {
		return err
	}
	at := func(share float64) time.Duration {
		return times[int(share*float64(len(times)-1))].Round(time.Microsecond)
	}
	fmt.Fprintf(stdout, "%d runs by %d: p50 %v, p90 %v, p99 %v, longest %v, %.1f runs/s\n",
		len(times), clients, at(0.5), at(0.9), at(0.99), at(1), float64(len(times))/wall.Seconds())
	return nil
}

// measure runs a signature and returns how long each run took, sorted, and all of
// them together.
func measure(ctx context.Context, run func(context.Context) error, runs, clients int) (times []time.Duration, wall time.Duration, err error) {
	times = make([]time.Duration, runs)
	errs := make([]error, clients)
	var wg sync.WaitGroup
	start := time.Now()
	for c := range clients {
		wg.Go(func() {
			for i := c; i < runs && errs[c] == nil; i += clients {
				began := time.Now()
				errs[c] = run(ctx)
				times[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	wall = time.Since(start)
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	slices.Sort(times)
	return times, wall, nil
}
