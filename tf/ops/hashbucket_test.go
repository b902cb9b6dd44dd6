package ops_test

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	// Lengths around those at which the hashes change their ways.
	text := strings.Repeat("Wer reitet so spät durch Nacht und Wind? ", 8)
	var words []string
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 192, 200, 257} {
		words = append(words, text[len(text)-n:])
	}
	x := vec(words...)
	const many = 1<<62 + 12345
	hashed := func(f func(x tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0])} }
	}
	addSamples(
		sample{Op: "StringToHashBucket", In: []*core.Tensor{x}, F: hashed(func(x tf.Output) tf.Output { return ops.StringToHashBucket(x, many) })},
		sample{Op: "StringToHashBucketFast", In: []*core.Tensor{x}, F: hashed(func(x tf.Output) tf.Output { return ops.StringToHashBucketFast(x, many) })},
		sample{Op: "StringToHashBucketFast", Name: "ten", In: []*core.Tensor{mat(2, "a", "b", "", "c")}, F: hashed(func(x tf.Output) tf.Output { return ops.StringToHashBucketFast(x, 10) })},
		sample{Op: "_TensorToHashBucketFast", In: []*core.Tensor{vec[int32](0, 1, -1, 12345, 1<<31-1, -1<<31)}, F: internal("_TensorToHashBucketFast", tf.Attr("num_buckets", many)),
			Types: []tf.DType{tf.Int8, tf.Int16, tf.Int64}},
		sample{Op: "StringToHashBucketStrong", In: []*core.Tensor{x}, F: hashed(func(x tf.Output) tf.Output {
			return ops.StringToHashBucketStrong(x, many, [2]int64{98765, -132})
		})},
	)
}
