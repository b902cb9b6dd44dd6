package main

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// estimatorSteps is workload 24: what an Estimator with its usual hooks adds to a
// step, beyond what the same step takes in a session fed by the same dataset.
func estimatorSteps(b *bench) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(io.Discard)
	b.estimator("mlp", 100, 512, 200)
	b.estimator("small", 32, 64, 1000)
}

// estimator measures the network of workload 3 with layers of some units: steps of
// the Estimator and of a session take turns within one training.
func (b *bench) estimator(name string, size, units, n int) {
	folder := must(os.MkdirTemp("", "bench"))
	defer os.RemoveAll(folder)
	bare, shared := newBareSteps(b, size, units, (*data.Iterator).Next), newBareSteps(b, size, units, (*data.Iterator).NextShared)
	defer bare.close()
	defer shared.close()
	n = b.steps(n)
	h := &turns{n: n, others: []func(){bare.step, shared.step}}
	e := must(estimator.New(modelOf(units), estimator.Options{Config: estimator.RunConfig{
		ModelDir: folder, Session: []session.Option{session.Threads(b.threads)},
	}}))
	err := e.Train(ctx, imageInput(size), estimator.TrainOptions{Steps: int64((b.repeat + 1) * n), Hooks: []train.Hook{h}})
	if err != nil {
		fatal(err)
	}
	own, session, without := slices.Min(h.took[0]), slices.Min(h.took[1]), slices.Min(h.took[2])
	b.emit(name+".estimator_us", own*1e6, "us")
	b.emit(name+".session_us", session*1e6, "us")
	b.emit(name+".session_shared_us", without*1e6, "us")
	b.emit(name+".estimator_per_session", own/session, "ratio")
	b.emit(name+".estimator_per_session_shared", own/without, "ratio")
}

// turns is a hook that measures n steps of the training it takes part in, then n of
// each other, and so on.
type turns struct {
	train.BaseHook
	n, done int
	others  []func()
	since   time.Time
	took    [3][]float64 // seconds of a step: its own first
}

func (h *turns) AfterRun(context.Context, *train.RunContext, train.RunValues) error {
	if h.done++; h.done%h.n != 0 {
		return nil
	}
	h.note(0)
	for i, step := range h.others {
		for range h.n {
			step()
		}
		h.note(i + 1)
	}
	return nil
}

// note notes how long the steps since the last note took, unless they warmed up.
func (h *turns) note(who int) {
	now := time.Now()
	if h.done > h.n {
		h.took[who] = append(h.took[who], now.Sub(h.since).Seconds()/float64(h.n))
	}
	h.since = now
}

// imageInput is an endless dataset of images.
func imageInput(size int) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		return &estimator.Input{Data: images(size), Keys: []string{"x", "y"}, Labels: []string{"y"}}, nil
	}
}

func images(size int) *data.Dataset {
	x, y := positive(1001, 10*size*784), labels(1002, 10*size, 10)
	return data.FromTensorSlices(tensor(x, 10, size, 784), tensor(y, 10, size)).Repeat(-1)
}

func modelOf(units int) estimator.ModelFn {
	return func(c *estimator.Call) (*estimator.Spec, error) {
		loss := network(c.Features["x"].(tf.Output), c.Labels["y"].(tf.Output), units)
		return &estimator.Spec{Mode: c.Mode, Loss: loss, TrainOp: minimized(loss)}, nil
	}
}

func network(x, y tf.Output, units int) tf.Output {
	m := &mlp{g: x.Graph()}
	h := ops.Relu(m.dense(x, 784, units))
	return crossEntropy(m.dense(ops.Relu(m.dense(h, units, units)), units, 10), y)
}

func minimized(loss tf.Output) *tf.Operation {
	return train.Minimize(train.GradientDescent{LearningRate: 0.01}, loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(loss.Graph())})
}

// bareSteps trains the same network in a session.
type bareSteps struct {
	s    *session.Session
	it   *data.Iterator
	next func(*data.Iterator, context.Context) ([]*tf.Tensor, error)
	x, y tf.Output
	op   *tf.Operation
}

func newBareSteps(b *bench, size, units int, next func(*data.Iterator, context.Context) ([]*tf.Tensor, error)) *bareSteps {
	g := tf.NewGraph()
	r := &bareSteps{next: next, x: ops.Placeholder(g, tf.Float32, tf.Shape{size, 784}), y: ops.Placeholder(g, tf.Int32, tf.Shape{size})}
	r.op = minimized(network(r.x, r.y, units))
	r.s, r.it = b.open(g, false), must(images(size).Iterator())
	must(r.s.Run(ctx, nil, tf.InitializeAll(g)))
	return r
}

func (r *bareSteps) step() {
	e := must(r.next(r.it, ctx))
	must(r.s.Run(ctx, session.Feeds{r.x: e[0], r.y: e[1]}, r.op))
}

func (r *bareSteps) close() {
	r.it.Close()
	must(0, r.s.Close())
}
