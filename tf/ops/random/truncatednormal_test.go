package random_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	inf := float32(math.Inf(1))
	type bounds struct {
		name                       string
		mean, deviation, low, high *core.Tensor
	}
	one := func(v float32) *core.Tensor { return scalar(v) }
	const op, stateless = "ParameterizedTruncatedNormal", "StatelessParameterizedTruncatedNormal"
	f, g := nary(op, seeds()...), nary(stateless)
	for _, b := range []bounds{
		{"", one(0.5), one(2), one(-3), one(4)},
		{"narrow", one(0), one(1), one(0.5), one(0.75)},
		{"tail", one(0), one(1), one(4), one(inf)},
		{"lower tail", one(1), one(2), one(-inf), one(-6)},
		{"rows", vec[float32](0, 10, -10), one(1), vec[float32](-1, 9.5, -inf), vec[float32](3, 100, -12)},
	} {
		in, types := []*core.Tensor{b.mean, b.deviation, b.low, b.high}, []tf.DType{tf.Float64, tf.Float16}
		for _, d := range append(types, tf.Float32) {
			var p []*core.Tensor
			for _, t := range in {
				p = append(p, optest.Convert(t, d))
			}
			name := b.name + d.String()
			addSamples(
				sample{Op: op, Name: name, In: append([]*core.Tensor{i32(3, 7)}, p...), F: f, Types: onlyOwn, Tol: libm},
				sample{Op: stateless, Name: name, In: append([]*core.Tensor{i32(7, 3), seed}, p...), F: g, Types: onlyOwn, Tol: libm})
		}
	}
	addSamples(
		sample{Op: op, Name: "many", In: []*core.Tensor{i32(251), one(0), one(1), one(-1), one(1)}, F: f, Types: onlyOwn, Tol: libm},
		sample{Op: op, Name: "none", In: []*core.Tensor{i32(0, 3), one(0), one(1), one(-1), one(1)}, F: f, Types: onlyOwn},
		sample{Op: stateless, Name: "none", In: []*core.Tensor{i32(0, 3), seed, one(0), one(1), one(-1), one(1)}, F: g, Types: onlyOwn},
		sample{Op: stateless, Name: "scalar", In: []*core.Tensor{i32(), seed, one(0), one(1), one(-1), one(1)}, F: g, Types: onlyOwn, Tol: libm},
		failing(op, "shape", f, i32(), one(0), one(1), one(-1), one(1)),
		failing(op, "deviation", f, i32(2), one(0), one(-1), one(-1), one(1)),
		failing(op, "bounds", f, i32(2), one(0), one(1), one(1), one(1)),
		failing(op, "infinite", f, i32(2), one(0), one(1), one(-inf), one(inf)),
		failing(op, "rows", f, i32(2), vec[float32](1, 2, 3), one(1), one(1), one(3)),
		failing(op, "matrix", f, i32(2), one(1), one(1), one(1), mat[float32](1, 3, 4)),
		failing(op, "no number", f, i32(2), one(float32(math.NaN())), one(1), one(1), one(3)),
		failing(stateless, "shape", g, i32(2), seed, vec[float32](1, 2, 3), one(1), one(1), one(3)),
		failing(stateless, "batches", g, i32(3), seed, vec[float32](1, 2, 3), vec[float32](1, 2), one(1), one(3)),
		failing(stateless, "seed", g, i32(3), vec[int64](1), one(0), one(1), one(1), one(3)),
	)
	addBinomialSamples()
}

func addBinomialSamples() {
	const op, stateful = "StatelessRandomBinomial", "StatefulRandomBinomial"
	state := vec[int64](1, 2, 3)
	for _, d := range []tf.DType{tf.Float64, tf.Float32, tf.Float16} {
		counts := optest.Convert(vec[float32](1000, 7, 40, 0, 50, 3), d)
		probs := optest.Convert(vec[float32](0.3, 0.4, 0.95, 0.5, 0.5, 1.5), d)
		for _, r := range []tf.DType{tf.Int64, tf.Int32, tf.Float64, tf.Float16, tf.Float32} {
			addSamples(sample{Op: op, Name: d.String() + r.String(), In: []*core.Tensor{i32(5, 6), seed, counts, probs}, F: nary(op, tf.Attr("dtype", r)), Types: onlyOwn})
		}
		addSamples(sample{
			Op: stateful, Name: d.String(), In: []*core.Tensor{state, scalar[int64](1), i32(2, 4, 6), counts, probs},
			F: fromGenerator(applied(stateful)), Types: onlyOwn,
		})
	}
	f, g := nary(op), fromGenerator(applied(stateful))
	counts, probs := mat[float64](1, 5, 50), vec(0.25, 0.75, math.NaN())
	addSamples(
		sample{Op: op, Name: "broadcast", In: []*core.Tensor{i32(3, 2, 3), seed, counts, probs}, F: nary(op, tf.Attr("dtype", tf.Float32)), Types: onlyOwn},
		sample{Op: op, Name: "none", In: []*core.Tensor{i32(0, 3), seed, scalar(1.0), probs}, F: f, Types: onlyOwn},
		failing(op, "shape", f, i32(2), seed, counts, probs),
		failing(op, "batches", f, i32(2), seed, vec(1.0, 2), probs),
		failing(op, "seed", f, i32(2), i32(1), probs, probs),
		failing(stateful, "algorithm", g, state, scalar[int64](3), i32(3), probs, probs),
		sample{Op: stateful, Name: "bad state", In: []*core.Tensor{vec[int64](1, 2), scalar[int64](1), i32(3), probs, probs}, F: g, Fails: true, Types: onlyOwn, NoGolden: "TensorFlow's words differ by an article here"},
	)
}
