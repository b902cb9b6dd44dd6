package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	g := tf.NewGraph()
	count := tf.NewVariable(ops.Scalar[int64](g, 0), tf.VariableOptions{Name: "count", NotTrainable: true})
	next := count.AssignAdd(ops.Scalar[int64](g, 1))

	g.SetSeed(7)
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	y := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 1}, tf.Name("y"))
	hidden := layers.Dense(x, 8, layers.Tanh)
	logits := layers.Dense(hidden, 1)
	loss := losses.SigmoidCrossEntropy(y, logits, 0)
	step := train.Adam{LearningRate: 0.05}.Minimize(loss)
	start := tf.InitializeAll(g)
	for _, v := range tf.Variables(g, "trainable_variables") {
		fmt.Println(v.Name(), v.Shape())
	}

	s, err := session.New(g)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, start); err != nil {
		return err
	}
	points, err := tf.TensorOf([][]float32{{0, 0}, {0, 1}, {1, 0}, {1, 1}})
	if err != nil {
		return err
	}
	xor, err := tf.TensorOf([][]float32{{0}, {1}, {1}, {0}})
	if err != nil {
		return err
	}
	feeds := session.Feeds{x: points, y: xor}
	for i := range 201 {
		now, err := session.Fetch[float32](ctx, s, feeds, loss, step, next)
		if err != nil {
			return err
		}
		if i%100 == 0 {
			fmt.Printf("step %d: loss %.1f\n", i, now[0])
		}
	}

	out, err := s.Run(ctx, session.Feeds{x: points}, logits.Sigmoid().Round().Reshape(-1), count.Value())
	if err != nil {
		return err
	}
	fmt.Println(out[0], "after", out[1].At(0), "steps")
	return nil
}
