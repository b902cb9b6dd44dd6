package layers_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A network of two layers. The variables are named as TensorFlow names them.
func ExampleDense() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 784})
	hidden := layers.Dense(x, 128, layers.Relu)
	logits := layers.Dense(hidden, 10)
	fmt.Println(logits.Shape(), g.Err())
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		fmt.Println(v.Name(), v.Shape())
	}
	// Output:
	// [?,10] <nil>
	// dense/kernel [784,128]
	// dense/bias [128]
	// dense_1/kernel [128,10]
	// dense_1/bias [10]
}

// A layer that is made once and applied twice shares its variables.
func ExampleDenseLayer() {
	g := eager.New()
	l := layers.NewDense(1)
	if err := l.Build(g, tf.Float32, tf.Shape{-1, 2}); err != nil {
		fmt.Println(err)
		return
	}
	if err := l.Kernel.Assign(ops.Const(g, []float32{10, 1}, 2, 1)).Err(); err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range [][]float32{{1, 2}, {3, 4}} {
		v, err := l.Apply(ops.Const(g, x, 1, 2)).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1]{12} <nil>
	// float32[1,1]{34} <nil>
}

// A small convolutional network.
func ExampleConv2D() {
	g := tf.NewGraph()
	images := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 28, 28, 1})
	x := layers.Conv2D(images, 32, 5, layers.ConvOpts{Padding: "SAME", Activation: layers.Relu})
	x = layers.MaxPool2D(x, 2, 2, "VALID")
	fmt.Println(x.Shape())
	x = layers.Flatten(x)
	fmt.Println(x.Shape(), layers.Dense(x, 10).Shape())
	// Output:
	// [?,14,14,32]
	// [?,6272] [?,10]
}

// Dropout keeps sums about the same: what stays is scaled up.
func ExampleDropout() {
	g := eager.New()
	g.SetSeed(1)
	y := layers.Dropout(ops.Const(g, []float32{1, 1, 1, 1, 1, 1, 1, 1}), 0.5)
	v, err := y.Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range tf.Data[float32](v) {
		if x != 0 && x != 2 {
			fmt.Println("unexpected:", x)
		}
	}
	fmt.Println(v.Shape())
	// Output: [8]
}

// In training a layer normalizes by the batch, and Updates brings its averages
// up to date.
func ExampleBatchNormLayer() {
	g := tf.NewGraph()
	l := layers.NewBatchNorm(layers.BatchNormOpts{Momentum: 0.5})
	x := ops.Const(g, []float32{0, 4}, 2, 1)
	y := l.Apply(x, true)
	updates := layers.Updates(g)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Run(ctx, nil, y, updates); err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(ctx, nil, l.MovingMean.Value(), y.Round())
	fmt.Println(out, err)
	// Output: [float32[1]{1} float32[2,1]{-1, 1}] <nil>
}

// The step says whether the layer trains. Minimize runs the updates of its
// averages.
func ExampleBatchNorm() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 8, 8, 3})
	training := ops.Placeholder(g, tf.Bool, tf.Shape{})
	y := layers.BatchNorm(x, training, layers.BatchNormOpts{Momentum: 0.9})
	fmt.Println(y.Shape(), len(g.Collection(layers.UpdateOps)), g.Err())
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		fmt.Println(v.Name())
	}
	// Output:
	// [?,8,8,3] 2 <nil>
	// batch_normalization/gamma
	// batch_normalization/beta
	// batch_normalization/moving_mean
	// batch_normalization/moving_variance
}

// A scope shares the variables of the layers in it.
func ExampleDense_reuse() {
	g := tf.NewGraph()
	network := func(x tf.Output, reuse vars.Reuse) (y tf.Output) {
		vars.Scope(g, "network", vars.ScopeOptions{Reuse: reuse, Regularizer: vars.L2(0.001)}, func() {
			y = layers.Dense(layers.Dense(x, 32, layers.Relu), 10)
		})
		return y
	}
	network(ops.Placeholder(g, tf.Float32, tf.Shape{-1, 4}), vars.Inherit)
	network(ops.Placeholder(g, tf.Float32, tf.Shape{-1, 4}), vars.Always)
	fmt.Println(len(tf.Variables(g, tf.TrainableVariables)), g.Err())
	// Output: 4 <nil>
}

// Windows, strides and dilations are one number for all dimensions, or one each.
func ExampleConvOpts() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 20, 30, 3})
	y := layers.Conv2D(x, 8, []int{3, 5}, layers.ConvOpts{Strides: []int{2, 1}, Padding: "SAME", KernelRegularizer: vars.L2(0.01)})
	z := layers.Conv2DTranspose(y, 3, 4, layers.ConvOpts{Strides: []int{2, 1}, Padding: "SAME"})
	fmt.Println(y.Shape(), z.Shape())
	// Output: [?,10,30,8] [?,20,30,3]
}

// Words become vectors.
func ExampleEmbedding() {
	g := tf.NewGraph()
	words := ops.Placeholder(g, tf.Int64, tf.Shape{-1, 12})
	fmt.Println(layers.Embedding(words, 10000, 64).Shape())
	// Output: [?,12,64]
}

// A sequence looks at itself, at what is not later.
func ExampleMultiHeadAttention() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 12, 64})
	y := layers.MultiHeadAttention(x, x, 8, 8, layers.AttentionInputs{Causal: true})
	y = layers.LayerNorm(x.Add(y))
	fmt.Println(y.Shape(), g.Err())
	// Output: [?,12,64] <nil>
}
