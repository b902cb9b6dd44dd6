package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for name, f := range map[string]func(x tf.Output, opts ...tf.Option) tf.Output{"Lgamma": ops.Lgamma, "Digamma": ops.Digamma} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{within(0.3, 20, 2, 7)}, f: unary(f), tol: 1e-5},
			sample{op: name, name: "negative", in: []*tf.Tensor{within(-4.2, -0.1, 5)}, f: unary(f), tol: 1e-4, rough: "close to poles"},
			sample{op: name, name: "specials", in: []*tf.Tensor{vec[float32](1, 2, 0.001, 100, nan)}, f: unary(f), tol: 1e-5, rough: "not numbers"})
	}
	order := func(v ...float32) *tf.Tensor { return vec(v...) }
	const onlyX = "TensorFlow knows no derivative by the first operand"
	addSamples(
		sample{op: "Polygamma", in: []*tf.Tensor{order(1, 2, 3, 4), within(1, 9, 4)}, f: binary(ops.Polygamma), tol: 1e-5, rough: onlyX},
		sample{op: "Polygamma", name: "broadcast", in: []*tf.Tensor{mat[float32](1, 1, 2), within(1, 9, 3)}, f: binary(ops.Polygamma), tol: 1e-5, rough: onlyX},
		sample{op: "Polygamma", name: "specials", in: []*tf.Tensor{order(0, 1, 1.5, -1), vec[float32](2, -1, 2, 2)}, f: binary(ops.Polygamma), tol: 1e-5, rough: onlyX},
		sample{op: "Zeta", in: []*tf.Tensor{within(1.5, 6, 4), within(0.5, 9, 4)}, f: binary(ops.Zeta), tol: 1e-5, rough: onlyX},
		sample{op: "Zeta", name: "broadcast", in: []*tf.Tensor{mat[float32](1, 2, 3), within(1, 9, 3)}, f: binary(ops.Zeta), tol: 1e-5, rough: onlyX},
		sample{op: "Zeta", name: "specials", in: []*tf.Tensor{order(1, 0.5, 2, 3, 2, 2.5), vec[float32](1, 1, 0, -1, -1.5, -1.5)}, f: binary(ops.Zeta), tol: 1e-5, rough: onlyX},
		sample{op: "NextAfter", in: []*tf.Tensor{vec[float32](1, 1, 0.5, nan, 3), vec[float32](0, 1, 2, 1, nan)}, f: binary(ops.NextAfter), rough: "steps"},
		sample{op: "NextAfter", name: "broadcast", in: []*tf.Tensor{seq(2, 1), seq(3)}, f: binary(ops.NextAfter), rough: "steps"})
	buckets := func(b ...float32) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Bucketize(in[0], b)} }
	}
	addSamples(
		sample{op: "Bucketize", in: []*tf.Tensor{mat[float32](3, -5, 10000, 150, 10, 5, 100)}, f: buckets(0, 10, 100)},
		sample{op: "Bucketize", name: "no boundaries", in: []*tf.Tensor{vec[float32](1, 2)}, f: buckets()},
		sample{op: "Bucketize", name: "fractions", in: []*tf.Tensor{vec[int32](0, 1, 2, 3)}, f: buckets(0.5, 1.5, 2.5)},
		sample{op: "Bucketize", name: "not sorted", fails: true, in: []*tf.Tensor{vec[float32](1, 2)}, f: buckets(1, 4, 3)})
}
