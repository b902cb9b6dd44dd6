package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// handleOf adds a variable for values like x.
func handleOf(g *tf.Graph, x tf.Output, name string) tf.Output {
	return ops.VarHandleOp(g, x.DType(), nil, ops.VarHandleOpts{SharedName: name})
}

// variableOf adds a variable and what makes x its value.
func variableOf(g *tf.Graph, x tf.Output, name string) (handle tf.Output, set *tf.Operation) {
	handle = handleOf(g, x, name)
	return handle, ops.AssignVariableOp(handle, x)
}

// after calls f so that what it adds runs after all of before.
func after[T any](g *tf.Graph, f func() T, before ...*tf.Operation) (out T) {
	g.ControlDependencies(before, func() { out = f() })
	return out
}

// onVariable makes the function of a sample that sets a variable to the first
// input, has change do something to it, and reads it.
func onVariable(change func(handle tf.Output, in []tf.Output) *tf.Operation) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		h, set := variableOf(g, in[0], "v")
		changed := after(g, func() *tf.Operation { return change(h, in[1:]) }, set)
		if changed.Err() != nil { // in an eager graph, where nothing but this tells
			return []tf.Output{changed.Output(0)}
		}
		return []tf.Output{after(g, func() tf.Output { return ops.ReadVariableOp(h, in[0].DType()) }, changed)}
	}
}

func init() {
	ownHandles := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.VarIsInitializedOp(handleOf(g, in[0], "v"))}
	}
	read := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.ReadVariableOp(handleOf(g, in[0], "v"), in[0].DType())}
	}
	set := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation { return ops.AssignVariableOp(h, in[0]) })
	strict := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation {
		return ops.AssignVariableOp(h, in[0], ops.AssignVariableOpts{ValidateShape: true})
	})
	add := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation { return ops.AssignAddVariableOp(h, in[0]) })
	sub := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation { return ops.AssignSubVariableOp(h, in[0]) })
	const noReads = "variables end gradients"
	addSamples(
		sample{Op: "VarHandleOp", In: []*core.Tensor{seq(2)}, F: ownHandles},
		sample{Op: "VarIsInitializedOp", In: []*core.Tensor{seq(2)}, F: isInitialized},
		sample{Op: "ReadVariableOp", In: []*core.Tensor{seq(2, 3)}, F: set0, Types: someTypes, Rough: noReads},
		failing("ReadVariableOp", "unset", read, seq(2)),
		sample{Op: "AssignVariableOp", In: []*core.Tensor{seq(2, 3), seq(4)}, F: set, Types: someTypes},
		failing("AssignVariableOp", "shape", strict, seq(2, 3), seq(4)),
		sample{Op: "AssignAddVariableOp", In: []*core.Tensor{seq(2, 3), positive(2, 3)}, F: add},
		failing("AssignAddVariableOp", "shape", add, seq(2, 3), seq(3)),
		sample{Op: "AssignSubVariableOp", In: []*core.Tensor{seq(2, 3), positive(2, 3)}, F: sub},
		failing("AssignSubVariableOp", "shape", sub, seq(2, 3), seq(3)),
		sample{Op: "VariableShape", In: []*core.Tensor{seq(2, 3)}, F: variableShape, Types: someTypes},
		sample{Op: "DestroyResourceOp", In: []*core.Tensor{seq(2)}, F: destroyed},
	)
	addScatterSamples()
	addRefSamples()
	addManySamples()
}

// addManySamples adds those of ops on several variables.
func addManySamples() {
	handles := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return tf.Apply(g, "_VarHandlesOp", nil, tf.Name("handles"), tf.Attr("containers", []string{"", ""}), tf.Attr("shared_names", []string{"v", "w"}), tf.Attr("N", 2),
			tf.Attr("dtypes", []tf.DType{in[0].DType(), in[1].DType()}), tf.Attr("shapes", []tf.Shape{{2, 3}, nil})).Outputs()
	}
	read := func(g *tf.Graph, in, hs []tf.Output, before ...*tf.Operation) []tf.Output {
		return after(g, func() []tf.Output {
			return applied("_ReadVariablesOp", tf.Name("values"), tf.Attr("dtypes", []tf.DType{in[0].DType(), in[1].DType()}))(g, hs)
		}, before...)
	}
	both := func(g *tf.Graph, in []tf.Output) []tf.Output {
		hs := handles(g, in)
		return read(g, in, hs, ops.AssignVariableOp(hs[0], in[0]), ops.AssignVariableOp(hs[1], in[1]))
	}
	unset := func(g *tf.Graph, in []tf.Output) []tf.Output { return read(g, in, handles(g, in)) }
	addSamples(
		sample{Op: "_VarHandlesOp", In: []*core.Tensor{seq(2, 3), i32(4, 5)}, F: both, Types: someTypes, Rough: "variables end gradients"},
		sample{Op: "_ReadVariablesOp", In: []*core.Tensor{seq(2, 3), seq(1)}, F: both, Types: onlyOwn, Rough: "variables end gradients"},
		failing("_ReadVariablesOp", "unset", unset, seq(2), seq(2)),
	)
}

// set0 sets a variable and reads it.
func set0(g *tf.Graph, in []tf.Output) []tf.Output {
	h, set := variableOf(g, in[0], "v")
	return []tf.Output{after(g, func() tf.Output { return ops.ReadVariableOp(h, in[0].DType()) }, set)}
}

func isInitialized(g *tf.Graph, in []tf.Output) []tf.Output {
	h, set := variableOf(g, in[0], "v")
	return []tf.Output{after(g, func() tf.Output { return ops.VarIsInitializedOp(h) }, set)}
}

func variableShape(g *tf.Graph, in []tf.Output) []tf.Output {
	h, set := variableOf(g, in[0], "v")
	return after(g, func() []tf.Output {
		return []tf.Output{ops.VariableShape(h), ops.VariableShape(h, ops.ShapeOpts{OutType: tf.Int64})}
	}, set)
}

func destroyed(g *tf.Graph, in []tf.Output) []tf.Output {
	h, set := variableOf(g, in[0], "v")
	gone := after(g, func() *tf.Operation { return ops.DestroyResourceOp(h) }, set)
	twice := after(g, func() *tf.Operation { return ops.DestroyResourceOp(h) }, gone)
	return []tf.Output{after(g, func() tf.Output { return ops.VarIsInitializedOp(h) }, twice)}
}

func addScatterSamples() {
	gather := func(o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			h, set := variableOf(g, in[0], "v")
			return []tf.Output{after(g, func() tf.Output { return ops.ResourceGather(h, in[1], in[0].DType(), o...) }, set)}
		}
	}
	const variable = "variables end gradients"
	addSamples(
		sample{Op: "ResourceGather", In: []*core.Tensor{seq(4, 3), i32(2, 0, 2)}, F: gather(), Rough: variable},
		sample{Op: "ResourceGather", Name: "batch", In: []*core.Tensor{seq(2, 3), mat[int64](2, 2, 0, 2, 1)}, F: gather(ops.GatherOpts{BatchDims: 1}), Rough: variable},
		failing("ResourceGather", "index", gather(), seq(2, 3), i32(5)),
	)
	for _, op := range []string{"ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul", "ResourceScatterDiv", "ResourceScatterMax", "ResourceScatterMin"} {
		change := onVariable(func(h tf.Output, in []tf.Output) *tf.Operation {
			return tf.Apply(nil, op, []tf.Output{h, in[0], in[1]})
		})
		addSamples(
			sample{Op: op, In: []*core.Tensor{positive(4, 3), i32(2, 0, 2), mat[float32](3, 2, 1.5, 3, 4, 5, 6.25, 7, 8, 9)}, F: change},
			sample{Op: op, Name: "scalar", In: []*core.Tensor{seq(4, 3), vec[int64](2, 0), scalar(float32(1.5))}, F: change},
			sample{Op: op, Name: "matrix", In: []*core.Tensor{seq(4), mat[int32](2, 2, 0, 2, 1), seq(2, 2)}, F: change},
			sample{Op: op, Name: "nothing", In: []*core.Tensor{seq(4), i32(), seq(0)}, F: change},
			failing(op, "index", change, seq(2, 3), i32(5), seq(1, 3)),
		)
		if op == "ResourceScatterDiv" {
			addSamples(failing(op, "zero", change, i32(1, 2), i32(1), i32(0)))
		}
		bad := failing(op, "shape", change, seq(2, 3), i32(1), seq(1, 2))
		bad.NoGolden = "TensorFlow reads past the end of the updates"
		addSamples(bad)
	}
}

const noRefs = "eager graphs hold no references"

// onRef is onVariable for reference variables.
func onRef(change func(ref tf.Output, in []tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		ref := ops.VariableV2(g, in[0].DType(), nil)
		set := ops.Assign(ref, in[0], ops.AssignOpts{AnyShape: true})
		changed := after(g, func() tf.Output { return change(ref, in[1:]) }, set.Operation())
		return []tf.Output{ops.Identity(changed)}
	}
}

func addRefSamples() {
	ref := func(op string, f func(ref, value tf.Output, opts ...tf.Option) tf.Output, types []tf.DType) {
		change := onRef(func(ref tf.Output, in []tf.Output) tf.Output { return f(ref, in[0]) })
		addSamples(
			sample{Op: op, In: []*core.Tensor{seq(2, 3), positive(2, 3)}, F: change, Types: types, GraphOnly: noRefs},
			sample{Op: op, Name: "bad shape", In: []*core.Tensor{seq(2, 3), seq(3)}, F: change, Fails: true, GraphOnly: noRefs, Types: onlyOwn},
		)
	}
	ref("Assign", ops.Assign, someTypes)
	ref("AssignAdd", ops.AssignAdd, nil)
	ref("AssignSub", ops.AssignSub, nil)
	for _, op := range []string{"ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMax", "ScatterMin"} {
		change := onRef(func(ref tf.Output, in []tf.Output) tf.Output {
			return tf.Apply(nil, op, []tf.Output{ref, in[0], in[1]}).Output(0)
		})
		addSamples(sample{Op: op, In: []*core.Tensor{positive(4, 3), i32(2, 0, 2), mat[float32](3, 2, 1.5, 3, 4, 5, 6.25, 7, 8, 9)}, F: change, GraphOnly: noRefs})
	}
	initialized := func(g *tf.Graph, in []tf.Output) []tf.Output {
		ref := ops.VariableV2(g, in[0].DType(), tf.Shape{2, 3})
		before := ops.IsVariableInitialized(ref)
		set := after(g, func() tf.Output { return ops.Assign(ref, in[0]) }, before.Operation())
		return []tf.Output{before, ops.IsVariableInitialized(set)}
	}
	variable := func(op string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			ref := tf.Apply(g, op, nil, tf.Attr("dtype", in[0].DType()), tf.Attr("shape", tf.Shape{2, 3})).Output(0)
			return []tf.Output{ops.Identity(ops.Assign(ref, in[0]))}
		}
	}
	addSamples(
		sample{Op: "IsVariableInitialized", In: []*core.Tensor{seq(2, 3)}, F: initialized, GraphOnly: noRefs},
		sample{Op: "VariableV2", In: []*core.Tensor{seq(2, 3)}, F: variable("VariableV2"), Types: someTypes, GraphOnly: noRefs},
		sample{Op: "Variable", In: []*core.Tensor{seq(2, 3)}, F: variable("Variable"), GraphOnly: noRefs},
	)
}
