package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// normTol allows for the order of sums: TensorFlow adds up in float32.
const normTol = 2e-5

func init() {
	none := arr[float32](tf.Shape{0})
	infer := tf.Attr("is_training", false)
	const only32 = "there are no kernels for float64"
	for _, op := range []string{"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"} {
		add := func(name string, in []*core.Tensor, o ...tf.Option) {
			addSamples(sample{Op: op, Name: name, In: in, Types: onlyOwn, Tol: normTol, Rough: only32, F: justResult(op, o...)})
		}
		refused := func(name string, in []*core.Tensor, o ...tf.Option) {
			addSamples(sample{Op: op, Name: name, In: in, Fails: true, F: applied(op, o...)})
		}
		x, mean, variance := seq(2, 3, 2, 3), seq(3), positive(3)
		add("", []*core.Tensor{x, seq(3), seq(3), none, none})
		add("inference", []*core.Tensor{x, seq(3), seq(3), mean, variance}, infer, tf.Attr("epsilon", float32(0.01)))
		add("averages", []*core.Tensor{x, seq(3), seq(3), mean, variance}, tf.Attr("exponential_avg_factor", float32(0.25)))
		add("one row", []*core.Tensor{seq(1, 1, 1, 3), seq(3), seq(3), none, none}, tf.Attr("epsilon", float32(0.5)))
		refused("matrix", []*core.Tensor{seq(2, 3), seq(3), seq(3), none, none})
		refused("short scale", []*core.Tensor{x, seq(2), seq(3), none, none})
		refused("matrix of offsets", []*core.Tensor{x, seq(3), seq(1, 3), none, none})
		refused("no mean", []*core.Tensor{x, seq(3), seq(3), none, none}, infer)
	}
	addNormGrads(only32)
}

// justResult leaves out the outputs that only the op's gradient reads.
func justResult(op string, o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		y := tf.Apply(g, op, in, o...)
		return []tf.Output{y.Output(0)}
	}
}

func addNormGrads(only32 string) {
	x, dy := seq(2, 3, 2, 3), positive(2, 3, 2, 3)
	for _, op := range []string{"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"} {
		in := []*core.Tensor{dy, x, seq(3), seq(3), positive(3)}
		if op == "FusedBatchNormGradV3" {
			in = append(in, arr[float32](tf.Shape{}, 0))
		}
		addSamples(sample{Op: op, In: in, Types: onlyOwn, Tol: normTol, Rough: only32, F: applied(op)},
			sample{Op: op, Name: "inference", In: in, Types: onlyOwn, Tol: normTol, Rough: only32, F: applied(op, tf.Attr("is_training", false))})
	}
	addSamples(
		sample{Op: "FusedBatchNormV3", Name: "all outputs", In: []*core.Tensor{x, seq(3), seq(3), seq(3), positive(3)}, Types: onlyOwn, Tol: normTol, Rough: only32,
			F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
				y := ops.FusedBatchNormV3(in[0], in[1], in[2], in[3], in[4], ops.BatchNormOpts{Epsilon: 0.01, AverageFactor: 0.5, DataFormat: "NHWC"})
				for i := range y[1:] { // TensorFlow's gradients leave them out
					y[1+i] = ops.StopGradient(y[1+i])
				}
				return y
			}},
		sample{Op: "FusedBatchNormV3", Name: "NCHW", In: []*core.Tensor{seq(2, 3, 2, 2), seq(3), seq(3), seq(3), positive(3)}, Types: onlyOwn, Tol: normTol, Rough: only32,
			F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
				return ops.FusedBatchNormV3(in[0], in[1], in[2], in[3], in[4], ops.BatchNormOpts{DataFormat: "NCHW", Inference: true})[:1]
			}})
}
