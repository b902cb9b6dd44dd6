package debug_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/debug"
)

// How many elements of a tensor are -Inf, Inf and NaN, behind the number that
// stands for the tensor and how many elements it has.
func ExampleDebugNumericSummaryV2() {
	g := eager.New()
	zero := ops.Scalar[float32](g, 0)
	x := ops.Div(ops.Const(g, []float32{1, 0, -1, 2}), zero)
	o := debug.DebugNumericSummaryV2Opts{Mode: debug.ConciseHealth, TensorID: 42, OutputType: tf.Float64}
	v, err := debug.DebugNumericSummaryV2(x, o).Value()
	fmt.Println(v, err)
	// Output: float64[5]{42, 4, 1, 2, 1} <nil>
}
