package sparse

import (
	"fmt"
	"math/cmplx"
	"strings"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseAdd", In: "a_indices: int64; a_values: T; a_shape: int64; b_indices: int64; b_values: T; b_shape: int64; thresh: Treal",
		Out: "sum_indices: int64; sum_values: T; sum_shape: int64", Attrs: "T: numbertype; Treal: realnumbertype",
		Shape: addShape, Grad: tf.GradFunc(addGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: add(size[float32]), tf.Float64: add(size[float64]), tf.Int8: add(size[int8]), tf.Int16: add(size[int16]),
			tf.Int32: add(size[int32]), tf.Int64: add(size[int64]),
			tf.Complex64:  add(func(v complex64) float32 { return float32(cmplx.Abs(complex128(v))) }),
			tf.Complex128: add(func(v complex128) float64 { return cmplx.Abs(v) }),
		}),
	})
	core.Register(core.OpDef{
		Name: "SparseAddGrad", In: "backprop_val_grad: T; a_indices: int64; b_indices: int64; sum_indices: int64", Out: "a_val_grad: T; b_val_grad: T",
		Attrs: "T: numbertype", Shape: addGradShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", sameFor(computed(addBack), tf.Float32, tf.Float64, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Complex64, tf.Complex128)),
	})
}

// SparseAdd returns the sum of sparse tensors of equal shape, with indices in
// order. Where both have a value, sums less than thresh, a real scalar, are
// left out. Both have one type, float32, float64, int8, int16, int32, int64,
// complex64 or complex128, and thresh has it too, or that of its real part.
// Indices have to be in order, which is not checked. Parts that do not fit
// together, different shapes, and a thresh of another type or rank fail with
// INVALID_ARGUMENT in the step.
func SparseAdd(a, b Tensor, thresh tf.Output, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "SparseAdd", append(flat(a, b), thresh), opts...))
}

// SparseAddGrad returns the gradients of SparseAdd for the values of both
// arguments, given that for the values of the sum. dy is a vector with an
// element for each row of sumIndices; da and db have the type of dy and an
// element for each row of aIndices and bIndices, 0 where the sum has none.
// Other shapes fail with INVALID_ARGUMENT in the step, or when the graph is
// built if the ranks of aIndices and bIndices are known.
func SparseAddGrad(dy, aIndices, bIndices, sumIndices tf.Output, opts ...tf.Option) (da, db tf.Output) {
	op := tf.Apply(nil, "SparseAddGrad", []tf.Output{dy, aIndices, bIndices, sumIndices}, opts...)
	return op.Output(0), op.Output(1)
}

func addShape(c *core.Infer) error {
	s, err := c.Rank(2, 1)
	if err != nil {
		return err
	}
	setSparse(c, 0, s[0])
	return nil
}

func addGradShape(c *core.Infer) error {
	for i := range 2 {
		at, err := c.Rank(i+1, 2)
		if err != nil {
			return err
		}
		c.Set(i, at[:1])
	}
	return nil
}

func addGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	grads := make([]tf.Gradient, 7)
	if !dy[1].IsZero() {
		da, db := SparseAddGrad(dy[1], op.Input(0), op.Input(3), op.Output(0))
		grads[1], grads[4] = tf.Dense(da), tf.Dense(db)
	}
	return grads
}

// number is what kernels compute with.
type number interface {
	numeric.Number
	tf.Elem
}

// realNumber is a number with an order.
type realNumber interface {
	numeric.Real
	tf.Elem
}

// size returns how far v is from zero.
func size[T numeric.Real](v T) T {
	if v < 0 {
		return -v
	}
	return v
}

// merge walks through two lists of indices of one rank, which ascend, as one:
// visit gets the numbers of equal indices, or one number and -1.
func merge(a, b *coo, visit func(i, j int)) {
	i, j := 0, 0
	for i < a.n || j < b.n {
		order := 1
		switch {
		case j == b.n:
			order = -1
		case i < a.n:
			order = compareIndices(a.index(i), b.index(j))
		}
		switch {
		case order < 0:
			visit(i, -1)
			i++
		case order > 0:
			visit(-1, j)
			j++
		default:
			visit(i, j)
			i, j = i+1, j+1
		}
	}
}

// compareIndices is slices.Compare for indices of one rank.
func compareIndices(a, b []int64) int {
	for k, v := range a {
		if w := b[k]; v < w {
			return -1
		} else if v > w {
			return 1
		}
	}
	return 0
}

// A union collects the result of an operation on two sparse tensors.
type union[T number] struct {
	at     []int64
	values []T
}

// newUnion borrows room for as many values as the larger tensor has, and grows.
func newUnion[T number](c *core.OpContext, a, b *coo) *union[T] {
	n := max(a.n, b.n)
	return &union[T]{core.Borrow[int64](c, n*a.rank)[:0], core.Borrow[T](c, n)[:0]}
}

func (u *union[T]) add(at []int64, v T) {
	u.at, u.values = append(u.at, at...), append(u.values, v)
}

// write makes indices and values outputs 0 and 1.
func (u *union[T]) write(c *core.OpContext, d tf.DType, rank int) error {
	if err := allocInts(c, 0, tf.Shape{len(u.values), rank}, u.at); err != nil {
		return err
	}
	v, store, err := result[T](c, 1, d, tf.Shape{len(u.values)})
	if err == nil {
		copy(v, u.values)
		store()
	}
	return err
}

func add[T number, R realNumber](size func(T) R) core.NewKernel {
	return computed(func(c *core.OpContext) error {
		a, b, err := addends(c)
		if err != nil {
			return err
		}
		if c.Input(6).Rank() != 0 {
			return invalid("The magnitude threshold must be a scalar: got shape %s", c.Input(6).Shape().String())
		}
		if c.Input(6).DType() != tf.TypeOf[R]() {
			return invalid("the threshold must be of type %s, got %s", tf.TypeOf[R]().CName(), c.Input(6).DType().CName())
		}
		thresh := core.Data[R](c.Input(6))[0]
		sum := newUnion[T](c, a, b)
		x, y := core.Data[T](a.values), core.Data[T](b.values)
		merge(a, b, func(i, j int) {
			switch {
			case j < 0:
				sum.add(a.index(i), x[i])
			case i < 0:
				sum.add(b.index(j), y[j])
			case size(x[i]+y[j]) >= thresh:
				sum.add(a.index(i), x[i]+y[j])
			}
		})
		if err := sum.write(c, a.values.DType(), a.rank); err != nil {
			return err
		}
		c.Forward(2, 2)
		return nil
	})
}

// addends reads two sparse tensors of one shape. Their indices may lie outside
// of it.
func addends(c *core.OpContext) (a, b *coo, err error) {
	if err := matchingParts(c); err != nil {
		return nil, nil, err
	}
	if err := equalShapes(c); err != nil {
		return nil, nil, err
	}
	a, b = indexList(c.Input(0)), indexList(c.Input(3))
	a.values, b.values = c.Input(1), c.Input(4)
	if n := c.Input(2).Len(); n != a.rank {
		return nil, nil, invalid("Second dimension of a_indices and length of a_shape must match, got %d and %d", a.rank, n)
	}
	return a, b, nil
}

// matchingParts checks the ranks and lengths of two sparse tensors, inputs 0 to
// 2 and 3 to 5.
func matchingParts(c *core.OpContext) error {
	shapes := func(i int) (a, b tf.Shape) { return c.Input(i).Shape(), c.Input(i + 3).Shape() }
	a, b := shapes(0)
	switch {
	case len(a) != 2 || len(b) != 2:
		return invalid("Input indices should be matrices but received shapes: %s and %s", a.String(), b.String())
	case a[1] != b[1]:
		return invalid("Input indices must have the same dimension, got %d and %d", a[1], b[1])
	}
	x, y := shapes(1)
	switch {
	case len(x) != 1 || len(y) != 1:
		return invalid("Input values should be vectors but received shapes: %s and %s", x.String(), y.String())
	case x[0] != a[0] || y[0] != b[0]:
		return invalid("Expected %d and %d non-empty input values, got %d and %d", a[0], b[0], x[0], y[0])
	}
	if a, b := shapes(2); len(a) != 1 || len(b) != 1 {
		return invalid("Input shapes should be a vector but received shapes %s and %s", a.String(), b.String())
	}
	return nil
}

// equalShapes compares the dense shapes of two sparse tensors.
func equalShapes(c *core.OpContext) error {
	s, t := core.Data[int64](c.Input(2)), core.Data[int64](c.Input(5))
	if len(s) != len(t) {
		return invalid("Operands do not have the same ranks; got shapes: %s and %s", spaced(s), spaced(t))
	}
	for k, d := range s {
		if d != t[k] {
			return invalid("Operands' shapes do not match: got %d and %d for dimension %d", d, t[k], k)
		}
	}
	return nil
}

// spaced formats numbers as messages show the contents of a vector: "1 2".
func spaced(v []int64) string { return strings.Trim(fmt.Sprint(v), "[]") }

func addBack(c *core.OpContext) error {
	dy, a, b, sum := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	switch {
	case a.Rank() != 2 || b.Rank() != 2 || sum.Rank() != 2:
		return invalid("Input indices should be matrices but received shapes: %s and %s and %s", a.Shape().String(), b.Shape().String(), sum.Shape().String())
	case dy.Rank() != 1:
		return invalid("Input backprop_val_grad should be a vector but received shape: %s", dy.Shape().String())
	case a.Dim(1) != b.Dim(1) || b.Dim(1) != sum.Dim(1):
		return invalid("The densified operands should have the same ndims; for A, B, sum got: %d%d%d", a.Dim(1), b.Dim(1), sum.Dim(1))
	case dy.Len() != sum.Dim(0):
		return invalid("# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got %d and %d", dy.Len(), sum.Dim(0))
	}
	for i, t := range []*core.Tensor{a, b} {
		out, err := c.Alloc(i, dy.DType(), t.Shape()[:1])
		if err != nil {
			return err
		}
		rows.Clear(out)
		put := rows.Mover(out, dy)
		merge(indexList(t), indexList(sum), func(i, k int) {
			if i >= 0 && k >= 0 {
				put(i, k, 1)
			}
		})
	}
	return nil
}

// indexList views a matrix of indices as a sparse tensor without values.
func indexList(at *core.Tensor) *coo {
	return &coo{at: core.Data[int64](at), rank: at.Dim(1), n: at.Dim(0)}
}
