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
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	root := tf.Cond(x.GreaterEqual(0),
		func() []tf.Output { return []tf.Output{x.Sqrt()} },
		func() []tf.Output { return []tf.Output{x.Neg().Sqrt().Neg()} })

	zero := ops.Scalar[int32](g, 0)
	halved := tf.While([]tf.Output{x, zero},
		func(v []tf.Output) tf.Output { return v[0].GreaterEqual(1) },
		func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Div(2), v[1].Add(1)} })

	s, err := session.New(g)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, v := range []float32{16, 2.25, -9} {
		out, err := s.Run(ctx, session.Feeds{x: tf.Scalar(v)}, root[0], halved[1])
		if err != nil {
			return err
		}
		fmt.Println(v, "root", out[0], "halved", out[1])
	}

	numbers := ops.Const(g, []float32{1, 2, 3, 4, 5})
	one := ops.Scalar[float32](g, 1)
	factorials := ops.Scan(func(before, row []tf.Output) []tf.Output {
		return []tf.Output{before[0].Mul(row[0])}
	}, []tf.Output{numbers}, []tf.Output{one})
	out, err := s.Run(ctx, nil, factorials[0])
	if err != nil {
		return err
	}
	fmt.Println(out[0])

	scalar := tf.ArgSpec{Name: "v", DType: tf.Float32, Shape: tf.Shape{}}
	cube := tf.NewFunction(g, "cube", []tf.ArgSpec{scalar}, func(args []tf.Output) []tf.Output {
		v := args[0]
		return []tf.Output{v.Mul(v).Mul(v)}
	})
	y := cube.Call([]tf.Output{x})[0]
	dx, err := tf.Gradients(y, x)
	if err != nil {
		return err
	}
	out, err = s.Run(ctx, session.Feeds{x: tf.Scalar[float32](2)}, y, dx[0])
	if err != nil {
		return err
	}
	fmt.Println("x³", out[0], "3x²", out[1])
	return nil
}
