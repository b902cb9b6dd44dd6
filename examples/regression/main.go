// Command regression fits a plane to noisy points, in a graph fed batch by batch,
// and prints what it has found beside what the points were made of.
//
//	go run ./examples/regression
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// truth is what the points are made of: y = slopes·x + offset + noise.
var truth = struct {
	slopes []float32
	offset float32
}{[]float32{2, -3.4, 0.5}, 4.2}

const batch, steps, noise = 32, 600, 0.05

func main() {
	program.Main("regression", func(ctx context.Context, out io.Writer) error {
		_, _, err := run(ctx, out)
		return err
	})
}

// points draws a batch.
func points(r *rand.Rand) (x, y *tf.Tensor, err error) {
	n := len(truth.slopes)
	xs, ys := make([]float32, batch*n), make([]float32, batch)
	for i := range ys {
		ys[i] = truth.offset + noise*float32(r.NormFloat64())
		for k, slope := range truth.slopes {
			v := float32(r.NormFloat64())
			xs[i*n+k] = v
			ys[i] += slope * v
		}
	}
	if x, err = tf.FromSlice(xs, batch, n); err != nil {
		return nil, nil, err
	}
	y, err = tf.FromSlice(ys, batch, 1)
	return x, y, err
}

// run fits a plane and returns its slopes and its offset.
func run(ctx context.Context, out io.Writer) (slopes []float32, offset float32, err error) {
	g := tf.NewGraph()
	g.SetSeed(1)
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, len(truth.slopes)})
	y := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 1})
	plane := layers.NewDense(1)
	loss := losses.MeanSquaredError(y, plane.Apply(x))
	step := train.Momentum{LearningRate: 0.02, Momentum: 0.9}.Minimize(loss)

	s, err := session.New(g)
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return nil, 0, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range steps {
		xs, ys, err := points(r)
		if err != nil {
			return nil, 0, err
		}
		v, err := session.Fetch[float32](ctx, s, session.Feeds{x: xs, y: ys}, loss, step)
		if err != nil {
			return nil, 0, err
		}
		if (i+1)%100 == 0 {
			fmt.Fprintf(out, "step %d  loss %.5f\n", i+1, v[0])
		}
	}
	found, err := s.Run(ctx, nil, plane.Kernel.Value(), plane.Bias.Value())
	if err != nil {
		return nil, 0, err
	}
	slopes, offset = tf.Data[float32](found[0]), tf.Data[float32](found[1])[0]
	fmt.Fprintf(out, "found  y = %.3f·x + %.3f\nmade of y = %.3f·x + %.3f\n", slopes, offset, truth.slopes, truth.offset)
	return slopes, offset, nil
}
