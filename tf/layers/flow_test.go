package layers_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// A layer can be applied first inside of a loop or a branch: its variables are
// outside, and gradients reach them.
func TestLayersInControlFlow(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2}, 1, 2)
	half := layers.DenseOpts{KernelInitializer: initializers.Identity(0.5), Name: "half"}
	l := layers.NewDense(2, half)
	looped := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x}, func(v []tf.Output) tf.Output { return v[0].Less(3) },
		func(v []tf.Output) []tf.Output { return []tf.Output{v[0].Add(1), l.Apply(v[1])} })[1]
	branch := tf.Cond(ops.Scalar(g, true), func() []tf.Output {
		return []tf.Output{layers.Dense(looped, 2, layers.DenseOpts{KernelInitializer: initializers.Identity(8)})}
	},
		func() []tf.Output { return []tf.Output{x} })[0]
	again := l.Apply(x)
	step := train.GradientDescent{LearningRate: 0.1}.Minimize(branch.Sum())
	if err := step.Err(); err != nil {
		t.Fatal(err)
	}
	if n := len(tf.Variables(g, tf.TrainableVariables)); n != 4 {
		t.Errorf("there are %d variables, want those of two layers", n)
	}
	out := run(t, g, branch, again)
	near(t, "in control flow", out[0], []float64{1, 2})
	near(t, "outside", out[1], []float64{0.5, 1})
}

// A function that is traced uses the layer's variables, and sees what they become.
func TestLayersInFunctions(t *testing.T) {
	g := eager.New()
	l := layers.NewDense(2, layers.DenseOpts{KernelInitializer: initializers.Identity(2), NoBias: true})
	if err := l.Build(g, tf.Float32, tf.Shape{-1, 2}); err != nil {
		t.Fatal(err)
	}
	f := eager.NewFunc(g, "double", func(args []tf.Output, _ ...any) []tf.Output { return []tf.Output{l.Apply(args[0])} })
	for _, want := range [][]float64{{2, 4}, {3, 6}} {
		out := f.Call([]tf.Output{ops.Const(g, []float32{1, 2}, 1, 2)})
		v, err := out[0].Value()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "in a function", v, want)
		l.Kernel.Assign(ops.Const(g, []float32{3, 0, 0, 3}, 2, 2))
	}
}

// TestMaskInHalfPrecision: what queries may not look at has the weight 0 in all types.
func TestMaskInHalfPrecision(t *testing.T) {
	for _, d := range []tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64} {
		g := tf.NewGraph()
		x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 1, 3, 2).Cast(d)
		l := layers.NewMultiHeadAttention(1, 2, layers.AttentionOpts{KernelInitializer: initializers.Zeros})
		_, weights := l.Attend(x, x, layers.AttentionInputs{Causal: true})
		near(t, d.String(), run(t, g, ops.Reshape(weights.Cast(tf.Float32).Mul(6).Round(), []int{9}))[0], []float64{6, 0, 0, 3, 3, 0, 2, 2, 2})
	}
}
