// Command mnist trains a network to read handwritten digits, from data that it
// carries with it.
//
//	go run ./examples/mnist
//	go run ./examples/mnist -model cnn
//	go run ./examples/mnist -eager
//	go run ./examples/mnist -target grpc://127.0.0.1:2222 -variables /job:ps
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	_ "github.com/gorge-tf/gorge/tf/cluster/client" // targets grpc://…
	"github.com/gorge-tf/gorge/tf/train/live"
)

// settings are what the flags say.
type settings struct {
	model, target, variables, data, png string
	eager, losses                       bool
	seed                                int64
	epochs, batch                       int
	timeout                             time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mnist:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{}
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	f.StringVar(&s.model, "model", "mlp", "the `network`: mlp, one hidden layer, or cnn, two convolutions with poolings")
	f.BoolVar(&s.eager, "eager", false, "compute each operation at once, without a session")
	f.StringVar(&s.target, "target", "", "train on a cluster, `grpc://host:port`, instead of in this process")
	f.DurationVar(&s.timeout, "timeout", time.Minute, "how long a cluster may take to answer a step")
	f.StringVar(&s.variables, "variables", "", "`device` of the variables, /job:ps say")
	f.StringVar(&s.data, "data", "", "`directory` of MNIST's idx files, gzipped or not; the embedded 5,000 images otherwise")
	f.StringVar(&s.png, "png", "", "draw the digits that were misread to this `file`")
	f.Int64Var(&s.seed, "seed", 1, "random seed; equal seeds give equal losses, bit for bit")
	f.IntVar(&s.epochs, "epochs", 8, "how often to go through the training set")
	f.IntVar(&s.batch, "batch", 50, "images in one step")
	f.BoolVar(&s.losses, "losses", false, "print the loss of each step, in full precision, instead of a progress bar")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	return s, s.check(f.Args())
}

func (s *settings) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("only flags are taken, got %q", rest)
	case networks[s.model] == nil:
		return fmt.Errorf("the model must be mlp or cnn, got %q", s.model)
	case s.epochs < 1 || s.batch < 1:
		return fmt.Errorf("epochs and batch must be positive, got %d and %d", s.epochs, s.batch)
	case s.eager && s.target != "":
		return fmt.Errorf("a cluster runs graphs: -eager and -target exclude each other")
	}
	return nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	training, test, err := digits.Load(s.data)
	if err != nil {
		return err
	}
	m, err := newModel(ctx, s, training.Size*training.Size)
	if err != nil {
		return err
	}
	defer m.close()
	b := newBatcher(training, s.batch, s.seed)
	fmt.Fprintf(out, "%d images to train on, %d to test; %d steps of %d images\n", training.N(), test.N(), s.epochs*b.perEpoch(), b.size)
	start := time.Now()
	report, done := reporter(s, b, out)
	if err := fit(ctx, m, b, s.epochs, report); err != nil {
		return err
	}
	done()
	took := time.Since(start)
	return conclude(ctx, s, m, test, took, s.epochs*b.perEpoch()*b.size, out)
}

func newModel(ctx context.Context, s *settings, pixels int) (model, error) {
	if s.eager {
		return newEagerModel(s, pixels)
	}
	return newGraphModel(ctx, s, pixels)
}

// reporter returns what shows the progress, and what ends that: a curve in a terminal, a
// bar elsewhere.
func reporter(s *settings, b *batcher, out io.Writer) (report func(epoch, examples int, loss float32), done func()) {
	step := int64(0)
	if s.losses {
		return func(_, _ int, loss float32) { step++; fmt.Fprintf(out, "%d %.9g\n", step, loss) }, func() {}
	}
	if live.IsTerminal(out) {
		v := live.New(out, live.Options{LastStep: int64(s.epochs * b.perEpoch())})
		return func(_, _ int, loss float32) { step++; _ = v.Step(step, float64(loss)) }, func() { _ = v.Close() }
	}
	return bar(s, b, out), func() {}
}

func bar(s *settings, b *batcher, out io.Writer) func(epoch, examples int, loss float32) {
	bar := progressbar.NewOptions(s.epochs*b.perEpoch()*b.size,
		progressbar.OptionSetWriter(out), progressbar.OptionShowIts(), progressbar.OptionSetItsString("examples"),
		progressbar.OptionSetWidth(24), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(out) }), progressbar.OptionSetDescription(fmt.Sprintf("epoch 1/%d", s.epochs)))
	bar.StartWithoutRender()
	mean, begun := float32(0), false
	return func(epoch, examples int, loss float32) {
		if mean += (loss - mean) / 20; !begun {
			mean = loss
		} else { // a description is drawn at once: before the first step that would be a rate of 0
			bar.Describe(fmt.Sprintf("epoch %d/%d  loss %.4f", epoch+1, s.epochs, mean))
		}
		begun = true
		bar.Add(examples)
	}
}

func conclude(ctx context.Context, s *settings, m model, test *digits.Set, took time.Duration, examples int, out io.Writer) error {
	wrong, guesses, err := mistakes(ctx, m, test)
	if err != nil {
		return err
	}
	right := test.N() - len(wrong)
	fmt.Fprintf(out, "trained in %.1f s (%.0f examples/s); test accuracy %.2f %% (%d of %d)\n",
		took.Seconds(), float64(examples)/took.Seconds(), 100*float64(right)/float64(test.N()), right, test.N())
	if s.png == "" {
		return nil
	}
	if err := drawMistakes(s.png, test, wrong, guesses); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mistakes drawn in %s\n", len(wrong), s.png)
	return nil
}
