package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	m, err := tf.TensorOf([][]float32{{1, 2, 3}, {4, 5, 6}})
	if err != nil {
		return err
	}
	fmt.Println(m, m.DType(), m.Shape(), m.Rank())
	fmt.Println(tf.Data[float32](m)[4])

	g := tf.NewGraph()
	x := ops.ConstTensor(g, m)
	row := ops.Const(g, []float32{10, 20, 30})
	show := []tf.Output{
		x.Mul(2),
		x.Add(row),
		x.Sum(0),
		x.Mean(),
		x.Transpose(),
		x.Reshape(3, -1),
		x.Cast(tf.Int32),
	}

	show = append(show,
		x.At("1"),
		x.At(":, ::2"),
		x.At("..., -1"),
		ops.Concat(0, []tf.Output{x, x.Neg()}),
		ops.Stack([]tf.Output{row, row}, 0),
	)
	s, err := session.New(g)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, y := range show {
		out, err := s.Run(ctx, nil, y)
		if err != nil {
			return err
		}
		fmt.Println(y.Name(), out[0])
	}

	images := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 28, 28})
	flat := images.Reshape(-1, 28*28)
	fmt.Println(images.Shape(), flat.Shape(), flat.Sum(1).Shape())

	batch, err := tf.NewTensor(tf.Float32, tf.Shape{5, 28, 28})
	if err != nil {
		return err
	}
	sizes, err := session.Fetch[int32](ctx, s, session.Feeds{images: batch}, ops.Shape(flat))
	if err != nil {
		return err
	}
	fmt.Println(sizes)
	return nil
}
