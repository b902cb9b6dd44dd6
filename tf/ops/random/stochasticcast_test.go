package random_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "StochasticCastToInt"
	for _, d := range []tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64} {
		for _, to := range []tf.DType{tf.Int8, tf.Int16, tf.Int32} {
			for name, x := range map[string]*core.Tensor{
				"": optest.Convert(optest.Within(-30, 40, 37), d), "few": optest.Convert(optest.Within(-3, 4, 5), d),
				"far": optest.Convert(vec(float32(math.Inf(-1)), -1e4, -200, -128, -0.25, 0, 126.5, 127, 200, 3e4, float32(math.NaN())), d),
			} {
				addSamples(sample{Op: op, Name: d.String() + " " + to.String() + " " + name, In: append([]*core.Tensor{x}, key()...), F: nary(op, tf.Attr("Tout", to)), Types: onlyOwn})
			}
		}
	}
	addSamples(
		failing(op, "key", nary(op, tf.Attr("Tout", tf.Int8)), vec[float32](1.5), vec[uint64](1, 2), vec[uint64](1, 2), scalar[int32](1)),
		failing(op, "algorithm", nary(op, tf.Attr("Tout", tf.Int8)), vec[float32](1.5), vec[uint64](1), vec[uint64](1, 2), scalar[int32](7)))
}
