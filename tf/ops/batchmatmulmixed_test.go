package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const op = "BatchMatMulV3"
	x, y := seq(2, 3, 4), seq(1, 4, 2)
	same := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.BatchMatMulV3(in[0], in[1], in[0].DType())}
	}
	times := func(d tf.DType, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.BatchMatMulV3(in[0], in[1], d, opts...)}
		}
	}
	mixed := func(a, b, out tf.DType, opts ...tf.Option) sample {
		return sample{Op: op, Name: a.String() + " " + b.String(), In: []*core.Tensor{convert(x, a), convert(y, b)}, F: times(out, opts...), Types: []tf.DType{}}
	}
	addSamples(
		sample{Op: op, In: []*core.Tensor{x, y}, F: same, Types: []tf.DType{}, Tol: 1e-5},
		sample{Op: op, Name: "adjoints", In: []*core.Tensor{convert(seq(4, 3), tf.Complex64), convert(seq(2, 2, 4), tf.Complex64)}, Types: []tf.DType{}, Tol: 1e-5,
			F: times(tf.Complex64, ops.BatchMatMulOpts{AdjX: true, AdjY: true})},
		mixed(tf.Int8, tf.Int8, tf.Int32), mixed(tf.Int8, tf.Uint8, tf.Int32), mixed(tf.Uint8, tf.Uint8, tf.Int32),
		mixed(tf.BFloat16, tf.Int8, tf.BFloat16), mixed(tf.Uint8, tf.BFloat16, tf.BFloat16),
		mixed(tf.Int16, tf.Int16, tf.Int16), mixed(tf.Int64, tf.Int64, tf.Int64), mixed(tf.Float64, tf.Float64, tf.Float64), mixed(tf.BFloat16, tf.BFloat16, tf.BFloat16),
		sample{Op: op, Name: "bad batches", Fails: true, In: []*core.Tensor{seq(2, 1, 2), seq(3, 2, 4)}, F: times(tf.Float32)},
		sample{Op: op, Name: "bad sizes", Fails: true, In: []*core.Tensor{seq(2, 2), seq(3, 4)}, F: times(tf.Float32)})
}
