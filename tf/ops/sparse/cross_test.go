package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	where := at(2, 0, 0, 0, 1, 1, 0, 2, 0)
	words, numbers := vec("a", "b", "c", ""), vec[int64](11, -5, 1<<40+3, 7)
	dense, denseNumbers := optest.Mat(2, "x", "y", "z", "w", "v", "u"), optest.Mat[int64](1, 1, -2, 3)
	two := func(in []tf.Output) []sparse.Tensor { return []sparse.Tensor{sp(in, 0), sp(in, 3)} }
	all := tensors{where, words, i64(3, 2), at(2, 0, 0, 2, 0, 2, 3), numbersOf(3), i64(3, 4), dense}
	text := tensors{where, words, i64(3, 2), at(2, 0, 0, 2, 0, 2, 3), vec("k", "l", "m"), i64(3, 4), dense}
	type crossing = func(g *tf.Graph, s []sparse.Tensor, d []tf.Output) sparse.Tensor
	plain := func(op, name string, f crossing, in tensors) sample {
		return sample{Op: op, Name: name, In: in, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output { return parts(f(g, two(in), in[6:])) }}
	}
	hashed := func(hash *sparse.CrossHash) crossing {
		return func(g *tf.Graph, s []sparse.Tensor, d []tf.Output) sparse.Tensor {
			return sparse.SparseCross(g, s, d, hash)
		}
	}
	v2 := func(g *tf.Graph, s []sparse.Tensor, d []tf.Output) sparse.Tensor {
		return sparse.SparseCrossV2(g, s, d, ops.Scalar(g, "&"))
	}
	keyed := func(buckets int64, strong bool) crossing {
		return func(g *tf.Graph, s []sparse.Tensor, d []tf.Output) sparse.Tensor {
			return sparse.SparseCrossHashed(g, s, d, ops.Scalar(g, buckets), ops.Scalar(g, strong), ops.Const(g, []int64{12, -34}))
		}
	}
	both := tensors{where, numbers, i64(3, 2), where, words, i64(3, 2), denseNumbers}
	addSamples(
		plain("SparseCross", "", hashed(nil), text),
		plain("SparseCross", "numbers", hashed(nil), all),
		plain("SparseCross", "hashed", hashed(&sparse.CrossHash{Key: 0xDECAFCAFFE}), all),
		plain("SparseCross", "buckets", hashed(&sparse.CrossHash{Buckets: 100, Key: -1}), both),
		plain("SparseCrossV2", "", v2, all),
		plain("SparseCrossV2", "numbers", v2, both),
		plain("SparseCrossHashed", "", keyed(0, false), all),
		plain("SparseCrossHashed", "buckets", keyed(1000, false), both),
		plain("SparseCrossHashed", "strong", keyed(0, true), all),
	)
	bad := func(name string, in ...*core.Tensor) sample {
		return failing("SparseCrossV2", name, func(g *tf.Graph, in []tf.Output) []tf.Output { return parts(v2(g, two(in), in[6:])) }, in...)
	}
	addSamples(
		bad("indices", i64(1), words, i64(3, 2), where, words, i64(3, 2), dense),
		bad("columns", at(1, 1, 2, 3, 4), words, i64(3, 2), where, words, i64(3, 2), dense),
		bad("values", where, where, i64(3, 2), where, words, i64(3, 2), dense),
		bad("number", where, vec("a"), i64(3, 2), where, words, i64(3, 2), dense),
		bad("shape", where, words, at(1, 3, 2), where, words, i64(3, 2), dense),
		bad("rank", where, words, i64(3, 2, 1), where, words, i64(3, 2), dense),
		bad("dense", where, words, i64(3, 2), where, words, i64(3, 2), vec("a")),
		bad("rows", where, words, i64(3, 2), where, words, i64(4, 2), dense),
		bad("dense rows", where, words, i64(4, 2), where, words, i64(4, 2), dense),
		failing("SparseCrossHashed", "salt", func(g *tf.Graph, in []tf.Output) []tf.Output {
			return parts(sparse.SparseCrossHashed(g, two(in), in[6:], ops.Scalar(g, int64(0)), ops.Scalar(g, true), ops.Const(g, []int64{1})))
		}, all...),
	)
}

// numbersOf is a vector of n numbers.
func numbersOf(n int) *core.Tensor {
	t := core.NewTensor(tf.Int64, tf.Shape{n})
	for i := range n {
		core.Data[int64](t)[i] = int64(i*1000 - 500)
	}
	return t
}
