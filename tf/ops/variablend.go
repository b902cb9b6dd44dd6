package ops

import (
	"maps"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	variableNDOp("Update", "type", "true", core.NotDifferentiable, setRows.only(dataTypes...))
	variableNDOp("Add", "numbertype", "false", core.NotDifferentiable, addCells)
	variableNDOp("Sub", "numbertype", "false", core.NotDifferentiable, subCells)
	variableNDOp("Max", "numbertype", "false", core.NoGradientDefined, maxRows)
	variableNDOp("Min", "numbertype", "false", core.NoGradientDefined, minRows)
}

// variableNDOp declares ScatterNd... for reference variables and
// ResourceScatterNd... for handles.
func variableNDOp(name, types, locking string, grad core.NoGrad, by rowOps) {
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
// to, of the variable behind handle.
func ResourceScatterNdUpdate(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdUpdate", handle, indices, updates, opts)
}

// ResourceScatterNdAdd adds updates to the slices that indices point to.
func ResourceScatterNdAdd(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdAdd", handle, indices, updates, opts)
}

// ResourceScatterNdSub subtracts updates from the slices that indices point to.
func ResourceScatterNdSub(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdSub", handle, indices, updates, opts)
}

// ResourceScatterNdMax raises the slices that indices point to to updates.
func ResourceScatterNdMax(handle, indices, updates tf.Output, opts ...tf.Option) *tf.Operation {
	return resourceScatter("ResourceScatterNdMax", handle, indices, updates, opts)
}

// ResourceScatterNdMin lowers the slices that indices point to to updates.
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

func variableND(f rowOp) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		bad, err := badIndicesOf(n)
		return core.Compute(func(c *core.OpContext) error {
			refs, err := variableRefs(c, 1)
			if err != nil {
				return err
			}
			if len(c.Out) > 0 {
				c.Out[0].Ref = refs[0]
			}
			return changeWhole(c, refs[0], func(t *core.Tensor) error { return updateSlices(c, t, f, bad) })
		}), err
	}
}

// updateSlices combines slices of the value t of a variable with input 2.
func updateSlices(c *core.OpContext, t *core.Tensor, f rowOp, bad badIndices) error {
	idx, updates := c.Input(1), c.Input(2)
	if t == nil {
		return uninitialized(c, 0)
	}
	if t.DType() != updates.DType() {
		return tf.Errorf(tf.InvalidArgument, "DType of variable handle and value does not match.")
	}
	if err := checkVariableScatter(t.Shape(), idx.Shape(), updates.Shape()); err != nil {
		return err
	}
	return scatterSlices(t, idx, updates, f, bad)
}
