package main

import (
	"context"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const classes = 10

// model is a network of two convolutions, with what trains it.
type model struct {
	g                 *tf.Graph
	x, y, loss, guess tf.Output
	after             tf.Output // the step, once the variables are updated
}

func newModel(size int) *model {
	const few, many, window = 8, 16, 5
	g := tf.NewGraph()
	g.SetSeed(1)
	m := &model{g: g, x: ops.Placeholder(g, tf.Float32, tf.Shape{-1, size * size}), y: ops.Placeholder(g, tf.Int64, tf.Shape{-1})}
	images := ops.Reshape(m.x, ops.Const(g, []int32{-1, int32(size), int32(size), 1}, 4))
	o := layers.ConvOpts{Padding: "SAME", Activation: layers.Relu}
	h := layers.MaxPool2D(layers.Conv2D(images, few, window, o), 2, 2, "SAME")
	h = layers.MaxPool2D(layers.Conv2D(h, many, window, o), 2, 2, "SAME")
	out := layers.NewDense(classes)
	logits := out.Apply(layers.Flatten(h))
	m.loss = losses.SparseSoftmaxCrossEntropy(m.y, logits)
	m.guess = ops.ArgMax(logits, ops.Scalar(g, int32(1)))
	step := train.GetOrCreateGlobalStep(g)
	op := train.Minimize(train.Adam{LearningRate: 0.002}, m.loss, train.Options{GlobalStep: step})
	m.after = step.Read(tf.After(op))
	summary.Scalar("loss", m.loss)
	summary.Histogram("kernel", out.Kernel.Value())
	summary.Image("digits", images, 2)
	return m
}

// accuracy returns the share of images that are read rightly.
func (m *model) accuracy(ctx context.Context, s *session.Session, test *digits.Set) (float64, error) {
	const batch = 100
	right, pixels := 0, test.Size*test.Size
	for at := 0; at < test.N(); at += batch {
		n := min(batch, test.N()-at)
		x, err := tf.FromSlice(test.Pixels[at*pixels:(at+n)*pixels], n, pixels)
		if err != nil {
			return 0, err
		}
		got, err := session.Fetch[int64](ctx, s, session.Feeds{m.x: x}, m.guess)
		if err != nil {
			return 0, err
		}
		for i, v := range got {
			if v == int64(test.Labels[at+i]) {
				right++
			}
		}
	}
	return float64(right) / float64(test.N()), nil
}
