package layers_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Each mistake gets an error that names the user's line, and none panics.
func TestMistakes(t *testing.T) {
	image := tf.Shape{2, 5, 5, 3}
	for name, c := range map[string]struct {
		shape tf.Shape
		want  string
		f     func(x tf.Output) tf.Output
	}{
		"window of three sizes": {image, "`kernel_size` argument must be one number or 2", func(x tf.Output) tf.Output { return layers.Conv2D(x, 2, []int{1, 2, 3}) }},
		"window of no size":     {image, "`kernel_size` argument must have positive numbers", func(x tf.Output) tf.Output { return layers.Conv2D(x, 2, 0) }},
		"no window":             {image, "`kernel_size`", func(x tf.Output) tf.Output { return layers.MaxPool2D(x, []int{}, 0, "SAME") }},
		"strides of pooling":    {image, "`strides` argument", func(x tf.Output) tf.Output { return layers.AvgPool2D(x, 2, -1, "SAME") }},
		"strides":               {image, "`strides` argument", func(x tf.Output) tf.Output { return layers.Conv2D(x, 2, 3, layers.ConvOpts{Strides: []int{1, 0}}) }},
		"padding":               {image, "`padding` argument must be one of \"valid\", \"same\". Received: \"Full\"", func(x tf.Output) tf.Output { return layers.Conv2D(x, 2, 3, layers.ConvOpts{Padding: "Full"}) }},
		"padding of pooling":    {image, "`padding` argument must be one of \"valid\", \"same\". Received: \"causal\"", func(x tf.Output) tf.Output { return layers.MaxPool2D(x, 2, 2, "causal") }},
		"causal images":         {image, "Causal padding is only supported", func(x tf.Output) tf.Output { return layers.Conv2D(x, 2, 3, layers.ConvOpts{Padding: "causal"}) }},
		"causal pooling":        {tf.Shape{2, 5, 3}, "`padding` argument must be one of", func(x tf.Output) tf.Output { return layers.MaxPool1D(x, 2, 2, "causal") }},
		"groups of channels":    {image, "number of input channels must be evenly divisible", func(x tf.Output) tf.Output { return layers.Conv2D(x, 4, 3, layers.ConvOpts{Groups: 4}) }},
		"groups of filters":     {image, "number of filters must be evenly divisible", func(x tf.Output) tf.Output { return layers.Conv2D(x, 4, 3, layers.ConvOpts{Groups: 3}) }},
		"negative groups":       {image, "`groups` must be a positive number", func(x tf.Output) tf.Output { return layers.Conv2D(x, 4, 3, layers.ConvOpts{Groups: -1}) }},
		"adjusted virtual batches": {image, "adjustment cannot be specified", func(x tf.Output) tf.Output {
			return layers.BatchNorm(x, true, layers.BatchNormOpts{VirtualBatch: 2, Adjustment: adjustment})
		}},
		"no filters":       {image, "filters=0", func(x tf.Output) tf.Output { return layers.Conv2D(x, 0, 3) }},
		"rank of lines":    {image, "needs an input of rank 3", func(x tf.Output) tf.Output { return layers.Conv1D(x, 2, 3) }},
		"rank of volumes":  {image, "needs an input of rank 5", func(x tf.Output) tf.Output { return layers.MaxPool3D(x, 2, 3, "SAME") }},
		"unknown channels": {tf.Shape{2, 5, 5, -1}, "channel dimension", func(x tf.Output) tf.Output { return layers.Conv2DTranspose(x, 2, 3) }},
		"window too large": {image, "Negative dimension size caused by subtracting 7 from 5", func(x tf.Output) tf.Output { return layers.Conv2D(x, 2, 7) }},
		"window one too large": {image, "subtracting 6 from 5", func(x tf.Output) tf.Output {
			return layers.Conv2D(x, 2, []int{3, 6})
		}},
		"dilated window": {image, "subtracting 7 from 5", func(x tf.Output) tf.Output {
			return layers.Conv2D(x, 2, 3, layers.ConvOpts{Dilation: []int{3}})
		}},
		"separable window":          {image, "subtracting 6 from 5", func(x tf.Output) tf.Output { return layers.SeparableConv2D(x, 2, 6) }},
		"depthwise window":          {image, "subtracting 6 from 5", func(x tf.Output) tf.Output { return layers.DepthwiseConv2D(x, 6) }},
		"separable window of lines": {tf.Shape{2, 5, 3}, "subtracting 6 from 5", func(x tf.Output) tf.Output { return layers.SeparableConv1D(x, 2, 6) }},
		"pooling of one too many":   {image, "subtracting 6 from 5", func(x tf.Output) tf.Output { return layers.MaxPool2D(x, 6, 1, "valid") }},
		"pooling of lines":          {tf.Shape{2, 5, 3}, "subtracting 6 from 5", func(x tf.Output) tf.Output { return layers.AvgPool1D(x, 6, 1, "valid") }},
		"unequal strides": {image, "equal length strides", func(x tf.Output) tf.Output {
			return layers.SeparableConv2D(x, 2, 3, layers.SeparableOpts{ConvOpts: layers.ConvOpts{Strides: []int{1, 2}}})
		}},
		"separable filters": {image, "filters=-1", func(x tf.Output) tf.Output { return layers.SeparableConv2D(x, -1, 3) }},
		"axis":              {image, "`axis`", func(x tf.Output) tf.Output { return layers.BatchNorm(x, true, layers.BatchNormOpts{Axes: []int{4}}) }},
		"axis twice": {image, "Duplicate axis", func(x tf.Output) tf.Output {
			return layers.BatchNorm(x, true, layers.BatchNormOpts{Axes: []int{1, -3}})
		}},
		"unknown axis":    {tf.Shape{2, -1}, "undefined `axis` dimension", func(x tf.Output) tf.Output { return layers.BatchNorm(x, true) }},
		"virtual batches": {image, "virtual_batch_size", func(x tf.Output) tf.Output { return layers.BatchNorm(x, true, layers.BatchNormOpts{VirtualBatch: -2}) }},
		"virtual batch axis": {image, "axis cannot include 0", func(x tf.Output) tf.Output {
			return layers.BatchNorm(x, true, layers.BatchNormOpts{VirtualBatch: 2, Axes: []int{0}})
		}},
		"momentum":             {image, "momentum", func(x tf.Output) tf.Output { return layers.BatchNorm(x, true, layers.BatchNormOpts{Momentum: 2}) }},
		"features":             {tf.Shape{2, -1}, "known sizes", func(x tf.Output) tf.Output { return layers.LayerNorm(x) }},
		"embedding of numbers": {image, "ids of type int32 or int64", func(x tf.Output) tf.Output { return layers.Embedding(x, 2, 3) }},
		"no rows":              {image, "`input_dim`", func(x tf.Output) tf.Output { return layers.Embedding(x.Cast(tf.Int32), 0, 3) }},
		"attention to images": {image, "[n time size]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{})
		}},
		"values without time": {tf.Shape{2, 3, 4}, "attention needs values [n time size] of floating-point numbers whose size is known, got Placeholder_1:0 float32[2,3]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, ops.Placeholder(x.Graph(), tf.Float32, tf.Shape{2, 3}), 2, 2, layers.AttentionInputs{})
		}},
		"integer keys": {tf.Shape{2, 3, 4}, "attention needs keys", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Key: ops.Placeholder(x.Graph(), tf.Int32, tf.Shape{2, 3, 4})})
		}},
		"a mask of strings": {tf.Shape{2, 3, 4}, "must be bool or numbers, got Placeholder_1:0 string[3,3]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Mask: ops.Placeholder(x.Graph(), tf.String, tf.Shape{3, 3})})
		}},
		"attention of no heads": {tf.Shape{2, 3, 4}, "positive numbers of heads", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 0, 2, layers.AttentionInputs{})
		}},
		"attention to another batch": {tf.Shape{1, 3, 4}, "must be of one batch, got shapes [1,3,4] and [2,3,4]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, ops.Placeholder(x.Graph(), tf.Float32, tf.Shape{2, 3, 4}), 2, 2, layers.AttentionInputs{})
		}},
		"keys of another sequence": {tf.Shape{2, 3, 4}, "must be equal, got shapes [2,3,4] and [2,5,4]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Key: ops.Placeholder(x.Graph(), tf.Float32, tf.Shape{2, 5, 4})})
		}},
		"mask of other sequences": {tf.Shape{2, 3, 4}, "which are [2,2,3,3], got Placeholder_1:0 bool[2,7,7]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Mask: ops.Placeholder(x.Graph(), tf.Bool, tf.Shape{2, 7, 7})})
		}},
		"mask of other heads": {tf.Shape{-1, 3, 4}, "which are [?,2,3,3], got Placeholder_1:0 bool[2,3,3,3]", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Mask: ops.Placeholder(x.Graph(), tf.Bool, tf.Shape{2, 3, 3, 3})})
		}},
		"mask of another graph": {tf.Shape{2, 3, 4}, "belong to one graph", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Mask: ops.Placeholder(tf.NewGraph(), tf.Bool, tf.Shape{3, 3})})
		}},
		"mask of unknown rank": {tf.Shape{2, 3, 4}, "the mask of attention must be", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Mask: ops.Placeholder(x.Graph(), tf.Bool, nil)})
		}},
		"mask of keys": {tf.Shape{2, 3, 4}, "the mask of attention must be", func(x tf.Output) tf.Output {
			return layers.MultiHeadAttention(x, x, 2, 2, layers.AttentionInputs{Mask: ops.Placeholder(x.Graph(), tf.Bool, tf.Shape{3})})
		}},
		"noise shape": {image, "noise shape", func(x tf.Output) tf.Output { return layers.Dropout(x, 0.5, layers.DropoutOpts{NoiseShape: []int{1}}) }},
		"partitions": {image, "does not match the Variable's rank", func(x tf.Output) (y tf.Output) {
			cut := func(tf.Shape, tf.DType) []int { return []int{2} }
			vars.Scope(x.Graph(), "s", vars.ScopeOptions{Partitioner: cut}, func() { y = layers.Dense(x, 2) })
			return y
		}},
		"whole numbers": {image, "floating point tensor", func(x tf.Output) tf.Output { return layers.Dropout(x.Cast(tf.Int32), 0.5) }},
	} {
		g := tf.NewGraph()
		err := c.f(ops.Placeholder(g, tf.Float32, c.shape)).Err()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mistakes_test.go:") || g.Err() == nil {
			t.Errorf("%s: %v; want %q and this file's line", name, err, c.want)
		}
	}
}

// A layer that is built refuses inputs of another size.
func TestOtherInputs(t *testing.T) {
	g := tf.NewGraph()
	at := func(s ...int) tf.Output { return ops.Placeholder(g, tf.Float32, s) }
	dense, conv, norm, attention := layers.NewDense(2), layers.NewConv2D(2, 3), layers.NewLayerNorm(), layers.NewMultiHeadAttention(2, 3)
	dense.Apply(at(1, 3))
	conv.Apply(at(1, 5, 5, 3))
	norm.Apply(at(1, 3))
	attention.Apply(at(1, 4, 3))
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	wide, _ := attention.Attend(at(1, 4, 3), at(1, 4, 5), layers.AttentionInputs{})
	for i, y := range []tf.Output{dense.Apply(at(1, 4)), conv.Apply(at(1, 5, 5, 4)), norm.Apply(at(1, 4)), attention.Apply(at(1, 4, 5)), wide} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), "incompatible with the layer") {
			t.Errorf("layer %d: %v", i, err)
		}
	}
}

// TestAttentionIsBuiltOnce: Build refuses other sizes than those of a layer that is built, and does
// not keep those of an application that failed.
func TestAttentionIsBuiltOnce(t *testing.T) {
	g := tf.NewGraph()
	l := layers.NewMultiHeadAttention(2, 3)
	l.Apply(ops.Placeholder(g, tf.Float32, tf.Shape{1, 4, -1}))
	if err := l.Build(g, tf.Float32, tf.Shape{1, 4, 5}); err != nil {
		t.Error(err)
	}
	if err := l.Build(g, tf.Float32, tf.Shape{1, 4, 3}); err == nil || !strings.Contains(err.Error(), "incompatible with the layer") {
		t.Error(err)
	}
}

// Batch normalization that trains in a loop would lose its updates.
func TestTrainingInLoop(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{4, 2})
	y := tf.While([]tf.Output{x}, func(v []tf.Output) tf.Output { return v[0].Sum().Less(3) },
		func(v []tf.Output) []tf.Output { return []tf.Output{layers.BatchNorm(v[0], true)} })
	if err := y[0].Err(); err == nil || !strings.Contains(err.Error(), "updates of its averages would be lost") {
		t.Error(err)
	}
}

// TestBuildInNothing: a graph that is missing is no panic, and the layer can still be built.
func TestBuildInNothing(t *testing.T) {
	for name, build := range map[string]func(g *tf.Graph, d tf.DType, s tf.Shape) error{
		"dense": layers.NewDense(2).Build, "normalization": layers.NewBatchNorm().Build, "embedding": layers.NewEmbedding(2, 3).Build,
		"attention": layers.NewMultiHeadAttention(1, 2).Build,
	} {
		d, s := tf.Float32, tf.Shape{2, 3, 4}
		if name == "embedding" {
			d = tf.Int32
		}
		if err := build(nil, d, s); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "got nil: make one by tf.NewGraph") {
			t.Errorf("%s: %v", name, err)
		}
		if err := build(tf.NewGraph(), d, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoActivation: nil in the place of an option, Python's None, stands for none.
func TestNoActivation(t *testing.T) {
	g := tf.NewGraph()
	image := ops.Placeholder(g, tf.Float32, tf.Shape{2, 5, 5, 3})
	for i, y := range []tf.Output{layers.Dense(image, 4, nil), layers.Conv2D(image, 4, 3, nil), layers.NewConv2DTranspose(4, 3, nil).Apply(image)} {
		if s := y.Shape(); y.Err() != nil || s[3] != 4 {
			t.Errorf("layer %d: %v, %v", i, s, y.Err())
		}
	}
}

// TestUpdatesOfNothing: a graph that is missing is no panic.
func TestUpdatesOfNothing(t *testing.T) {
	if err := layers.Updates(nil).Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "updates are those of a graph, got nil") {
		t.Error(err)
	}
}

// TestRegularizerOfNothing: a regularizer that returns nothing adds nothing.
func TestRegularizerOfNothing(t *testing.T) {
	g := tf.NewGraph()
	none := func(tf.Output) tf.Output { return tf.Output{} }
	layers.Dense(ops.Const(g, []float32{1, 2}, 1, 2), 2, layers.DenseOpts{KernelRegularizer: vars.Sum(none), ActivityRegularizer: vars.Sum(nil)})
	if n := len(g.Collection("regularization_losses")); n != 0 || g.Err() != nil {
		t.Errorf("%d losses, %v", n, g.Err())
	}
}
