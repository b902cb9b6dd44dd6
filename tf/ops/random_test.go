package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

var distributions = map[string]func(shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output{
	"RandomUniform": ops.RandomUniform, "RandomStandardNormal": ops.RandomStandardNormal, "TruncatedNormal": ops.TruncatedNormal,
}

func init() {
	// A sample with an odd number of elements reaches the incomplete last group.
	shape := i32(7, 3)
	for op, f := range distributions { // in any order: the samples have names
		draw := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
			return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], d, ops.Seed(7))} }
		}
		for _, d := range []tf.DType{tf.Float32, tf.Float64, tf.Float16, tf.BFloat16} {
			addSamples(sample{op: op, name: d.String(), in: []*tf.Tensor{shape}, f: draw(d), types: onlyOwn})
		}
		addSamples(
			sample{op: op, name: "nothing", in: []*tf.Tensor{vec[int64](0, 5)}, f: draw(tf.Float32), types: onlyOwn},
			failing(op, "negative", draw(tf.Float32), i32(-1)),
			failing(op, "matrix", draw(tf.Float32), mat[int32](1, 1)),
		)
	}
	addShuffleSamples()
	integers := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.RandomUniformInt(in[0], in[1], in[2], ops.Seed(7))}
	}
	n := func(v int32) *tf.Tensor { return scalar(v) }
	addSamples(
		sample{op: "RandomUniformInt", in: []*tf.Tensor{shape, n(-10), n(1000)}, f: integers},
		sample{op: "RandomUniformInt", name: "wide", in: []*tf.Tensor{shape, scalar[int64](-5), scalar[int64](1 << 40)}, f: integers},
		sample{op: "RandomUniformInt", name: "nothing of nothing", in: []*tf.Tensor{i32(0), n(3), n(3)}, f: integers},
		failing("RandomUniformInt", "range", integers, i32(1), n(3), n(3)),
		failing("RandomUniformInt", "vector", integers, i32(1), i32(3), n(3)),
	)
}

func addShuffleSamples() {
	shuffle := unary(ops.RandomShuffle, ops.Seed(7))
	addSamples(
		sample{op: "RandomShuffle", in: []*tf.Tensor{seq(20)}, f: shuffle},
		sample{op: "RandomShuffle", name: "rows", in: []*tf.Tensor{seq(5, 3)}, f: shuffle},
		sample{op: "RandomShuffle", name: "nothing", in: []*tf.Tensor{seq(0)}, f: shuffle},
		sample{op: "RandomShuffle", name: "scalar", in: []*tf.Tensor{scalar(float32(1))}, f: shuffle},
	)
}
