package linalg_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

func ExampleNorm() {
	g := eager.New()
	x := ops.Const(g, []float32{3, 4, 6, 8}, 2, 2)
	v, err := linalg.Norm(x, linalg.Euclidean, []int{1}, false).Value()
	fmt.Println(v, err)
	// Output: float32[2]{5, 10} <nil>
}

// A diagonal matrix is multiplied and solved without the matrix.
func ExampleLinearOperatorDiag() {
	g := eager.New()
	o := linalg.LinearOperatorDiag(ops.Const(g, []float32{2, 4}))
	x, err := o.SolveVec(ops.Const(g, []float32{2, 2})).Value()
	fmt.Println(x, err)
	m, err := o.ToDense().Value()
	fmt.Println(m, err)
	// Output:
	// float32[2]{1, 0.5} <nil>
	// float32[2,2]{2, 0, 0, 4} <nil>
}
