package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// model is the graph that every worker has: equal names are what makes them
// share the variables.
type model struct {
	g                   *tf.Graph
	x, y, loss, guesses tf.Output
	step, init          *tf.Operation
	missing             tf.Output           // names of variables without a value
	replicas            *train.SyncReplicas // nil: workers do not wait for each other
}

const pixels, hidden, classes = 784, 256, 10

func newModel(s *settings) (*model, error) {
	m := &model{g: tf.NewGraph()}
	m.g.SetSeed(s.seed)
	spread := train.ReplicaDevices{PSTasks: 1, Worker: fmt.Sprintf("/job:worker/task:%d", s.task)}
	m.g.DeviceFunc(spread.Setter(), func() {
		m.x = ops.Placeholder(m.g, tf.Float32, tf.Shape{-1, pixels})
		m.y = ops.Placeholder(m.g, tf.Int32, tf.Shape{-1})
		logits := layers.Dense(layers.Dense(m.x, hidden, layers.Relu), classes)
		m.loss = ops.SparseSoftmaxCrossEntropyWithLogits(m.y, logits).Mean()
		m.guesses = ops.ArgMax(logits, ops.Scalar(m.g, int32(1)))
		m.train(s)
		m.init = tf.InitializeAll(m.g)
		m.missing = vars.ReportUninitialized(m.g)
	})
	return m, m.g.Err()
}

// train adds the update.
func (m *model) train(s *settings) {
	o := train.Adam{LearningRate: 1e-3}
	if !s.sync {
		m.step = o.Minimize(m.loss)
		return
	}
	m.replicas = &train.SyncReplicas{Optimizer: o, ReplicasToAggregate: s.workers - s.backup, TotalReplicas: s.workers}
	m.step = train.Minimize(m.replicas, m.loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(m.g)})
}

// begin gives the variables their first values if this is the chief, and waits
// for that if it is not.
func (m *model) begin(ctx context.Context, s *session.Session, chief bool) error {
	if chief {
		_, err := s.Run(ctx, nil, m.init)
		return err
	}
	for {
		missing, err := session.Fetch[string](ctx, s, nil, m.missing)
		if err != nil || len(missing) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// batches are the share of one worker: every workers-th batch of each epoch, in
// an order of its own.
type batches struct {
	d          *digits.Set
	s          *settings
	r          *rand.Rand
	order      []int
	epoch, pos int
	given      int
}

func newBatches(d *digits.Set, s *settings) *batches {
	b := &batches{d: d, s: s, r: rand.New(rand.NewPCG(uint64(s.seed), uint64(s.task)))}
	for i := s.task; i < d.N(); i += s.workers {
		b.order = append(b.order, i)
	}
	b.shuffle()
	return b
}

func (b *batches) shuffle() {
	b.r.Shuffle(len(b.order), func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
}

// next returns another batch, nil after the last one.
func (b *batches) next() (x, y *tf.Tensor, err error) {
	if b.pos+b.s.batch > len(b.order) {
		b.epoch, b.pos = b.epoch+1, 0
		b.shuffle()
	}
	if b.epoch >= b.s.epochs && !b.s.sync || b.s.batch > len(b.order) || b.s.steps > 0 && b.given == b.s.steps && !b.s.sync {
		return nil, nil, nil
	}
	b.given++
	xs, ys := make([]float32, 0, b.s.batch*pixels), make([]int32, 0, b.s.batch)
	for _, k := range b.order[b.pos : b.pos+b.s.batch] {
		xs = append(xs, b.d.Pixels[k*pixels:(k+1)*pixels]...)
		ys = append(ys, b.d.Labels[k])
	}
	b.pos += b.s.batch
	if x, err = tf.FromSlice(xs, b.s.batch, pixels); err != nil {
		return nil, nil, err
	}
	y, err = tf.FromSlice(ys)
	return x, y, err
}
