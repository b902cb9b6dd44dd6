package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

var distributions = map[string]func(g *tf.Graph, shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output{
	"RandomUniform": ops.RandomUniform[tf.Output], "RandomStandardNormal": ops.RandomStandardNormal[tf.Output], "TruncatedNormal": ops.TruncatedNormal[tf.Output],
}

func init() {
	// A sample with an odd number of elements reaches the incomplete last group.
	shape := i32(7, 3)
	for op, f := range distributions { // in any order: the samples have names
		draw := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
			return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(nil, in[0], d, ops.Seed(7))} }
		}
		for _, d := range []tf.DType{tf.Float32, tf.Float64, tf.Float16, tf.BFloat16} {
			addSamples(sample{Op: op, Name: d.String(), In: []*core.Tensor{shape}, F: draw(d), Types: onlyOwn})
		}
		addSamples(
			sample{Op: op, Name: "nothing", In: []*core.Tensor{vec[int64](0, 5)}, F: draw(tf.Float32), Types: onlyOwn},
			failing(op, "negative", draw(tf.Float32), i32(-1)),
			failing(op, "matrix", draw(tf.Float32), mat[int32](1, 1)),
		)
	}
	addShuffleSamples()
	integers := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.RandomUniformInt(nil, in[0], in[1], in[2], ops.Seed(7))}
	}
	n := func(v int32) *core.Tensor { return scalar(v) }
	addSamples(
		sample{Op: "RandomUniformInt", In: []*core.Tensor{shape, n(-10), n(1000)}, F: integers},
		sample{Op: "RandomUniformInt", Name: "wide", In: []*core.Tensor{shape, scalar[int64](-5), scalar[int64](1 << 40)}, F: integers},
		sample{Op: "RandomUniformInt", Name: "nothing of nothing", In: []*core.Tensor{i32(0), n(3), n(3)}, F: integers},
		failing("RandomUniformInt", "range", integers, i32(1), n(3), n(3)),
		failing("RandomUniformInt", "vector", integers, i32(1), i32(3), n(3)),
	)
}

func addShuffleSamples() {
	shuffle := unary(ops.RandomShuffle, ops.Seed(7))
	addSamples(
		sample{Op: "RandomShuffle", In: []*core.Tensor{seq(20)}, F: shuffle},
		sample{Op: "RandomShuffle", Name: "rows", In: []*core.Tensor{seq(5, 3)}, F: shuffle},
		sample{Op: "RandomShuffle", Name: "nothing", In: []*core.Tensor{seq(0)}, F: shuffle},
		sample{Op: "RandomShuffle", Name: "scalar", In: []*core.Tensor{scalar(float32(1))}, F: shuffle},
	)
}
