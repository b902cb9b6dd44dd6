package ops

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ResourceGather", Traits: core.ReadsState, In: "resource: resource; indices: Tindices", Out: "output: dtype",
		Attrs:    "batch_dims: int = 0; validate_indices: bool = true; dtype: type; Tindices: {int32, int64}",
		Stateful: true, Shape: resourceGatherShape, Grad: tf.GradFunc(resourceGatherGrad),
		Kernels: byCell(resourceGather[uint8], resourceGather[uint16], resourceGather[uint32], resourceGather[uint64], resourceGather[complex128],
			resourceGather[string], resourceGather[core.ResourceHandle], resourceGather[core.VariantValue]).on("dtype", wideQuantized),
	})
	scatterFamily("Update", "type", overwriteRows())
	scatterFamily("Add", "numbertype", scatterSums())
	scatterFamily("Sub", "numbertype", scatterKernels(
		elementwise.Sub[float32], elementwise.Sub[float64], elementwise.Sub[int8], elementwise.Sub[int16], elementwise.Sub[int32], elementwise.Sub[int64],
		elementwise.Sub[uint8], elementwise.Sub[uint16], elementwise.Sub[uint32], elementwise.Sub[uint64], elementwise.Sub[complex64], elementwise.Sub[complex128]))
	scatterFamily("Mul", "numbertype", scatterKernels(
		elementwise.Mul[float32], elementwise.Mul[float64], elementwise.Mul[int8], elementwise.Mul[int16], elementwise.Mul[int32], elementwise.Mul[int64],
		elementwise.Mul[uint8], elementwise.Mul[uint16], elementwise.Mul[uint32], elementwise.Mul[uint64], elementwise.Mul[complex64], elementwise.Mul[complex128]))
	scatterFamily("Div", "numbertype", scatterKernels(
		elementwise.Div[float32], elementwise.Div[float64], elementwise.DivInt[int8], elementwise.DivInt[int16], elementwise.DivInt[int32], elementwise.DivInt[int64],
		elementwise.DivInt[uint8], elementwise.DivInt[uint16], elementwise.DivInt[uint32], elementwise.DivInt[uint64], elementwise.Div[complex64], elementwise.Div[complex128]))
	scatterFamily("Max", extremeTypes, scatterKernels(
		elementwise.Max[float32], elementwise.Max[float64], elementwise.Max[int8], elementwise.Max[int16], elementwise.Max[int32], elementwise.Max[int64],
		elementwise.Max[uint8], elementwise.Max[uint16], elementwise.Max[uint32], elementwise.Max[uint64], nil, nil))
	scatterFamily("Min", extremeTypes, scatterKernels(
		elementwise.Min[float32], elementwise.Min[float64], elementwise.Min[int8], elementwise.Min[int16], elementwise.Min[int32], elementwise.Min[int64],
		elementwise.Min[uint8], elementwise.Min[uint16], elementwise.Min[uint32], elementwise.Min[uint64], nil, nil))
}

// extremeTypes are those of ScatterMax and ScatterMin, which on handles take
// all numbers.
const extremeTypes = "{half, bfloat16, float, double, int32, int64}"

// scatterFamily declares ResourceScatter... and Scatter....
func scatterFamily(name, types string, kernels byType) {
	handleTypes := types
	if types == extremeTypes {
		handleTypes = "numbertype"
		delete(kernels, tf.Complex64)
		delete(kernels, tf.Complex128)
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
func resourceGather[C cell](n *core.Node) (core.Kernel, error) {
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
		return gatherInto[C](c, d, t, c.Input(1), batch, batch)
	}), nil
}

func resourceGatherGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return []tf.Gradient{rowsGrad(VariableShape(op.Input(0)), op.Input(1), dy[0]), {}}
}

func scatterShape(c *core.Infer) error {
	s := c.In(0)
	if c.NumOut() == 0 {
		_, s = c.Handle(0)
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

// scatterKernels returns kernels that combine rows by the given loops.
func scatterKernels(f32 func(z, x, y []float32), f64 func(z, x, y []float64),
	i8 func(z, x, y []int8), i16 func(z, x, y []int16), i32 func(z, x, y []int32), i64 func(z, x, y []int64),
	u8 func(z, x, y []uint8), u16 func(z, x, y []uint16), u32 func(z, x, y []uint32), u64 func(z, x, y []uint64),
	c64 func(z, x, y []complex64), c128 func(z, x, y []complex128),
) byType {
	return byType{
		tf.Float32: scatterRows(f32), tf.Float64: scatterRows(f64), tf.Complex64: scatterRows(c64), tf.Complex128: scatterRows(c128),
		tf.Float16: scatterRows(widened2[tf.Half](f32)), tf.BFloat16: scatterRows(widened2[tf.BF16](f32)),
		tf.Int8: scatterRows(i8), tf.Int16: scatterRows(i16), tf.Int32: scatterRows(i32), tf.Int64: scatterRows(i64),
		tf.Uint8: scatterRows(u8), tf.Uint16: scatterRows(u16), tf.Uint32: scatterRows(u32), tf.Uint64: scatterRows(u64),
	}
}

// scatterSums returns the kernels of ScatterAdd, whose rows may be single elements: biases.
func scatterSums() byType {
	k := scatterKernels(
		elementwise.Add[float32], elementwise.Add[float64], elementwise.Add[int8], elementwise.Add[int16], elementwise.Add[int32], elementwise.Add[int64],
		elementwise.Add[uint8], elementwise.Add[uint16], elementwise.Add[uint32], elementwise.Add[uint64], elementwise.Add[complex64], elementwise.Add[complex128])
	k[tf.Float32] = scatter(core.Data[float32], layout.ScatterAdd[float32, int64])
	k[tf.Float64] = scatter(core.Data[float64], layout.ScatterAdd[float64, int64])
	return k
}

// scatterRows combines elements of type T by f.
func scatterRows[T tf.Elem](f func(z, x, y []T)) core.NewKernel {
	return scatter(func(t *core.Tensor) []T { return core.Data[T](t) }, rowByRow(f))
}

// rowByRow combines each row of dst that idx names with one of src, in order.
func rowByRow[T any](f func(z, x, y []T)) func(dst, src []T, idx []int64, inner int) {
	return func(dst, src []T, idx []int64, inner int) {
		far := kernel.Far(dst)
		for i, k := range idx {
			if next := i + kernel.RowsAhead; far && next < len(idx) {
				kernel.Prefetch(dst[int(idx[next])*inner:][:inner])
			}
			row := dst[int(k)*inner:][:inner]
			f(row, row, src[i*inner:][:inner])
		}
	}
}

// overwriteRows returns the kernels of ScatterUpdate, for all types.
func overwriteRows() byType {
	return byCell(overwrite[uint8](), overwrite[uint16](), overwrite[uint32](), overwrite[uint64](), overwrite[complex128](),
		overwrite[string](), overwrite[core.ResourceHandle](), overwrite[core.VariantValue]()).on("").By
}

func overwrite[C cell]() core.NewKernel {
	return scatter(cells[C], rowByRow(func(z, _, y []C) { copy(z, y) }))
}

// scatter returns the kernel that combines rows of a variable, given by handle or reference,
// with updates, in the order of the indices.
func scatter[T any](data func(*core.Tensor) []T, combine func(dst, src []T, idx []int64, inner int)) core.NewKernel {
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
			scatterInto(data(t), data(c.Input(2)), rows.Indices(c.Input(1)), inner, combine)
			return nil
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
		return 0, tf.Errorf(tf.InvalidArgument, "DType of variable handle and value does not match.")
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

// scatterInto combines each row with its update, or all with a scalar.
func scatterInto[T any](dst, src []T, idx []int64, inner int, combine func(dst, src []T, idx []int64, inner int)) {
	if len(src) != 1 || len(idx)*inner == 1 {
		combine(dst, src, idx, inner)
		return
	}
	row := core.Make[T](inner)
	kernel.Fill(row, src[0])
	for i := range idx {
		combine(dst, row, idx[i:i+1], inner)
	}
}
