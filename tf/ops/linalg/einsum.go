package linalg

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
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
			tf.Float32: einsumKernel[float32], tf.Float64: einsumKernel[float64], tf.Int32: einsumKernel[int32], tf.Int64: einsumKernel[int64],
			tf.Complex64: einsumKernel[complex64], tf.Complex128: einsumKernel[complex128],
			tf.Float16: einsumKernel[float32], tf.BFloat16: einsumKernel[float32],
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
// one "->", with more than two terms, with two "..." in one, with letters in the result that the
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

// einsumKernel makes a kernel that computes in type T.
func einsumKernel[T numeric.Number](n *core.Node) (core.Kernel, error) {
	e, err := parseEquation(n.Str("equation"))
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		r := &room[T]{c: c}
		defer r.release()
		p, x, err := einsumArgs(r, e)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), p.shape(p.out))
		if err != nil || out.Len() == 0 {
			return err
		}
		all := elements(out, 0, out.Len())
		if z, ok := all.([]T); ok {
			return einsum(r, p, x, z)
		}
		z, err := r.make(out.Len())
		if err == nil {
			err = einsum(r, p, x, z)
		}
		if err == nil {
			elementwise.Cast(all, z)
		}
		return err
	}), nil
}

// room is memory that a kernel uses while it runs.
type room[T numeric.Number] struct {
	c    *core.OpContext
	held []*core.Tensor
}

// make returns memory for n elements, which holds anything.
func (r *room[T]) make(n int) ([]T, error) {
	t, err := r.c.Temp(core.TypeOf[T](), tf.Shape{n})
	if err != nil {
		return nil, err
	}
	r.held = append(r.held, t)
	return core.Data[T](t), nil
}

func (r *room[T]) release() {
	for _, t := range r.held {
		t.Release()
	}
}

// einsumArgs checks the inputs and returns their elements.
func einsumArgs[T numeric.Number](r *room[T], e *equation) (*einsumPlan, [][]T, error) {
	c := r.c
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
		if x[i], err = r.make(c.Input(i).Len()); err != nil {
			return nil, nil, err
		}
		elementwise.Cast(x[i], in)
	}
	return p, x, nil
}

// einsum sets z to what p says: a sum over one operand, or the products of
// matrices that two of them are arranged as.
func einsum[T numeric.Number](r *room[T], p *einsumPlan, x [][]T, z []T) error {
	if len(x) == 2 {
		return multiplyOperands(r, p, x, z)
	}
	y, err := arrange(r, p, 0, x[0], p.kept[0], p.summed[0])
	if err == nil {
		spread(p, p.kept[0], z, y)
	}
	return err
}

// arrange returns operand i with the given dimensions, summed over others.
func arrange[T numeric.Number](r *room[T], p *einsumPlan, i int, x []T, dims, summed []int) (y []T, err error) {
	all := join(dims, summed)
	shape, view := p.shape(all), p.view(all, p.in[i], p.inShape[i])
	y = x
	if !contiguous(shape, view.Steps) || len(x) != shape.NumElements() {
		if y, err = r.make(shape.NumElements()); err != nil {
			return nil, err
		}
		layout.CopyNumbers(kernel.Serial, y, layout.Dense(shape), x, view, shape)
	}
	if len(summed) == 0 {
		return y, nil
	}
	n := p.shape(summed).NumElements()
	out, err := r.make(p.shape(dims).NumElements())
	for k := range out {
		out[k] = 0
		for _, v := range y[k*n : (k+1)*n] {
			out[k] += v
		}
	}
	return out, err
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

// spread sets the result z, given y with dimensions dims. One that the result
// has more than once becomes a diagonal among zeros.
func spread[T numeric.Number](p *einsumPlan, dims []int, z, y []T) {
	shape := p.shape(dims)
	view := p.view(dims, p.out, p.shape(p.out))
	if contiguous(shape, view.Steps) && len(y) == len(z) {
		copy(z, y)
		return
	}
	if repeats(p.out) {
		clear(z)
	}
	layout.CopyNumbers(kernel.Serial, z, view, y, layout.Dense(shape), shape)
}

// repeats reports whether a label is there more than once.
func repeats(labels []int) bool {
	for i, l := range labels {
		if slices.Contains(labels[:i], l) {
			return true
		}
	}
	return false
}
