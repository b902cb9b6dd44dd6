package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "EditDistance"
	distance := func(o sparse.DistanceOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return outputs{sparse.EditDistance(sp(in, 0), sp(in, 3), o)}
		}
	}
	relative := distance(sparse.DistanceOpts{})
	hypothesis := tensors{at(2, 0, 0, 0, 1, 0, 2, 2, 0, 3, 1), vec[float32](1, 2, 3, 4, 5), i64(4, 4)}
	truth := tensors{at(2, 0, 0, 0, 1, 1, 0, 3, 0, 3, 1, 3, 2), vec[float32](1, 3, 1, 4, 5, 5), i64(5, 3)}
	both := append(append(tensors{}, hypothesis...), truth...)
	words := func(s ...string) (*core.Tensor, *core.Tensor) {
		var where []int64
		var letters []string
		for i, w := range s {
			for k, l := range w {
				where, letters = append(where, int64(i), int64(k)), append(letters, string(l))
			}
		}
		return at(2, where...), vec(letters...)
	}
	atX, x := words("kitten", "gorge", "flaw", "same")
	atY, y := words("sitting", "george", "lawn", "same")
	one := vec[float32](1)
	addSamples(
		valuesFirst(sample{Op: op, In: both, F: relative}),
		valuesFirst(sample{Op: op, Name: "absolute", In: both, F: distance(sparse.DistanceOpts{Absolute: true}), Types: optest.OnlyOwn}),
		sample{Op: op, Name: "words", In: tensors{atX, x, i64(4, 9), atY, y, i64(4, 9)}, F: relative, Types: optest.OnlyOwn},
		failing(op, "hypothesis's indices", relative, i64(1), one, shape34, atB, valuesB, shape34),
		failing(op, "truth's indices", relative, atA, valuesA, shape34, i64(1), one, shape34),
		failing(op, "hypothesis's values", relative, atA, core.Scalar(float32(1)), shape34, atB, valuesB, shape34),
		failing(op, "truth's values", relative, atA, valuesA, shape34, atB, core.Scalar(float32(1)), shape34),
		failing(op, "hypothesis's shape", relative, atA, valuesA, at(1, 1), atB, valuesB, shape34),
		failing(op, "truth's shape", relative, atA, valuesA, shape34, atB, valuesB, at(1, 1)),
		failing(op, "hypothesis's columns", relative, atA, valuesA, i64(3), atB, valuesB, shape34),
		failing(op, "truth's columns", relative, atA, valuesA, shape34, atB, valuesB, i64(1, 2, 3)),
		failing(op, "truth's rank", relative, atA, valuesA, shape34, at(1, 0), one, i64(3)),
		failing(op, "ranks", relative, atA, valuesA, shape34, at(3, 0, 0, 0), one, i64(3, 3, 3)),
		failing(op, "number", relative, atA, one, shape34, atB, valuesB, shape34),
		failing(op, "negative", relative, atA, valuesA, i64(-3, 4), atB, valuesB, shape34),
		failing(op, "nothing", relative, none(3), vec[float32](), i64(2, 0, 3), none(3), vec[float32](), i64(2, 0, 3)),
		failing(op, "bounds", relative, at(2, 7, 0), one, shape34, none(2), vec[float32](), shape34),
	)
}
