package ops

import (
	"maps"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	variableNDOp("Update", "type", "true", core.NotDifferentiable, setSlices.only(dataTypes...))
	variableNDOp("Add", "numbertype", "false", core.NotDifferentiable, addSlices)
	variableNDOp("Sub", "numbertype", "false", core.NotDifferentiable, subSlices)
	variableNDOp("Max", "numbertype", "false", core.NoGradientDefined, maxSlices)
	variableNDOp("Min", "numbertype", "false", core.NoGradientDefined, minSlices)
}

// variableNDOp declares ScatterNd... for reference variables and
// ResourceScatterNd... for handles.
func variableNDOp(name, types, locking string, grad core.NoGrad, by slicesOps) {
	const policy = "; bad_indices_policy: string = ''"
	kernels := by.kernels(variableND)
	byHandle := core.ByType("T", maps.Clone(kernels))
	if types == "numbertype" {
		delete(kernels, tf.Bool)
	}
	core.Register(core.OpDef{
		Name: "ScatterNd" + name, In: "ref: Ref(T); indices: Tindices; updates: T", Out: "output_ref: Ref(T)",
		Attrs: "T: " + types + "; Tindices: {int32, int64}; use_locking: bool = " + locking + policy,
		Shape: variableNDShape, NoGrad: grad, Kernels: core.ByType("T", kernels),
	})
	core.Register(core.OpDef{
		Name: "ResourceScatterNd" + name, In: "ref: resource; indices: Tindices; updates: T",
		Attrs:    "T: type; Tindices: {int32, int64}; use_locking: bool = true" + policy,
		Stateful: true, Shape: variableNDShape, NoGrad: core.NoGradientDefined, Kernels: byHandle,
	})
}

// ResourceScatterNdUpdate replaces the slices, which the rows of indices point
// to, of the variable behind handle. indices is int32 or int64, and its last
// dimension is how many leading dimensions of the variable a row indexes;
// updates has the other dimensions of indices, then those of a slice, and the
// type of the variable: numbers, bool or strings. Shapes that do not fit are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step, and indices out of range in the step. A variable without a
// value is refused with FAILED_PRECONDITION. The last of equal rows wins.
func ResourceScatterNdUpdate(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdUpdate", handle, indices, updates, opts)
}

// ResourceScatterNdAdd adds updates to the slices that indices point to. Every
// row that occurs more than once adds again. Values are numbers, or bool, for
// which it is or. Inputs and errors are as for ResourceScatterNdUpdate.
func ResourceScatterNdAdd(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdAdd", handle, indices, updates, opts)
}

// ResourceScatterNdSub subtracts updates from the slices that indices point
// to. Every row that occurs more than once subtracts again. Values are
// numbers, or bool, for which it is exclusive or. Inputs and errors are as for
// ResourceScatterNdUpdate.
func ResourceScatterNdSub(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdSub", handle, indices, updates, opts)
}

// ResourceScatterNdMax raises the slices that indices point to to updates.
// Each element becomes the greater of itself and its update. Values are real
// numbers. Inputs and errors are as for ResourceScatterNdUpdate.
func ResourceScatterNdMax(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdMax", handle, indices, updates, opts)
}

// ResourceScatterNdMin lowers the slices that indices point to to updates.
// Each element becomes the lesser of itself and its update. Values are real
// numbers. Inputs and errors are as for ResourceScatterNdUpdate.
func ResourceScatterNdMin(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdMin", handle, indices, updates, opts)
}

func variableNDShape(c *core.Infer) error {
	s := c.In(0)
	if c.NumOut() == 0 {
		_, s = c.Handle(0)
	} else {
		c.Set(0, s)
	}
	return scatterFits(s, c.In(1), c.In(2))
}

func variableND(f slicesOp) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		bad, err := badIndicesOf(n)
		return core.Compute(func(c *core.OpContext) error {
			ref, err := VariableAt(c, 0)
			if err != nil {
				return err
			}
			if len(c.Out) > 0 {
				c.Out[0].Ref = ref
			}
			return changeWhole(c, ref, func(t *core.Tensor) error { return updateSlices(c, t, f, bad) })
		}), err
	}
}

// updateSlices combines slices of the value t of a variable with input 2.
func updateSlices(c *core.OpContext, t *core.Tensor, f slicesOp, bad badIndices) error {
	idx, updates := c.Input(1), c.Input(2)
	if t == nil {
		return uninitialized(c, 0)
	}
	if t.DType() != updates.DType() {
		return tf.Errorf(tf.InvalidArgument, "DType of variable handle and value does not match. The variable is %v, the value %v.", t.DType(), updates.DType())
	}
	if err := checkVariableScatter(t.Shape(), idx.Shape(), updates.Shape()); err != nil {
		return err
	}
	return scatterSlices(t, idx, updates, f, bad)
}
