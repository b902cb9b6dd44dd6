package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// The functions of this package add operations to graphs. An eager graph
// computes them at once.
func Example() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	w := ops.Const(g, []float32{1, 0, -1}, 3, 1)
	v, err := ops.Relu(ops.MatMul(x, w)).Value()
	fmt.Println(v, err)
	// Output: float32[2,1]{0, 0} <nil>
}

func ExampleConst() {
	g := eager.New()
	v, err := ops.Const(g, []int32{1, 2, 3, 4}, 2, 2).Value()
	fmt.Println(v, err)
	// Output: int32[2,2]{1, 2, 3, 4} <nil>
}

// A placeholder is fed in each step. Its shape may be known in part.
func ExamplePlaceholder() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3}, tf.Name("x"))
	fmt.Println(x, x.Sum(1).Shape())
	// Output: x:0 float32[?,3] [?]
}

// Attributes that have a default are set by a struct of the op's own.
func ExampleMatMul() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	v, err := ops.MatMul(x, x, ops.MatMulOpts{TransposeA: true}, tf.Name("gram")).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{10, 14, 14, 20} <nil>
}

func ExampleReshape() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6})
	v, err := ops.Reshape(x, ops.Const(g, []int32{2, -1})).Value() // -1: what is left
	fmt.Println(v, err)
	// Output: int32[2,3]{1, 2, 3, 4, 5, 6} <nil>
}

func ExampleTranspose() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	v, err := ops.Transpose(x, ops.Const(g, []int32{1, 0})).Value()
	fmt.Println(v, err)
	// Output: int32[3,2]{1, 4, 2, 5, 3, 6} <nil>
}

func ExampleConcatV2() {
	g := eager.New()
	x, y := ops.Const(g, []int32{1, 2}, 1, 2), ops.Const(g, []int32{3, 4}, 1, 2)
	for axis := range int32(2) {
		v, err := ops.ConcatV2([]tf.Output{x, y}, ops.Scalar(g, axis)).Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2,2]{1, 2, 3, 4} <nil>
	// int32[1,4]{1, 2, 3, 4} <nil>
}

func ExampleSplit() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6})
	for _, part := range ops.Split(x, 3, ops.Scalar[int32](g, 0)) {
		v, err := part.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2]{1, 2} <nil>
	// int32[2]{3, 4} <nil>
	// int32[2]{5, 6} <nil>
}

func ExampleSlice() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	v, err := ops.Slice(x, ops.Const(g, []int32{0, 1}), ops.Const(g, []int32{2, 2})).Value()
	fmt.Println(v, err)
	// Output: int32[2,2]{2, 3, 5, 6} <nil>
}

// Gather takes rows by their numbers: an embedding is looked up so.
func ExampleGather() {
	g := eager.New()
	table := ops.Const(g, []float32{0, 0, 1, 1, 2, 2}, 3, 2)
	v, err := ops.Gather(table, ops.Const(g, []int32{2, 0}), 0).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{2, 2, 0, 0} <nil>
}

func ExampleOneHot() {
	g := eager.New()
	on, off := ops.Scalar[float32](g, 1), ops.Scalar[float32](g, 0)
	v, err := ops.OneHot(ops.Const(g, []int32{2, 0}), ops.Scalar[int32](g, 3), on, off).Value()
	fmt.Println(v, err)
	// Output: float32[2,3]{0, 0, 1, 1, 0, 0} <nil>
}

func ExampleArgMax() {
	g := eager.New()
	logits := ops.Const(g, []float32{0.1, 0.7, 0.2, 0.5, 0.3, 0.2}, 2, 3)
	v, err := ops.ArgMax(logits, ops.Scalar[int32](g, 1)).Value()
	fmt.Println(v, err)
	// Output: int64[2]{1, 0} <nil>
}

func ExampleTopKV2() {
	g := eager.New()
	values, indices := ops.TopKV2(ops.Const(g, []float32{3, 9, 1, 7}), ops.Scalar[int32](g, 2))
	v, err := values.Value()
	fmt.Println(v, err)
	i, err := indices.Value()
	fmt.Println(i, err)
	// Output:
	// float32[2]{9, 7} <nil>
	// int32[2]{1, 3} <nil>
}

func ExampleCast() {
	g := eager.New()
	v, err := ops.Cast(ops.Const(g, []float32{1.7, -1.7}), tf.Int32).Value()
	fmt.Println(v, err)
	// Output: int32[2]{1, -1} <nil>
}

func ExampleSelectV2() {
	g := eager.New()
	x := ops.Const(g, []float32{-1, 2, -3})
	zero := ops.Scalar[float32](g, 0)
	v, err := ops.SelectV2(x.Greater(zero), x, zero).Value()
	fmt.Println(v, err)
	// Output: float32[3]{0, 2, 0} <nil>
}

// The loss of each example, from logits and the number of its class.
func ExampleSparseSoftmaxCrossEntropyWithLogits() {
	g := eager.New()
	logits := ops.Const(g, []float32{0, 0, 0, 100}, 2, 2)
	loss := ops.SparseSoftmaxCrossEntropyWithLogits(ops.Const(g, []int32{0, 1}), logits)
	v, err := loss.Value()
	fmt.Println(v, err)
	// Output: float32[2]{0.6931472, 0} <nil>
}

func ExampleConv2D() {
	g := eager.New()
	image := ops.Const(g, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 3, 3, 1) // batch, height, width, channels
	sum := ops.Const(g, []float32{1, 1, 1, 1}, 2, 2, 1, 1)                  // height, width, in, out
	v, err := ops.Conv2D(image, sum, []int{1, 1, 1, 1}, "VALID").Value()
	fmt.Println(v, err)
	// Output: float32[1,2,2,1]{12, 16, 24, 28} <nil>
}

// MapFn applies a function to each row.
func ExampleMapFn() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	sums := ops.MapFn(func(rows []tf.Output) []tf.Output { return []tf.Output{rows[0].Sum()} }, []tf.Output{x}, []tf.DType{tf.Float32})
	v, err := sums[0].Value()
	fmt.Println(v, err)
	// Output: float32[2]{3, 7} <nil>
}

// FoldL goes through the rows from the first to the last.
func ExampleFoldL() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4})
	product := ops.FoldL(func(before, rows []tf.Output) []tf.Output {
		return []tf.Output{before[0].Mul(rows[0])}
	}, []tf.Output{x}, []tf.Output{ops.Scalar[float32](g, 1)})
	v, err := product[0].Value()
	fmt.Println(v, err)
	// Output: float32[]{24} <nil>
}

// With a seed, random numbers are the same in each run, and TensorFlow's.
func ExampleRandomUniform() {
	sample := func() (*tf.Tensor, error) {
		g := eager.New()
		g.SetSeed(1)
		return ops.RandomUniform(g, []int{3}, tf.Float32, ops.Seed(2)).Value()
	}
	a, errA := sample()
	b, errB := sample()
	fmt.Println(a.String() == b.String(), errA, errB)
	// Output: true <nil> <nil>
}
