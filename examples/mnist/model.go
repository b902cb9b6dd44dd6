package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const rate = 1e-3 // of learning

// A model learns from batches of images x [n pixels] with labels y [n].
type model interface {
	step(ctx context.Context, x, y *tf.Tensor) (loss float32, err error)
	predict(ctx context.Context, x *tf.Tensor) ([]int64, error)
	close() error
}

func loss(logits, y tf.Output) tf.Output {
	return ops.SparseSoftmaxCrossEntropyWithLogits(y, logits).Mean()
}

// graphModel trains in a session, in this process or on a cluster.
type graphModel struct {
	s                   *session.Session
	x, y, loss, guesses tf.Output
	train               *tf.Operation
}

// newGraphModel builds the graph and starts a session on target. Variables go
// to the parameter server if the target is a cluster that has one.
func newGraphModel(ctx context.Context, s *settings, pixels int) (*graphModel, error) {
	g := tf.NewGraph()
	g.SetSeed(s.seed)
	m := &graphModel{
		x: ops.Placeholder(g, tf.Float32, tf.Shape{-1, pixels}, tf.Name("x")),
		y: ops.Placeholder(g, tf.Int32, tf.Shape{-1}, tf.Name("y")),
	}
	var net network
	g.Device(s.variables, func() { net = networks[s.model](g, pixels) })
	m.loss = loss(net.logits(m.x, true), m.y)
	m.guesses = ops.ArgMax(net.logits(m.x, false), ops.Scalar(g, int32(1)))
	m.train = train.Adam{LearningRate: rate}.Minimize(m.loss)
	init := tf.InitializeAll(g)
	cfg := session.Config{Target: s.target, Log: slog.NewTextHandler(os.Stderr, nil)}
	if s.target != "" {
		cfg.Timeout = s.timeout
	}
	run, err := session.New(g, session.With(cfg)) // also reports any mistake made above
	if err != nil {
		return nil, err
	}
	m.s = run
	if _, err := run.Run(ctx, nil, init); err != nil {
		run.Close()
		return nil, err
	}
	return m, nil
}

func (m *graphModel) step(ctx context.Context, x, y *tf.Tensor) (float32, error) {
	l, err := session.Fetch[float32](ctx, m.s, session.Feeds{m.x: x, m.y: y}, m.loss, m.train)
	if err != nil {
		return 0, err
	}
	return l[0], nil
}

func (m *graphModel) predict(ctx context.Context, x *tf.Tensor) ([]int64, error) {
	return session.Fetch[int64](ctx, m.s, session.Feeds{m.x: x}, m.guesses)
}

func (m *graphModel) close() error { return m.s.Close() }

// eagerModel computes everything at once.
type eagerModel struct {
	g   *tf.Graph
	net network
	opt train.Adam
}

func newEagerModel(s *settings, pixels int) (*eagerModel, error) {
	g := eager.New()
	g.SetSeed(s.seed)
	m := &eagerModel{g: g, net: networks[s.model](g, pixels), opt: train.Adam{LearningRate: rate}}
	if err := m.net.lastKernel().Value().Err(); err != nil {
		return nil, fmt.Errorf("initializing: %w", err)
	}
	return m, nil
}

func (m *eagerModel) step(_ context.Context, x, y *tf.Tensor) (float32, error) {
	var l tf.Output
	tape := eager.Record(m.g, func() { l = loss(m.net.logits(ops.ConstTensor(m.g, x), true), ops.ConstTensor(m.g, y)) })
	grads, err := train.TapeGradients(tape, l)
	if err != nil {
		return 0, err
	}
	if _, err := m.opt.ApplyGradients(grads); err != nil {
		return 0, err
	}
	v, err := l.Value()
	if err != nil {
		return 0, err
	}
	return tf.Data[float32](v)[0], nil
}

func (m *eagerModel) predict(_ context.Context, x *tf.Tensor) ([]int64, error) {
	v, err := ops.ArgMax(m.net.logits(ops.ConstTensor(m.g, x), false), ops.Scalar(m.g, int32(1))).Value()
	if err != nil {
		return nil, err
	}
	return tf.Values[int64](v)
}

func (m *eagerModel) close() error { return nil }
