package main

import (
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3})
	v, err := x.Square().Sum().Value()
	if err != nil {
		return err
	}
	fmt.Println(v)

	var y tf.Output
	tape := eager.Record(g, func() { y = x.Pow(3).Sum() })
	dx, err := tape.Gradients(y, x)
	if err != nil {
		return err
	}
	if v, err = dx[0].Value(); err != nil {
		return err
	}
	fmt.Println(v)

	w := tf.NewVariable(ops.Const(g, []float32{5, -5}), tf.VariableOptions{Name: "w"})
	target := ops.Const(g, []float32{1, 2})
	descent := train.GradientDescent{LearningRate: 0.25}
	for range 30 {
		var loss tf.Output
		tape := eager.Record(g, func() { loss = w.Value().Sub(target).Square().Sum() })
		grads, err := train.TapeGradients(tape, loss, w)
		if err != nil {
			return err
		}
		if _, err := descent.ApplyGradients(grads); err != nil {
			return err
		}
	}
	if v, err = w.Value().Value(); err != nil {
		return err
	}
	fmt.Printf("%.2f\n", tf.Data[float32](v))

	distance := eager.NewFunc(g, "distance", func(args []tf.Output, _ ...any) []tf.Output {
		return []tf.Output{args[0].Sub(args[1]).Square().Sum().Sqrt()}
	})
	for _, p := range [][]float32{{1, 2}, {4, 6}} {
		d := distance.Call([]tf.Output{ops.Const(g, p), target})[0]
		if v, err = d.Value(); err != nil {
			return err
		}
		fmt.Println(v)
	}
	fmt.Println("traced", distance.Traces(), "time")
	return nil
}
