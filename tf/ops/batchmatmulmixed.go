package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "bfloat16, half, float, double, uint8, int8, int16, int32, int64, " + complexTypes
	by := byType{tf.Uint8: nil, tf.Int8: nil}
	for d := range without(batchMatMulKernels(true), tf.Float16) {
		by[d] = nil
	}
	for d := range by {
		by[d] = mixedBatchKernel
	}
	core.Register(core.OpDef{
		Name: "BatchMatMulV3", In: "x: Ta; y: Tb", Out: "output: Tout",
		Attrs: "Ta: {" + types + "}; Tb: {" + types + "}; Tout: {bfloat16, half, float, double, int16, int32, int64, " + complexTypes + "}; " +
			"adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false",
		Shape: batchMatMulShape, Expensive: true, Grad: tf.GradFunc(batchMatMulV2Grad), Kernels: core.ByType("Ta", by),
	})
}

// BatchMatMulV3 is BatchMatMulV2 with results of type d. Operands of different
// types may be 8-bit integers, for int32, or one of them bfloat16, for that.
// Operands of one type give that type: bfloat16, float32, float64, int16,
// int32, int64 or complex. Other combinations, float16 among them, are refused
// with NOT_FOUND in the step. Shapes are those of BatchMatMulV2.
func BatchMatMulV3(x, y tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("BatchMatMulV3", tf.Join(opts, tf.Attr("Tout", d)), x, y)
}

// mixedBatchKernel finds the kernel for the three types of a node.
func mixedBatchKernel(n *core.Node) (core.Kernel, error) {
	a, b, out := n.Type("Ta"), n.Type("Tb"), n.Type("Tout")
	small := func(d tf.DType) bool { return d == tf.Int8 || d == tf.Uint8 }
	switch {
	case a == b && b == out && !small(a):
		return batchMatMulKernels(true)[a](n)
	case small(a) && small(b) && out == tf.Int32:
		return wideBatchKernel[int32](n)
	case out == tf.BFloat16 && (a == out && small(b) || b == out && small(a)):
		return wideBatchKernel[float32](n)
	}
	return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op 'BatchMatMulV3' with Ta = %v, Tb = %v, Tout = %v", a, b, out)
}

// wideBatchKernel multiplies numbers of several types as T.
func wideBatchKernel[T numeric.Number](n *core.Node) (core.Kernel, error) {
	p := batchProduct{n.Bool("adj_x"), n.Bool("adj_y"), true}
	return core.Compute(func(c *core.OpContext) error {
		g, b, err := p.plan(c.Input(0).Shape(), c.Input(1).Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, n.Type("Tout"), append(tf.Shape(b.Shape).Clone(), g.M, g.N))
		if err != nil {
			return err
		}
		z := core.Borrow[T](c, out.Len())
		multiplyAll(c, g, b, z, numbersAs[T](c, c.Input(0)), numbersAs[T](c, c.Input(1)), nil)
		elementwise.Cast(core.AnyData(out), z)
		return nil
	}), nil
}

// numbersAs returns the elements of t as numbers of type T.
func numbersAs[T numeric.Number](c *core.OpContext, t *core.Tensor) []T {
	x := core.Borrow[T](c, t.Len())
	elementwise.Cast(x, core.AnyData(t))
	return x
}
