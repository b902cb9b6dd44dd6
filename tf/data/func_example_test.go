package data_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// A Func is what a program does with each element, in Go.
func ExampleFunc() {
	var square data.Func = func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		x := tf.Data[int64](in[0])[0]
		return []*tf.Tensor{tf.Scalar(x * x)}, nil
	}
	d := data.Range(0, 4).Map(square, []tf.DType{tf.Int64}, []tf.Shape{{}})
	for v, err := range d.All(context.Background()) {
		fmt.Println(v, err)
	}
	// Output:
	// [int64[]{0}] <nil>
	// [int64[]{1}] <nil>
	// [int64[]{4}] <nil>
	// [int64[]{9}] <nil>
}
