package tf_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A tensor is a Go value over a slice of its elements.
func ExampleTensor() {
	t, err := tf.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t)
	fmt.Println(t.DType(), t.Shape(), t.Rank(), t.Len(), t.NumBytes())
	fmt.Println(tf.Data[float32](t)[4], t.At(4))
	// Output:
	// float32[2,3]{1, 2, 3, 4, 5, 6}
	// float32 [2,3] 2 6 24
	// 5 5
}

// What a session returns is the program's alone: writing to it does not change
// the variable.
func ExampleTensor_memory() {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}), tf.VariableOptions{Name: "v"})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, v.Initializer()); err != nil {
		fmt.Println(err)
		return
	}
	mine, err := session.Fetch[float32](ctx, s, nil, v.Value())
	if err != nil {
		fmt.Println(err)
		return
	}
	mine[0] = 100
	again, err := session.Fetch[float32](ctx, s, nil, v.Value())
	fmt.Println(mine, again, err)
	// Output: [100 2 3] [1 2 3] <nil>
}

// FromSlice copies nothing: the tensor and the slice are the same memory.
func ExampleFromSlice() {
	data := []int32{1, 2, 3}
	t, err := tf.FromSlice(data)
	data[0] = 10
	fmt.Println(t, err)

	_, err = tf.FromSlice(data, 2, 2)
	fmt.Println(err)
	// Output:
	// int32[3]{10, 2, 3} <nil>
	// INVALID_ARGUMENT: data must fill the shape: shape [2,2] holds 4 elements, data has 3
}

// Adopt is for large inputs that the program does not change any more: feeding
// the tensor takes no copy.
func ExampleAdopt() {
	images := make([]float32, 4*28*28)
	batch, err := tf.Adopt(images, 4, 28*28) // images must not be written to from here on
	if err != nil {
		fmt.Println(err)
		return
	}
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 28 * 28})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	sum, err := session.Fetch[float32](context.Background(), s, session.Feeds{x: batch}, x.Sum())
	fmt.Println(sum, err)
	// Output: [0] <nil>
}

func ExampleNewTensor() {
	t, err := tf.NewTensor(tf.Int64, tf.Shape{2, 2})
	fmt.Println(t, err)

	_, err = tf.NewTensor(tf.Int64, tf.Shape{-1, 2})
	fmt.Println(tf.CodeOf(err))
	// Output:
	// int64[2,2]{0, 0, 0, 0} <nil>
	// INVALID_ARGUMENT
}

func ExampleScalar() {
	fmt.Println(tf.Scalar[float32](1.5), tf.Scalar("text"), tf.Scalar(true))
	// Output: float32[]{1.5} string[]{"text"} bool[]{true}
}

// ScalarOf makes a scalar of a type that is known only when the program runs.
func ExampleScalarOf() {
	for _, d := range []tf.DType{tf.Float16, tf.Int64, tf.Complex64} {
		t, err := tf.ScalarOf(d, 3)
		fmt.Println(t, err)
	}
	// Output:
	// float16[]{3} <nil>
	// int64[]{3} <nil>
	// complex64[]{(3+0i)} <nil>
}

// Values returns an error where Data panics.
func ExampleValues() {
	t := tf.Scalar[float32](2)
	v, err := tf.Values[float32](t)
	fmt.Println(v, err)
	_, err = tf.Values[float64](t)
	fmt.Println(tf.CodeOf(err))
	// Output:
	// [2] <nil>
	// INVALID_ARGUMENT
}

func ExampleTensor_Reshape() {
	t, err := tf.FromSlice([]int32{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := t.Reshape(tf.Shape{2, 2})
	fmt.Println(m, err)
	// Output: int32[2,2]{1, 2, 3, 4} <nil>
}

func ExampleTensor_Clone() {
	data := []int32{1, 2}
	t, err := tf.FromSlice(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := t.Clone()
	data[0] = 9
	fmt.Println(t, c)
	// Output: int32[2]{9, 2} int32[2]{1, 2}
}

// Ints is for sizes and indices, whichever integer type they have.
func ExampleTensor_Ints() {
	g := eager.New()
	x := ops.Const(g, make([]float32, 6), 2, 3)
	shape, err := ops.Shape(x).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	sizes, err := shape.Ints()
	fmt.Println(sizes, err)
	// Output: [2 3] <nil>
}

// A size of -1 is not known. Of a nil shape not even the rank is known.
func ExampleShape() {
	batch := tf.Shape{-1, 784}
	fmt.Println(batch, tf.Shape{}, tf.Shape(nil))
	fmt.Println(batch.Known(), batch.Compatible(tf.Shape{32, 784}), batch.Compatible(tf.Shape{32, 10}))
	fmt.Println(tf.Shape{2, 3}.NumElements(), batch.NumElements())
	both, ok := batch.Merge(tf.Shape{32, -1})
	fmt.Println(both, ok)
	// Output:
	// [?,784] [] <unknown>
	// false true false
	// 6 -1
	// [32,784] true
}

// Shapes broadcast as in NumPy.
func ExampleBroadcastShapes() {
	fmt.Println(tf.BroadcastShapes(tf.Shape{32, 1, 3}, tf.Shape{5, 3}))
	_, ok := tf.BroadcastShapes(tf.Shape{2}, tf.Shape{3})
	fmt.Println(ok)
	// Output:
	// [32,5,3] true
	// false
}

func ExampleDType() {
	for _, d := range []tf.DType{tf.Float32, tf.Int64, tf.String} {
		fmt.Println(d, d.CName(), d.Size(), d.IsFloat())
	}
	// Output:
	// float32 float 4 true
	// int64 int64 8 false
	// string string 0 false
}

func ExampleTypeOf() {
	fmt.Println(tf.TypeOf[float64](), tf.TypeOf[bool](), tf.TypeOf[tf.Half]())
	// Output: float64 bool float16
}

func ExampleDTypeByName() {
	d, ok := tf.DTypeByName("float")
	fmt.Println(d, ok)
	_, ok = tf.DTypeByName("number")
	fmt.Println(ok)
	// Output:
	// float32 true
	// false
}

// A device's name may leave parts open.
func ExampleDeviceSpec() {
	cpus, err := tf.ParseDevice("/job:worker/device:CPU:*")
	if err != nil {
		fmt.Println(err)
		return
	}
	full, err := tf.ParseDevice("/job:worker/replica:0/task:2/device:CPU:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cpus, cpus.Full(), cpus.Matches(full))
	fmt.Println(full.Task, full.TaskName())
	// Output:
	// /job:worker/device:CPU:* false true
	// 2 /job:worker/replica:0/task:2
}

func ExampleParseDevice() {
	d, err := tf.ParseDevice("/job:ps/cpu:1")
	fmt.Println(d, err)
	_, err = tf.ParseDevice("/job")
	fmt.Println(tf.CodeOf(err))
	// Output:
	// /job:ps/device:CPU:1 <nil>
	// INVALID_ARGUMENT
}

// Tensors are printed with their type and shape. Verbs for numbers print the
// elements alone; of large tensors the ends of each dimension are shown.
func ExampleTensor_Format() {
	x, err := tf.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	large, err := tf.NewTensor(tf.Int32, tf.Shape{1000, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x)
	fmt.Printf("%g\n", x)
	fmt.Printf("%.2f\n", x)
	fmt.Println(large)
	fmt.Printf("%d\n", large)
	// Output:
	// float32[2,3]{1, 2, 3, 4, 5, 6}
	// [[1 2 3] [4 5 6]]
	// [[1.00 2.00 3.00] [4.00 5.00 6.00]]
	// int32[1000,2]{{0, 0}, {0, 0}, {0, 0}, ..., {0, 0}, {0, 0}, {0, 0}}
	// [[0 0] [0 0] [0 0] ... [0 0] [0 0] [0 0]]
}
