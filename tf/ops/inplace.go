package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, o := range []struct {
		name string
		rows rowOps
	}{{"InplaceUpdate", rowOps(nil).of(slices.Concat(numberTypes, []tf.DType{tf.Bool, tf.String}))}, {"InplaceAdd", addRows}, {"InplaceSub", subRows}} {
		core.Register(core.OpDef{
			Name: o.name, In: "x: T; i: int32; v: T", Out: "y: T", Attrs: "T: type",
			Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", o.rows.kernels(changeRows)),
		})
	}
	core.Register(core.OpDef{
		Name: "DeepCopy", In: "x: T", Out: "y: T", Attrs: "T: type", Stateful: true,
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(stateless(deepCopy), dataTypes...)),
	})
}

// of returns the rowOps that copy rows of the given types.
func (rowOps) of(types []tf.DType) rowOps {
	r := rowOps{}
	for _, d := range types {
		r[d] = setRows[d]
	}
	return r
}

// InplaceUpdate returns x with row rows[k] replaced by row k of v, in the
// memory of x if nothing else needs it. Rows count modulo their number. x has
// at least one dimension and holds numbers, bools or strings; rows is an
// int32 vector, and v has its length and, but for the first dimension, the
// shape and the type of x. Other shapes are refused with INVALID_ARGUMENT in
// the step. A row that is named repeatedly keeps the last value. No gradient
// is defined.
func InplaceUpdate(x, rows, v tf.Output, opts ...tf.Option) tf.Output {
	return apply("InplaceUpdate", opts, x, rows, v)
}

// InplaceAdd is InplaceUpdate that adds. x and v hold numbers; a row that is
// named repeatedly is added to each time. Shapes and errors are those of
// InplaceUpdate.
func InplaceAdd(x, rows, v tf.Output, opts ...tf.Option) tf.Output {
	return apply("InplaceAdd", opts, x, rows, v)
}

// InplaceSub is InplaceUpdate that subtracts. x and v hold numbers; a row
// that is named repeatedly is subtracted from each time. Shapes and errors
// are those of InplaceUpdate.
func InplaceSub(x, rows, v tf.Output, opts ...tf.Option) tf.Output {
	return apply("InplaceSub", opts, x, rows, v)
}

// DeepCopy returns x as it is now, which later updates of a variable do not
// change. In this engine no update changes memory that something else refers
// to, so nothing is copied. x holds numbers, bools or strings, in any shape.
// No gradient is defined. Other types have no kernel and fail the step with
// NOT_FOUND.
func DeepCopy(x tf.Output, opts ...tf.Option) tf.Output { return apply("DeepCopy", opts, x) }

// changeRows combines the rows of input 0 that input 1 names with those of
// input 2.
func changeRows(f rowOp) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		if err := checkChange(c); err != nil {
			return err
		}
		x, rows, v := c.Input(0), core.Data[int32](c.Input(1)), c.Input(2)
		if x.Len() == 0 || v.Len() == 0 {
			c.Forward(0, 0)
			return nil
		}
		out, err := c.AllocFrom(0, 0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		if out.Buffer() == nil || out.Buffer() != x.Buffer() {
			move(out, x)(0, 0, x.Len())
		}
		change, n := f(out, v), x.Dim(0)
		width := x.Len() / n
		for k, r := range rows {
			change((int(r)%n+n)%n*width, k*width, width)
		}
		return nil
	})
}

// checkChange wants rows of v as x has them, as many as there are numbers.
func checkChange(c *core.OpContext) error {
	x, i, v := c.Input(0).Shape(), c.Input(1).Shape(), c.Input(2).Shape()
	switch {
	case len(i) != 1:
		return tf.Errorf(tf.InvalidArgument, "i must be a vector. %s", i.String())
	case len(x) != len(v):
		return tf.Errorf(tf.InvalidArgument, "x and v shape doesn't match (ranks differ): %s vs. %s", x.String(), v.String())
	case len(x) == 0:
		return tf.Errorf(tf.InvalidArgument, "x must have rows, got a scalar")
	}
	for k := 1; k < len(x); k++ {
		if x[k] != v[k] {
			return tf.Errorf(tf.InvalidArgument, "x and v shape doesn't match at index %d : %s vs. %s", k, x.String(), v.String())
		}
	}
	if i[0] != v[0] {
		return tf.Errorf(tf.InvalidArgument, "i and x shape doesn't match at index 0: %s vs. %s", i.String(), v.String())
	}
	return nil
}

func deepCopy(c *core.OpContext) error {
	c.Forward(0, 0)
	return nil
}
