package random_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	classes := mat[int64](2, 0, 5, 3, 1)
	of := func(n int, unique bool) []tf.Option {
		return seeds(tf.Attr("num_true", 2), tf.Attr("num_sampled", n), tf.Attr("unique", unique))
	}
	for _, op := range []string{"UniformCandidateSampler", "LogUniformCandidateSampler"} {
		below := tf.Attr("range_max", 32)
		addSamples(
			sample{Op: op, In: []*core.Tensor{classes}, F: nary(op, append(of(20, true), below)...), Tol: libm},
			sample{Op: op, Name: "again", In: []*core.Tensor{classes}, F: nary(op, append(of(20, false), below)...), Tol: libm},
			failing(op, "range", nary(op, append(of(33, true), below)...), classes),
			failing(op, "columns", nary(op, append(of(3, true), below)...), mat[int64](3, 1, 2, 3)))
	}
	hits := nary("ComputeAccidentalHits", tf.Attr("num_true", 2))
	addSamples(
		sample{Op: "AllCandidateSampler", In: []*core.Tensor{classes}, F: nary("AllCandidateSampler", of(6, true)...)},
		sample{Op: "ComputeAccidentalHits", In: []*core.Tensor{classes, vec[int64](1, 9, 0, 3)}, F: hits},
		sample{Op: "ComputeAccidentalHits", Name: "none", In: []*core.Tensor{classes, vec[int64](10, 9)}, F: hits},
		failing("ComputeAccidentalHits", "matrix", hits, classes, mat[int64](1, 1)),
	)
}
