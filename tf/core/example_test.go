package core_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops" // registers the operations
)

// Lookup returns what an operation was registered with.
func ExampleLookup() {
	d := core.Lookup("MatMul")
	fmt.Println(d.In)
	fmt.Println(d.Out)
	fmt.Println(d.Package())
	fmt.Println(core.Lookup("None") == nil)
	// Output:
	// a: T; b: T
	// product: T
	// github.com/gorge-tf/gorge/tf/ops
	// true
}

// A node is one use of an operation. Attributes that are left out get their
// defaults.
func ExampleNewNode() {
	n, err := core.NewNode("y", "MatMul", core.Attrs{"T": core.Float32, "transpose_a": true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n.InTypes, n.OutTypes, n.Bool("transpose_a"), n.Bool("transpose_b"))
	// Output: [float32 float32] [float32] true false
}

// A shape function works on shapes of which only a part is known.
func ExampleInferShapes() {
	n, err := core.NewNode("y", "MatMul", core.Attrs{"T": core.Float32})
	if err != nil {
		fmt.Println(err)
		return
	}
	shapes, err := core.InferShapes(n, []core.Shape{{-1, 784}, {784, 10}}, nil)
	fmt.Println(shapes, err)
	_, err = core.InferShapes(n, []core.Shape{{-1, 784}, {10, 10}}, nil)
	fmt.Println(core.CodeOf(err))
	// Output:
	// [[?,10]] <nil>
	// INVALID_ARGUMENT
}

// Enter copies what a program feeds; Leave moves what only a step holds.
func ExampleTensor_Enter() {
	data := []float32{1, 2}
	fed, err := core.FromSlice(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	own := fed.Enter()
	data[0] = 100
	fmt.Println(own)

	before := &core.Data[float32](own)[0]
	fetched := own.Leave()
	fmt.Println(before == &core.Data[float32](fetched)[0])
	// Output:
	// float32[2]{1, 2}
	// true
}

// A tensor that is shared has two owners; Leave copies it for a program.
func ExampleTensor_Share() {
	value := core.NewTensor(core.Float32, core.Shape{2})
	read := value.Share()
	fetched := read.Leave()
	core.Data[float32](fetched)[0] = 100
	fmt.Println(value, fetched)
	// Output: float32[2]{0, 0} float32[2]{100, 0}
}

// ParseTensorName splits the names that GraphDefs and feeds use.
func ExampleParseTensorName() {
	fmt.Println(core.ParseTensorName("layer/MatMul:1"))
	fmt.Println(core.ParseTensorName("x"))
	// Output:
	// layer/MatMul 1 <nil>
	// x 0 <nil>
}
