package layers_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An activation of one's own: ReLU with a limit.
func capped(x tf.Output, opts ...tf.Option) tf.Output {
	return x.Clip(float32(0), float32(1), opts...)
}

// Any function from tensor to tensor is an activation, and so an option of a layer.
func ExampleActivation() {
	g := eager.New()
	options := []layers.DenseOption{layers.Activation(capped), layers.DenseOpts{NoBias: true}}
	l := layers.NewDense(1, options...)
	if err := l.Build(g, tf.Float32, tf.Shape{-1, 1}); err != nil {
		fmt.Println(err)
		return
	}
	l.Kernel.Assign(ops.Const(g, []float32{2}, 1, 1))
	fmt.Println(l.Apply(ops.Const(g, []float32{-5, 0.25, 5}, 3, 1)).Value())
	// Output: float32[3,1]{0, 0.5, 1} <nil>
}

// blocks adds convolutions with the same options, over windows of any size.
func blocks[S layers.Size](x tf.Output, size S, opts ...layers.ConvOption) tf.Output {
	for _, filters := range []int{8, 16} {
		x = layers.Conv2D(x, filters, size, opts...)
		x = layers.MaxPool2D(x, 2, 2, "SAME", layers.PoolOpts{Name: "pool"})
	}
	return x
}

// A size is a number for all dimensions, or one for each.
func ExampleSize() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 28, 28, 1})
	fmt.Println(blocks(x, 3, layers.Relu).Shape())
	fmt.Println(blocks(x, []int{3, 5}, layers.ConvOpts{Strides: []int{2, 1}, Padding: "SAME"}).Shape(), g.Err())
	// Output:
	// [?,6,6,16]
	// [?,2,7,16] <nil>
}

// A layer that is made once may be applied again and again.
func ExampleConvLayer() {
	g := tf.NewGraph()
	var l *layers.ConvLayer = layers.NewConv2D(8, 3, layers.ConvOpts{NoBias: true})
	for _, size := range []int{28, 14} {
		y := l.Apply(ops.Placeholder(g, tf.Float32, tf.Shape{-1, size, size, 3}))
		fmt.Println(y.Shape())
	}
	fmt.Println(l.Kernel.Shape(), l.Bias == nil, g.Err())
	// Output:
	// [?,26,26,8]
	// [?,12,12,8]
	// [3,3,3,8] true <nil>
}

// Each channel is filtered by itself, then the channels are mixed: fewer weights
// than a convolution has.
func ExampleSeparableConvLayer() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 28, 28, 3})
	var l *layers.SeparableConvLayer = layers.NewSeparableConv2D(8, 3, layers.SeparableOpts{Multiplier: 2})
	y := l.Apply(x)
	fmt.Println(y.Shape(), l.DepthwiseKernel.Shape(), l.PointwiseKernel.Shape(), g.Err())
	// Output: [?,26,26,8] [3,3,3,2] [1,1,6,8] <nil>
}

// The rows of a table, by their numbers.
func ExampleEmbeddingLayer() {
	g := eager.New()
	var l *layers.EmbeddingLayer = layers.NewEmbedding(3, 2, layers.EmbeddingOpts{Name: "words"})
	ids := ops.Const(g, []int32{2, 0})
	l.Apply(ids) // adds the table
	l.Table.Assign(ops.Const(g, []float32{0, 0, 1, 10, 2, 20}, 3, 2))
	v, err := l.Apply(ids).Value()
	fmt.Println(l.Table.Name(), v, err)
	// Output: words/embeddings float32[2,2]{2, 20, 0, 0} <nil>
}

// Each row is shifted and scaled to mean 0 and variance 1.
func ExampleLayerNormLayer() {
	g := eager.New()
	var l *layers.LayerNormLayer = layers.NewLayerNorm(layers.LayerNormOpts{NoCenter: true, Epsilon: 1e-9})
	v, err := l.Apply(ops.Const(g, []float32{1, 3, 10, 30}, 2, 2)).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f %v\n", tf.Data[float32](v), l.Beta == nil)
	// Output: [-1.00 1.00 -1.00 1.00] true
}

// Each word of a sentence looks at the others, with two heads.
func ExampleMultiHeadAttentionLayer() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 10, 16})
	var l *layers.MultiHeadAttentionLayer = layers.NewMultiHeadAttention(2, 8, layers.AttentionOpts{OutputSize: 4})
	y, weights := l.Attend(x, x, layers.AttentionInputs{})
	fmt.Println(y.Shape(), weights.Shape(), g.Err())
	// Output: [?,10,4] [?,2,10,10] <nil>
}

// Whole channels are dropped, and only while If is true.
func ExampleDropoutOpts() {
	g := eager.New()
	g.SetSeed(1)
	x := ops.Const(g, []float32{1, 1, 1, 1, 1, 1, 1, 1}, 2, 4)
	for _, training := range []bool{false, true} {
		o := layers.DropoutOpts{NoiseShape: []int{1, 4}, If: ops.Scalar(g, training), Seed: 2}
		fmt.Println(layers.Dropout(x, 0.5, o).Value())
	}
	// Output:
	// float32[2,4]{1, 1, 1, 1, 1, 1, 1, 1} <nil>
	// float32[2,4]{0, 2, 0, 0, 0, 2, 0, 0} <nil>
}

// network normalizes as the mode says: a Go value, or what a step feeds.
func network[M layers.Mode](x tf.Output, training M) tf.Output {
	return layers.BatchNorm(x, training, layers.BatchNormOpts{Renorm: &layers.RenormOpts{RMax: 3, DMax: 5}})
}

// One graph trains and predicts, if the mode is fed.
func ExampleMode() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 4})
	training := ops.Placeholder(g, tf.Bool, tf.Shape{})
	fmt.Println(network(x, true).Shape(), network(x, training).Shape(), g.Err())
	// Output: [?,4] [?,4] <nil>
}
