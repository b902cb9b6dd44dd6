package dense_test

import (
	"fmt"

	"gorgonia.org/tensor"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense"
)

// From copies a tensor of gorgonia's, whatever its layout.
func ExampleFrom() {
	d := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{1, 2, 3, 4, 5, 6}))
	if err := d.T(); err != nil { // transposed lazily
		fmt.Println(err)
		return
	}
	t, err := dense.From(d)
	fmt.Println(t, err)
	// Output: float32[3,2]{1, 4, 2, 5, 3, 6} <nil>
}

// To shares memory with the tensor that it is given.
func ExampleTo() {
	t, err := tf.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := dense.To(t)
	fmt.Println(d.Shape(), d.Data(), err)
	// Output: (2, 2) [1 2 3 4] <nil>
}
