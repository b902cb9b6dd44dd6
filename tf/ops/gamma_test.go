package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for name, f := range map[string]func(x tf.Output, opts ...tf.Option) tf.Output{"Lgamma": ops.Lgamma, "Digamma": ops.Digamma} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{within(0.3, 20, 2, 7)}, F: unary(f), Tol: 1e-5},
			sample{Op: name, Name: "negative", In: []*core.Tensor{within(-4.2, -0.1, 5)}, F: unary(f), Tol: 1e-4, Rough: "close to poles"},
			sample{Op: name, Name: "specials", In: []*core.Tensor{vec[float32](1, 2, 0.001, 100, nan)}, F: unary(f), Tol: 1e-5, Rough: "not numbers"})
	}
	order := func(v ...float32) *core.Tensor { return vec(v...) }
	const onlyX = "TensorFlow knows no derivative by the first operand"
	addSamples(
		sample{Op: "Polygamma", In: []*core.Tensor{order(1, 2, 3, 4), within(1, 9, 4)}, F: binary(ops.Polygamma), Tol: 1e-5, Rough: onlyX},
		sample{Op: "Polygamma", Name: "broadcast", In: []*core.Tensor{mat[float32](1, 1, 2), within(1, 9, 3)}, F: binary(ops.Polygamma), Tol: 1e-5, Rough: onlyX},
		sample{Op: "Polygamma", Name: "specials", In: []*core.Tensor{order(0, 1, 1.5, -1), vec[float32](2, -1, 2, 2)}, F: binary(ops.Polygamma), Tol: 1e-5, Rough: onlyX},
		sample{Op: "Zeta", In: []*core.Tensor{within(1.5, 6, 4), within(0.5, 9, 4)}, F: binary(ops.Zeta), Tol: 1e-5, Rough: onlyX},
		sample{Op: "Zeta", Name: "broadcast", In: []*core.Tensor{mat[float32](1, 2, 3), within(1, 9, 3)}, F: binary(ops.Zeta), Tol: 1e-5, Rough: onlyX},
		sample{Op: "Zeta", Name: "specials", In: []*core.Tensor{order(1, 0.5, 2, 3, 2, 2.5), vec[float32](1, 1, 0, -1, -1.5, -1.5)}, F: binary(ops.Zeta), Tol: 1e-5, Rough: onlyX},
		sample{Op: "NextAfter", In: []*core.Tensor{vec[float32](1, 1, 0.5, nan, 3), vec[float32](0, 1, 2, 1, nan)}, F: binary(ops.NextAfter), Rough: "steps"},
		sample{Op: "NextAfter", Name: "broadcast", In: []*core.Tensor{seq(2, 1), seq(3)}, F: binary(ops.NextAfter), Rough: "steps"})
	buckets := func(b ...float32) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Bucketize(in[0], b)} }
	}
	addSamples(
		sample{Op: "Bucketize", In: []*core.Tensor{mat[float32](3, -5, 10000, 150, 10, 5, 100)}, F: buckets(0, 10, 100)},
		sample{Op: "Bucketize", Name: "no boundaries", In: []*core.Tensor{vec[float32](1, 2)}, F: buckets()},
		sample{Op: "Bucketize", Name: "fractions", In: []*core.Tensor{vec[int32](0, 1, 2, 3)}, F: buckets(0.5, 1.5, 2.5)},
		sample{Op: "Bucketize", Name: "not sorted", Fails: true, In: []*core.Tensor{vec[float32](1, 2)}, F: buckets(1, 4, 3)})
}
