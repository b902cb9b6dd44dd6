package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	m := seq(2, 3)
	temporary := func(g *tf.Graph, in []tf.Output) []tf.Output {
		ref := ops.TemporaryVariable(g, in[0].DType(), tf.Shape{2, 3}, "t")
		return []tf.Output{ops.DestroyTemporaryVariable(ops.AssignAdd(ops.Assign(ref, in[0]), in[0]), "t")}
	}
	twice := func(g *tf.Graph, in []tf.Output) []tf.Output {
		a := ops.Assign(ops.TemporaryVariable(g, in[0].DType(), tf.Shape{2, 3}, "t"), in[0])
		b := after(g, func() tf.Output {
			return ops.Assign(ops.TemporaryVariable(g, in[0].DType(), tf.Shape{2, 3}, "t"), in[0])
		}, a.Operation())
		return []tf.Output{ops.Identity(b)}
	}
	noSuch := func(g *tf.Graph, in []tf.Output) []tf.Output {
		ref := ops.Assign(ops.TemporaryVariable(g, in[0].DType(), tf.Shape{2, 3}, "t"), in[0])
		return []tf.Output{ops.DestroyTemporaryVariable(ref, "u")}
	}
	const named = "the message names the container of the step"
	for _, op := range []string{"TemporaryVariable", "DestroyTemporaryVariable"} {
		addSamples(sample{Op: op, In: []*core.Tensor{m}, F: temporary, GraphOnly: noRefs, Rough: "there is no gradient"})
	}
	addSamples(
		sample{Op: "TemporaryVariable", Name: "twice", In: []*core.Tensor{m}, F: twice, Fails: true, GraphOnly: noRefs, NoGolden: named},
		sample{Op: "DestroyTemporaryVariable", Name: "of another name", In: []*core.Tensor{m}, F: noSuch, Fails: true, GraphOnly: noRefs, NoGolden: named})
	addCountUpTo()
}

func addCountUpTo() {
	counted := func(g *tf.Graph, in []tf.Output) []tf.Output {
		ref := ops.Assign(ops.VariableV2(g, in[0].DType(), nil), in[0], ops.AssignOpts{AnyShape: true})
		first := ops.CountUpTo(ref, 5)
		second := after(g, func() tf.Output { return ops.CountUpTo(ref, 5) }, first.Operation())
		return []tf.Output{second, first}
	}
	byHandle := func(g *tf.Graph, in []tf.Output) []tf.Output {
		handle, set := variableOf(g, in[0], "v")
		first := after(g, func() tf.Output { return ops.ResourceCountUpTo(handle, 5, in[0].DType()) }, set)
		second := after(g, func() tf.Output { return ops.ResourceCountUpTo(handle, 5, in[0].DType()) }, first.Operation())
		return []tf.Output{second, first}
	}
	types := []tf.DType{tf.Int64}
	for op, f := range map[string]func(*tf.Graph, []tf.Output) []tf.Output{"CountUpTo": counted, "ResourceCountUpTo": byHandle} {
		graphOnly := ""
		if op == "CountUpTo" {
			graphOnly = noRefs
		}
		addSamples(
			sample{Op: op, In: []*core.Tensor{scalar(int32(3))}, F: f, Types: types, GraphOnly: graphOnly},
			sample{Op: op, Name: "limit", In: []*core.Tensor{scalar(int32(4))}, F: f, Fails: true, GraphOnly: graphOnly, Types: onlyOwn},
			sample{Op: op, Name: "vector", In: []*core.Tensor{i32(1, 2)}, F: f, Fails: true, GraphOnly: graphOnly, Types: onlyOwn})
	}
}
