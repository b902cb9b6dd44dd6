package tftest_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// Options say how close tensors are to be.
func ExampleOption() {
	want, got := tf.Scalar(1.0), tf.Scalar(1.001)
	for _, o := range []tftest.Option{tftest.Within(1e-2, 0), tftest.ULP(4)} {
		fmt.Println(tftest.Diff(want, got, o) == "")
	}
	// Output:
	// true
	// false
}
