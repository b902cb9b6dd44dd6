package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	vec := arr[float32](tf.Shape{2}, 7, 8)
	row := arr[float32](tf.Shape{3}, 1, 2, 3)
	get := func(o tf.Output, x ...tf.Output) []tf.Output {
		var types []tf.DType
		var shapes []tf.Shape
		for _, y := range x {
			types, shapes = append(types, y.DType()), append(shapes, y.Shape())
		}
		return ops.OptionalGetValue(o, types, shapes)
	}
	add := func(op, name string, f func(g *tf.Graph, in []tf.Output) []tf.Output) {
		optest.Add(optest.Sample{Op: op, Name: name, In: []*core.Tensor{vec, row}, F: f, Types: optest.OnlyOwn, Static: "what an optional holds has a shape"})
	}
	add("OptionalFromValue", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return get(ops.OptionalFromValue(in), in...)
	})
	add("OptionalGetValue", "squares", func(g *tf.Graph, in []tf.Output) []tf.Output {
		out := get(ops.OptionalFromValue(in), in...)
		return []tf.Output{ops.Mul(out[0], out[0]), ops.Neg(out[1])}
	})
	add("OptionalHasValue", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.OptionalHasValue(ops.OptionalFromValue(in))}
	})
	add("OptionalNone", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.OptionalHasValue(ops.OptionalNone(g))}
	})
	optest.Add(optest.Failing("OptionalGetValue", "of nothing", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return get(ops.OptionalNone(g), in[0])
	}, vec))
}
