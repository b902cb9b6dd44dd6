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
	"github.com/gorge-tf/gorge/tf/vars"
)

func main() {
	g := tf.NewGraph()
	g.SetSeed(1)
	images := ops.RandomUniform(g, tf.Shape{16, 8, 8, 1}, tf.Float32)
	bright := ops.Mean(images, []int{1, 2, 3}).Greater(0.5).Cast(tf.Int32)

	x := layers.Conv2D(images, 4, 3, layers.Relu, layers.ConvOpts{Padding: "same", KernelRegularizer: vars.L2(1e-4)})
	x = layers.MaxPool2D(x, 2, 2, "valid")
	x = layers.BatchNorm(x, true)
	logits := layers.Dense(layers.Flatten(x), 2)

	loss := losses.SparseSoftmaxCrossEntropy(bright, logits).Add(losses.RegularizationLosses(g)[0])
	step := train.Adam{LearningRate: 0.01}.Minimize(loss)
	for _, v := range tf.Variables(g, tf.GlobalVariables)[:8] {
		fmt.Println(v.Name(), v.Shape())
	}

	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		log.Fatal(err)
	}
	for range 200 {
		if _, err := s.Run(ctx, nil, step); err != nil {
			log.Fatal(err)
		}
	}
	last, err := session.Fetch[float32](ctx, s, nil, loss)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("learned:", last[0] < 0.3)
}
