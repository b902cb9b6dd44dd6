package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	top := func(k int32) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			values, indices := ops.TopKV2(in[0], ops.Scalar(g, k))
			return []tf.Output{values, indices}
		}
	}
	equal := mat[float32](4, 1, 3, 3, 2, 0, 0, 0, 0)
	addSamples(
		sample{op: "TopKV2", in: []*tf.Tensor{distinct(2, 3, 5)}, f: top(3)},
		sample{op: "TopKV2", name: "equal", in: []*tf.Tensor{equal}, f: top(3), rough: "the greatest are not clear"},
		sample{op: "TopKV2", name: "vector", in: []*tf.Tensor{seq(6)}, f: top(6)},
		sample{op: "TopKV2", name: "none", in: []*tf.Tensor{seq(2, 3)}, f: top(0)},
		sample{op: "TopKV2", name: "too many", in: []*tf.Tensor{seq(2, 3)}, f: top(4), fails: true},
		sample{op: "TopKV2", name: "negative", in: []*tf.Tensor{seq(2, 3), arr[int32](tf.Shape{}, -1)}, f: applied("TopKV2"), fails: true},
		sample{op: "TopKV2", name: "scalar", in: []*tf.Tensor{seq()}, f: top(0), fails: true},
		sample{op: "TopK", in: []*tf.Tensor{seq(2, 5)}, f: applied("TopK", tf.Attr("k", 2)), types: onlyOwn, noGolden: "TensorFlow refuses it in graphs of today"})
	addInTopK()
}

func addInTopK() {
	inf := float32(math.Inf(1))
	p := mat[float32](3, 0.1, 0.5, 0.4, 0.2, 0.2, 0.6, 1, inf, 2, 1, 2, 3)
	in := func(k int32) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.InTopKV2(in[0], in[1], ops.Scalar(g, k))}
		}
	}
	addSamples(
		sample{op: "InTopKV2", in: []*tf.Tensor{p, vec[int32](2, 0, 0, 0)}, f: in(2), types: onlyOwn},
		sample{op: "InTopKV2", name: "no such class", in: []*tf.Tensor{p, vec[int32](3, -1, 1, 2)}, f: in(1), types: onlyOwn},
		sample{op: "InTopKV2", name: "too few targets", in: []*tf.Tensor{p, vec[int32](1)}, f: in(1), fails: true, types: onlyOwn},
		sample{op: "InTopKV2", name: "vector", in: []*tf.Tensor{seq(3), vec[int32](1)}, f: in(1), fails: true, types: onlyOwn},
		sample{op: "InTopKV2", name: "matrix of targets", in: []*tf.Tensor{p, mat[int32](1, 1, 1, 1, 1)}, f: in(1), fails: true, types: onlyOwn},
		sample{op: "InTopK", in: []*tf.Tensor{p, vec[int64](2, 0, 0, 0)}, f: applied("InTopK", tf.Attr("k", 2)), types: onlyOwn})
}
