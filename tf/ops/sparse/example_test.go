package sparse_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// The elements that are not zero, and where they are.
func ExampleFromDense() {
	g := eager.New()
	t := sparse.FromDense(ops.Const(g, []int32{0, 7, 0, 9}, 2, 2))
	at, err := t.Indices.Value()
	fmt.Println(at, err)
	v, err := t.Values.Value()
	fmt.Println(v, err)
	// Output:
	// int64[2,2]{0, 1, 1, 1} <nil>
	// int32[2]{7, 9} <nil>
}
