package core_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// halve is an operation of a program's own: its signature, what it means for
// shapes, how CPUs compute it and how gradients flow through it.
var halve = core.OpDef{
	Name: "ExampleHalve", In: "x: T", Out: "y: T", Attrs: "T: {float, double}; times: int = 1",
	Shape: sameShape,
	Kernels: core.ByType("T", map[core.DType]core.NewKernel{
		core.Float32: halveKernel[float32], core.Float64: halveKernel[float64],
	}),
	Grad:       halveGradient(),
	SparseGrad: halveRows(),
	Role:       core.Computes,
	Traits:     core.Traits(0), // neither View nor Commutative nor ...
}

func init() { core.Register(halve) }

// sameShape is what core.UnchangedShape does.
func sameShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	return nil
}

// halveKernel reads the attributes of a node once, and returns what computes it.
func halveKernel[T float32 | float64](n *core.Node) (core.Kernel, error) {
	divisor := T(int(1) << n.Int("times"))
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		y, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		in, out := core.Data[T](x), core.Data[T](y)
		for i := range in {
			out[i] = in[i] / divisor
		}
		return nil
	}), nil
}

// halveGradient applies the operation to the gradient.
func halveGradient() core.Gradient {
	return tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(halved(dy[0], op.Int("times")))
	})
}

// halveRows does the same with a gradient of which only some rows are there.
func halveRows() core.SparseGradient {
	return tf.SparseGradFunc(func(op *tf.Operation, dy []tf.Gradient) []tf.Gradient {
		rows, _ := dy[0].IndexedSlices()
		rows.Values = halved(rows.Values, op.Int("times"))
		return []tf.Gradient{tf.Sparse(rows)}
	})
}

// halved is the operation's function for programs.
func halved(x tf.Output, times int) tf.Output {
	return tf.Apply(nil, "ExampleHalve", []tf.Output{x}, tf.Attr("times", times)).Output(0)
}

// An operation is declared once, whole, and registered while the program starts.
func ExampleOpDef() {
	g := eager.New()
	x := ops.Const(g, []float32{8, 16})
	var y tf.Output
	tape := eager.Record(g, func() { y = halved(x, 3) })
	fmt.Println(y.Value())
	dx, err := tape.Gradients(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(dx[0].Value())
	fmt.Println(halved(ops.Const(g, []int32{1}), 1).Err() != nil)
	// Output:
	// float32[2]{1, 2} <nil>
	// float32[2]{0.125, 0.125} <nil>
	// true
}
