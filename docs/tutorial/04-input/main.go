package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	for batch, err := range data.Range(0, 7).Batch(3, false).All(ctx) {
		if err != nil {
			return err
		}
		fmt.Println(batch[0])
	}

	dir, err := os.MkdirTemp("", "tutorial")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "points.tfrecord")
	if err := write(name); err != nil {
		return err
	}
	return learn(ctx, name)
}

// write makes a file of 100 points on the line y = 2x - 1.
func write(name string) error {
	w, err := record.Create(name, record.None)
	if err != nil {
		return err
	}
	for i := range 100 {
		x := float32(i) / 100
		e := example.Example{"x": example.Floats(x), "y": example.Floats(2*x - 1)}
		if err := w.Write(e.Marshal()); err != nil {
			return err
		}
	}
	return w.Close()
}

func learn(ctx context.Context, name string) error {
	parser, err := data.NewExampleParser(
		data.Feature{Key: "x", Type: tf.Float32, Shape: tf.Shape{}},
		data.Feature{Key: "y", Type: tf.Float32, Shape: tf.Shape{}},
	)
	if err != nil {
		return err
	}
	defer parser.Close()
	batches := data.TFRecord([]string{name}, "").
		Shuffle(100, 1, 2).
		Repeat(10).
		Batch(20, true).
		ParseExample(parser, 1).
		Prefetch(2)
	fmt.Println(batches.Types(), batches.Err())

	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	w := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"})
	b := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "b"})
	loss := x.Mul(w.Value()).Add(b.Value()).Sub(y).Square().Mean()
	step := train.Momentum{LearningRate: 0.2, Momentum: 0.9}.Minimize(loss)
	start := tf.InitializeAll(g)

	s, err := session.New(g)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, start); err != nil {
		return err
	}
	steps := 0
	for batch, err := range batches.All(ctx) {
		if err != nil {
			return err
		}
		if _, err := s.Run(ctx, session.Feeds{x: batch[0], y: batch[1]}, step); err != nil {
			return err
		}
		steps++
	}
	out, err := s.Run(ctx, nil, w.Value(), b.Value())
	if err != nil {
		return err
	}
	fmt.Printf("%d steps: y = %.1fx %+.1f\n", steps, out[0].At(0), out[1].At(0))
	return nil
}
