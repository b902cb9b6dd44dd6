package ops

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ResourceGather", Traits: core.ReadsState, In: "resource: resource; indices: Tindices", Out: "output: dtype",
		Attrs:    "batch_dims: int = 0; validate_indices: bool = true; dtype: type; Tindices: {int32, int64}",
		Stateful: true, Shape: resourceGatherShape, Grad: tf.GradFunc(resourceGatherGrad),
		Kernels: gatherers(resourceGather).on("dtype", wideQuantized),
	})
	scatterFamily("Update", "type", setSlices.only(objectTypes...))
	scatterFamily("Add", "numbertype", addSlices.only(numberTypes...))
	scatterFamily("Sub", "numbertype", subSlices.only(numberTypes...))
	scatterFamily("Mul", "numbertype", mulSlices)
	scatterFamily("Div", "numbertype", divSlices)
	scatterFamily("Max", extremeTypes, maxSlices)
	scatterFamily("Min", extremeTypes, minSlices)
}

// extremeTypes are those of ScatterMax and ScatterMin, which on handles take
// all numbers.
const extremeTypes = "{half, bfloat16, float, double, int32, int64}"

// scatterFamily declares ResourceScatter... and Scatter....
func scatterFamily(name, types string, by slicesOps) {
	handleTypes, kernels := types, by.kernels(scatter)
	if types == extremeTypes {
		handleTypes = "numbertype"
	}
	d := core.OpDef{
		Name: "ResourceScatter" + name, In: "resource: resource; indices: Tindices; updates: dtype",
		Attrs: "dtype: " + handleTypes + "; Tindices: {int32, int64}", Stateful: true,
		Shape: scatterShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("dtype", kernels),
	}
	core.Register(d)
	locking := "false"
	if name == "Update" {
		locking = "true"
	}
	d.Name, d.In, d.Out, d.Stateful = "Scatter"+name, "ref: Ref(T); indices: Tindices; updates: T", "output_ref: Ref(T)", false
	d.Attrs, d.Kernels = "T: "+types+"; Tindices: {int32, int64}; use_locking: bool = "+locking, core.ByType("T", kernels)
	d.NoGrad = core.NotDifferentiable
	if name == "Update" || types == extremeTypes {
		d.NoGrad = core.NoGradientDefined
	}
	if types == extremeTypes {
		d.Kernels.By = maps.Clone(kernels)
		maps.DeleteFunc(d.Kernels.By, func(t tf.DType, _ core.NewKernel) bool { return !t.IsFloat() && t != tf.Int32 && t != tf.Int64 })
	}
	core.Register(d)
}

// ResourceGather returns the rows, of type d, of the variable behind handle
// that indices name, without reading all of it. indices is a tensor of int32
// or int64; the result has its shape, followed by that of a row. A variable
// without rows is refused with INVALID_ARGUMENT, when the graph is built if
// its shape is known, else in the step; a negative number of batch dimensions
// is refused alike when the graph is built. An index out of range, and a variable
// of another type than d, end the step with INVALID_ARGUMENT; a variable
// without a value ends it with FAILED_PRECONDITION.
func ResourceGather(handle, indices tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ResourceGather", tf.Join(opts, tf.Attr("dtype", d)), handle, indices)
}

func resourceScatter(op string, handle, indices, updates tf.Output, opts []tf.Option) *tf.Operation {
	return tf.Apply(nil, op, []tf.Output{handle, indices, updates}, opts...)
}

// ResourceScatterUpdate overwrites the rows of the variable behind handle
// that indices name by those of updates. indices is a tensor of int32 or
// int64; updates has its shape, followed by that of a row, or is a scalar for
// all elements, and has the type of the variable, any but the quantized ones.
// Indices may repeat: their updates are made in order. Another shape of
// updates, and a variable that is a scalar, are refused with
// INVALID_ARGUMENT, when the graph is built if the shapes are known, else in
// the step. An index out of range and another type end the step with
// INVALID_ARGUMENT and leave the variable as it is; a variable without a
// value ends it with FAILED_PRECONDITION.
func ResourceScatterUpdate(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterUpdate", handle, indices, updates, opts)
}

// ResourceScatterAdd adds the rows of updates to those that indices name. The
// variable holds numbers; indices, shapes and errors are those of
// ResourceScatterUpdate.
func ResourceScatterAdd(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterAdd", handle, indices, updates, opts)
}

// ResourceScatterSub subtracts the rows of updates from those that indices
// name. The variable holds numbers; indices, shapes and errors are those of
// ResourceScatterUpdate.
func ResourceScatterSub(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterSub", handle, indices, updates, opts)
}

// ResourceScatterMul multiplies the rows that indices name by those of
// updates. The variable holds numbers; indices, shapes and errors are those
// of ResourceScatterUpdate.
func ResourceScatterMul(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterMul", handle, indices, updates, opts)
}

// ResourceScatterDiv divides the rows that indices name by those of updates.
// The variable holds numbers; quotients of integers are truncated, and
// updates of integers that have a 0 are refused in the step with
// INVALID_ARGUMENT. Indices, shapes and other errors are those of
// ResourceScatterUpdate.
func ResourceScatterDiv(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterDiv", handle, indices, updates, opts)
}

// ResourceScatterMax raises the rows that indices name to those of updates.
// The variable holds real numbers; an element becomes NaN if it or its update
// is. Indices, shapes and errors are those of ResourceScatterUpdate.
func ResourceScatterMax(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterMax", handle, indices, updates, opts)
}

// ResourceScatterMin lowers the rows that indices name to those of updates.
// The variable holds real numbers; an element becomes NaN if it or its update
// is. Indices, shapes and errors are those of ResourceScatterUpdate.
func ResourceScatterMin(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterMin", handle, indices, updates, opts)
}

func resourceGatherShape(c *core.Infer) error {
	batch := c.Int("batch_dims")
	if batch < 0 {
		return tf.Errorf(tf.InvalidArgument, "batch_dims is negative (%d)", batch)
	}
	_, s := c.Handle(0)
	if s == nil || c.In(1) == nil {
		return nil
	}
	p, err := planGather(s, c.In(1), batch, batch)
	if err != nil {
		return err
	}
	c.Set(0, p.shape(tf.Shape{}, s, c.In(1)))
	return nil
}

// resourceGather holds the variable's memory, not its lock, while it copies:
// an update meanwhile goes to a copy.
func resourceGather(take gatherer) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d, batch := n.Type("dtype"), n.Int("batch_dims")
		return core.Compute(func(c *core.OpContext) error {
			v, err := lookupVariable(c, 0)
			if err != nil {
				return err
			}
			t := v.Load()
			if t == nil {
				return uninitialized(c, 0)
			}
			defer t.Release()
			if t.DType() != d {
				return tf.Errorf(tf.InvalidArgument, "Trying to read variable with wrong dtype. Expected %s got %s", d.CName(), t.DType().CName())
			}
			if s := t.Shape(); batch > len(s) {
				return tf.Errorf(tf.InvalidArgument, "params must have at least %d (batch_dims) dimensions but it has shape %s", batch, s.String())
			}
			return gatherInto(c, d, t, c.Input(1), batch, batch, take)
		}), nil
	}
}

func resourceGatherGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return []tf.Gradient{rowsGrad(VariableShape(op.Input(0)), op.Input(1), dy[0]), {}}
}

func scatterShape(c *core.Infer) error {
	s := c.In(0)
	if c.NumOut() == 0 {
		var d tf.DType
		if d, s = c.Handle(0); d != tf.Invalid && d != c.Type("dtype") {
			return tf.Errorf(tf.InvalidArgument, "Trying to read variable with wrong dtype. Expected %s got %s", d.CName(), c.Type("dtype").CName())
		}
	} else {
		c.Set(0, s)
	}
	indices, updates := c.In(1), c.In(2)
	if s == nil || indices == nil || updates == nil || len(updates) == 0 {
		return nil
	}
	if len(s) == 0 || !updates.Compatible(append(indices.Clone(), s[1:]...)) {
		return tf.Errorf(tf.InvalidArgument, "updates must have a row of the variable for each index: variable %v, indices %v, updates %v", s, indices, updates)
	}
	return nil
}

// scatter returns the kernel that combines rows of a variable, given by handle or reference,
// with updates, in the order of the indices.
func scatter(f slicesOp) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		ref, err := VariableAt(c, 0)
		if err != nil {
			return err
		}
		if len(c.Out) > 0 {
			c.Out[0].Ref = ref
		}
		return changeWhole(c, ref, func(t *core.Tensor) error {
			inner, err := checkScatter(c, t)
			if err != nil || c.Input(1).Len() == 0 || inner == 0 {
				return err
			}
			return scatterRows(c, t, f, inner)
		})
	})
}

// checkScatter returns the length of a row of variable t.
func checkScatter(c *core.OpContext, t *core.Tensor) (int, error) {
	indices, updates := c.Input(1), c.Input(2)
	switch {
	case t == nil:
		return 0, uninitialized(c, 0)
	case t.DType() != updates.DType():
		return 0, tf.Errorf(tf.InvalidArgument, "DType of variable handle and value does not match. The variable is %v, the value %v.", t.DType(), updates.DType())
	case t.Rank() == 0:
		return 0, tf.Errorf(tf.InvalidArgument, "a variable must have rows to be scattered to, got a scalar")
	}
	row := t.Shape()[1:]
	if want := append(indices.Shape().Clone(), row...); updates.Rank() > 0 && !updates.Shape().Equal(want) {
		return 0, tf.Errorf(tf.InvalidArgument, "The shape of indices (%s) must be a prefix of the shape of updates (%s)", indices.Shape().String(), updates.Shape().String())
	}
	if strings.HasSuffix(c.Node.OpName(), "ScatterDiv") && updates.DType().IsInteger() && hasZero(updates) {
		return 0, tf.Errorf(tf.InvalidArgument, "updates must not contain 0")
	}
	return product(row), badIndexIn(indices, "indices", t.Dim(0))
}

// hasZero reports whether an integer in t is 0.
func hasZero(t *core.Tensor) bool {
	set := core.Make[bool](t.Len())
	elementwise.Cast(set, core.AnyData(t))
	return slices.Contains(set, false)
}

// scatterRows combines each row of dst that input 1 names with its update, or all with a
// scalar. The indices have been checked.
func scatterRows(c *core.OpContext, dst *core.Tensor, f slicesOp, inner int) error {
	idx, updates := c.Input(1), c.Input(2)
	w, n, block := newWalk(idx, dst.Shape(), 1), idx.Len(), walkBlock
	one := updates.Len() == 1 && n*inner > 1
	if one {
		block = max(1, min(n, walkBlock/inner))
		rows, err := c.Temp(updates.DType(), tf.Shape{block, inner})
		if err != nil {
			return err
		}
		defer rows.Release()
		fillWith(rows, updates)
		updates = rows
	}
	combine, found := f(dst, updates), make([]int64, min(n, block))
	for lo := 0; lo < n; lo += block {
		at, from := found[:min(n-lo, block)], lo
		if one {
			from = 0
		}
		w.find(at, lo)
		combine(at, from, inner)
	}
	return nil
}
