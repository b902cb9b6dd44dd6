package linalg

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Einsum", In: "inputs: N * T", Out: "output: T", Attrs: "equation: string; N: int >= 1; T: type",
		Shape: einsumShape, Expensive: true, Grad: tf.GradFunc(einsumGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Float32: einsumKernel(einsum[float32]), tf.Float64: einsumKernel(einsum[float64]), tf.Int32: einsumKernel(einsum[int32]), tf.Int64: einsumKernel(einsum[int64]),
			tf.Complex64: einsumKernel(einsum[complex64]), tf.Complex128: einsumKernel(einsum[complex128]),
			tf.Float16: einsumKernel(einsum[float32]), tf.BFloat16: einsumKernel(einsum[float32]),
		}),
	})
}

// Einsum returns the sums of products of one or two tensors that an equation
// like "ij,jk->ik" describes: letters name dimensions; those that the result
// lacks are summed over; equal ones in one term mean a diagonal; "..." stands
// for dimensions that are broadcast. The inputs have one type, of float16,
// bfloat16, float32, float64, int32, int64, complex64 and complex128, which
// the result keeps; float16 and bfloat16 are summed in float32. A letter that
// occurs twice in the result puts a diagonal there. Equations without exactly
// one "->", with more than two terms, with letters in the result that the
// inputs lack, or that do not fit the shapes are refused with
// INVALID_ARGUMENT, when the graph is built if all shapes are known, else in
// the step.
func Einsum(equation string, xs []tf.Output, opts ...tf.Option) tf.Output {
	return apply("Einsum", tf.Join(opts, tf.Attr("equation", equation)), xs...)
}

func einsumShape(c *core.Infer) error {
	e, err := parseEquation(c.Str("equation"))
	if err != nil {
		return err
	}
	if len(e.in) != c.NumIn() {
		return invalid("Expected %d inputs but got: %d", len(e.in), c.NumIn())
	}
	shapes := make([]tf.Shape, c.NumIn())
	for i := range shapes {
		if shapes[i] = c.In(i); shapes[i] == nil {
			return nil
		}
	}
	p, err := e.plan(shapes)
	if err == nil {
		c.Set(0, p.shape(p.out))
	}
	return err
}

// einsumKernel makes a kernel that computes in the type of f.
func einsumKernel[T numeric.Number](f func(c *core.OpContext, p *einsumPlan, x [][]T) []T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		e, err := parseEquation(n.Str("equation"))
		if err != nil {
			return nil, err
		}
		return core.Compute(func(c *core.OpContext) error {
			p, x, err := einsumArgs[T](c, e)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, c.Input(0).DType(), p.shape(p.out))
			if err != nil || out.Len() == 0 {
				return err
			}
			elementwise.Cast(elements(out, 0, out.Len()), f(c, p, x))
			return nil
		}), nil
	}
}

// einsumArgs checks the inputs and returns their elements.
func einsumArgs[T numeric.Number](c *core.OpContext, e *equation) (*einsumPlan, [][]T, error) {
	if len(e.in) != c.Inputs() {
		return nil, nil, invalid("Expected %d inputs but got: %d", len(e.in), c.Inputs())
	}
	shapes, x := make([]tf.Shape, c.Inputs()), make([][]T, c.Inputs())
	for i := range shapes {
		shapes[i] = c.Input(i).Shape()
	}
	p, err := e.plan(shapes)
	if err != nil {
		return nil, nil, err
	}
	if err := p.checkSizes(c.Input(0).DType()); err != nil {
		return nil, nil, err
	}
	for i := range x {
		in := elements(c.Input(i), 0, c.Input(i).Len())
		if own, ok := in.([]T); ok {
			x[i] = own
			continue
		}
		x[i] = core.Make[T](c.Input(i).Len())
		elementwise.Cast(x[i], in)
	}
	return p, x, nil
}

// einsum computes what p says: a sum over one operand, or the products of
// matrices that two of them are arranged as.
func einsum[T numeric.Number](c *core.OpContext, p *einsumPlan, x [][]T) []T {
	if len(x) == 1 {
		return spread(p, p.kept[0], arrange(p, 0, x[0], p.kept[0], p.summed[0]))
	}
	batch, rows, cols, inner := p.shape(p.batch).NumElements(), p.shape(p.free[0]).NumElements(), p.shape(p.free[1]).NumElements(), p.shape(p.contracted).NumElements()
	a := arrange(p, 0, x[0], join(p.batch, p.free[0], p.contracted), p.summed[0])
	b := arrange(p, 1, x[1], join(p.batch, p.contracted, p.free[1]), p.summed[1])
	z := core.Make[T](batch * rows * cols)
	g := gemm.NewGemm(rows, cols, inner, false, false)
	if batch == 1 {
		gemm.MatMul(c.ParallelFor, g, z, a, b, gemm.Epilogue[T]{})
	} else {
		c.ParallelFor(batch, max(1, grain/max(1, saturated(rows, saturated(cols, inner)))), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				gemm.MatMul(kernel.Serial, g, z[k*rows*cols:(k+1)*rows*cols], a[k*rows*inner:(k+1)*rows*inner], b[k*inner*cols:(k+1)*inner*cols], gemm.Epilogue[T]{})
			}
		})
	}
	return spread(p, join(p.batch, p.free[0], p.free[1]), z)
}

// arrange returns operand i with the given dimensions, summed over others.
func arrange[T numeric.Number](p *einsumPlan, i int, x []T, dims, summed []int) []T {
	all := join(dims, summed)
	shape, view := p.shape(all), p.view(all, p.in[i], p.inShape[i])
	y := x
	if !contiguous(shape, view.Steps) || len(x) != shape.NumElements() {
		y = core.Make[T](shape.NumElements())
		layout.CopyView(y, layout.Dense(shape), x, view, shape)
	}
	if len(summed) == 0 {
		return y
	}
	n := p.shape(summed).NumElements()
	out := core.Make[T](p.shape(dims).NumElements())
	for k := range out {
		for _, v := range y[k*n : (k+1)*n] {
			out[k] += v
		}
	}
	return out
}

// contiguous reports whether a view is the whole of a tensor as it is.
func contiguous(shape, steps []int) bool {
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && steps[i] != step {
			return false
		}
		step *= shape[i]
	}
	return true
}

// spread returns the result, given z with dimensions dims. One that the result
// has more than once becomes a diagonal among zeros.
func spread[T numeric.Number](p *einsumPlan, dims []int, z []T) []T {
	shape, whole := p.shape(dims), p.shape(p.out)
	view := p.view(dims, p.out, whole)
	if contiguous(shape, view.Steps) && len(z) == whole.NumElements() {
		return z
	}
	y := core.Make[T](whole.NumElements())
	layout.CopyView(y, view, z, layout.Dense(shape), shape)
	return y
}
