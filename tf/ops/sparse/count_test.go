package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

// counts makes the function of a sample that counts.
func counts(op string, o sparse.CountOpts) func(*tf.Graph, []tf.Output) []tf.Output {
	return applied(op, o)
}

func init() {
	const dense, sparsely, ragged = "DenseCountSparseOutput", "SparseCountSparseOutput", "RaggedCountSparseOutput"
	x, none := arr[int64](tf.Shape{2, 4}, 3, 1, 1, 7, 0, 5, 0, 0), vec[int32]()
	weights := arr[float32](tf.Shape{2, 4}, 0.5, 1, -2, 3, 1, 2, 3, 4)
	at, vals, shape := arr[int64](tf.Shape{3, 2}, 0, 1, 2, 0, 2, 3), i32(4, 1, 1), i64(3, 4)
	splits := i64(0, 2, 2, 5)
	for name, o := range map[string]sparse.CountOpts{"": {}, "least": {MinLength: 10}, "most": {MaxLength: 4}, "binary": {Binary: true}, "both": {MinLength: 10, MaxLength: 2}} {
		addSamples(
			sample{Op: dense, Name: name, In: tensors{x, none}, F: counts(dense, o), Types: optest.OnlyOwn},
			sample{Op: dense, Name: "weights " + name, In: tensors{x, weights}, F: counts(dense, o), Types: optest.OnlyOwn},
			sample{Op: dense, Name: "vector " + name, In: tensors{i32(2, 5, 2), vec[int64](10, 20, 30)}, F: counts(dense, o), Types: optest.OnlyOwn},
			sample{Op: sparsely, Name: name, In: tensors{at, vals, shape, vec[float64]()}, F: counts(sparsely, o), Types: optest.OnlyOwn},
			sample{Op: sparsely, Name: "vector " + name, In: tensors{arr[int64](tf.Shape{2, 1}, 1, 4), i64(2, 2), i64(5), vec(0.5, 2)}, F: counts(sparsely, o), Types: optest.OnlyOwn},
			sample{Op: ragged, Name: name, In: tensors{splits, i32(5, 5, 1, 2, 1), none}, F: counts(ragged, o), Types: optest.OnlyOwn},
			sample{Op: ragged, Name: "weights " + name, In: tensors{splits, i64(5, 5, 1, 2, 1), vec[float32](1, 2, 3, 4, 5)}, F: counts(ragged, o), Types: optest.OnlyOwn},
		)
	}
	d, s, r := counts(dense, sparse.CountOpts{}), counts(sparsely, sparse.CountOpts{}), counts(ragged, sparse.CountOpts{})
	addSamples(
		sample{Op: dense, Name: "empty", In: tensors{i32(), none}, F: d, Types: optest.OnlyOwn},
		failing(dense, "scalar", d, core.Scalar[int32](1), none),
		failing(dense, "rows", d, arr[int32](tf.Shape{0, 3}), none),
		failing(dense, "negative", d, i32(1, -1), none),
		failing(dense, "weights", d, i32(1, 1), i32(1)),
		failing(sparsely, "index", s, at, vals, i64(3, 3), none),
		failing(sparsely, "deep", s, arr[int64](tf.Shape{1, 4}, 0, 1, 2, 3), i32(1), i64(9, 9, 9, 3), none),
		failing(sparsely, "count", s, at, i32(1, 2), shape, none),
		failing(sparsely, "rank", s, at, vals, i64(3), none),
		failing(sparsely, "values", s, at, arr[int32](tf.Shape{3, 1}, 1, 2, 3), shape, none),
		failing(sparsely, "negative", s, at, i32(1, -2, 3), shape, none),
		failing(sparsely, "weights", s, at, vals, shape, i32(1)),
		failing(sparsely, "no rows", s, arr[int64](tf.Shape{0, 2}), i32(), i64(0, 4), none),
		failing(ragged, "splits", r, i64(0), i32(), none),
		failing(ragged, "begin", r, i64(1, 2), i32(1, 2), none),
		failing(ragged, "end", r, i64(0, 1), i32(1, 2), none),
		failing(ragged, "negative", r, i64(0, 1), i32(-1), none),
		failing(ragged, "weights", r, i64(0, 1), i32(1), i32(1, 2)),
	)
}
