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
	g := tf.NewGraph()
	a := ops.Scalar[float32](g, 3, tf.Name("a"))
	b := ops.Scalar[float32](g, 4, tf.Name("b"))
	sum := a.Add(b)
	fmt.Println(sum)

	s, err := session.New(g)
	if err != nil {
		return err
	}
	defer s.Close()
	out, err := s.Run(ctx, nil, sum, a.Mul(b))
	if err != nil {
		return err
	}
	fmt.Println(out[0], out[1])

	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	norm := x.Square().Sum().Sqrt()
	for _, v := range [][]float32{{3, 4}, {1, 2, 2}} {
		in, err := tf.FromSlice(v)
		if err != nil {
			return err
		}
		length, err := session.Fetch[float32](ctx, s, session.Feeds{x: in}, norm)
		if err != nil {
			return err
		}
		fmt.Println(v, "has length", length[0])
	}

	wrong := tf.NewGraph()
	ops.MatMul(ops.Const(wrong, []float32{1, 2, 3, 4}, 2, 2), ops.Const(wrong, []float32{1, 2, 3}, 3, 1))
	_, err = session.New(wrong)
	fmt.Println(err)
	return nil
}
