// Command customop trains a curve with an activation that is an operation of a
// package of its own, package swish below.
//
//	go run ./examples/customop
package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/gorge-tf/gorge/examples/customop/swish"
	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	program.Main("customop", func(ctx context.Context, out io.Writer) error {
		_, err := run(ctx, out)
		return err
	})
}

const points, steps = 64, 500

// run learns the sine from -π to π and returns the last loss.
func run(ctx context.Context, out io.Writer) (loss float32, err error) {
	g := tf.NewGraph()
	g.SetSeed(1)
	xs, ys := make([]float32, points), make([]float32, points)
	for i := range xs {
		x := (2*float64(i)/(points-1) - 1) * math.Pi
		xs[i], ys[i] = float32(x), float32(math.Sin(x))
	}
	activation := layers.Activation(func(x tf.Output, opts ...tf.Option) tf.Output { return swish.Swish(x, 1, opts...) })
	hidden := layers.Dense(ops.Const(g, xs, points, 1), 24, activation)
	error := losses.MeanSquaredError(ops.Const(g, ys, points, 1), layers.Dense(hidden, 1))
	step := train.Adam{LearningRate: 0.02}.Minimize(error)

	s, err := session.New(g)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return 0, err
	}
	for i := range steps {
		v, err := session.Fetch[float32](ctx, s, nil, error, step)
		if err != nil {
			return 0, err
		}
		if loss = v[0]; (i+1)%100 == 0 {
			fmt.Fprintf(out, "step %3d  mean squared error %.6f\n", i+1, loss)
		}
	}
	return loss, nil
}
