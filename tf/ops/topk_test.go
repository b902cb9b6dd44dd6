package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
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
		sample{Op: "TopKV2", In: []*core.Tensor{distinct(2, 3, 5)}, F: top(3)},
		sample{Op: "TopKV2", Name: "equal", In: []*core.Tensor{equal}, F: top(3), Rough: "the greatest are not clear"},
		sample{Op: "TopKV2", Name: "vector", In: []*core.Tensor{seq(6)}, F: top(6)},
		sample{Op: "TopKV2", Name: "none", In: []*core.Tensor{seq(2, 3)}, F: top(0)},
		sample{Op: "TopKV2", Name: "too many", In: []*core.Tensor{seq(2, 3)}, F: top(4), Fails: true},
		sample{Op: "TopKV2", Name: "negative", In: []*core.Tensor{seq(2, 3), arr[int32](tf.Shape{}, -1)}, F: applied("TopKV2"), Fails: true},
		sample{Op: "TopKV2", Name: "scalar", In: []*core.Tensor{seq()}, F: top(0), Fails: true},
		sample{Op: "TopK", In: []*core.Tensor{seq(2, 5)}, F: applied("TopK", tf.Attr("k", 2)), Types: onlyOwn, NoGolden: "TensorFlow refuses it in graphs of today"})
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
		sample{Op: "InTopKV2", In: []*core.Tensor{p, vec[int32](2, 0, 0, 0)}, F: in(2), Types: onlyOwn},
		sample{Op: "InTopKV2", Name: "no such class", In: []*core.Tensor{p, vec[int32](3, -1, 1, 2)}, F: in(1), Types: onlyOwn},
		sample{Op: "InTopKV2", Name: "too few targets", In: []*core.Tensor{p, vec[int32](1)}, F: in(1), Fails: true, Types: onlyOwn},
		sample{Op: "InTopKV2", Name: "vector", In: []*core.Tensor{seq(3), vec[int32](1)}, F: in(1), Fails: true, Types: onlyOwn},
		sample{Op: "InTopKV2", Name: "matrix of targets", In: []*core.Tensor{p, mat[int32](1, 1, 1, 1, 1)}, F: in(1), Fails: true, Types: onlyOwn},
		sample{Op: "InTopK", In: []*core.Tensor{p, vec[int64](2, 0, 0, 0)}, F: applied("InTopK", tf.Attr("k", 2)), Types: onlyOwn})
}
