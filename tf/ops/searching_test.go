package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	sorted := mat[float32](4, 1, 2, 2, 5, -1, 0, 7, 9)
	for _, op := range []string{"LowerBound", "UpperBound"} {
		addSamples(
			sample{Op: op, In: []*core.Tensor{sorted, mat[float32](3, 0, 2, 6, 9, -2, 10)}, F: nary(op)},
			sample{Op: op, Name: "int64", In: []*core.Tensor{sorted, mat[float32](1, 2, 0)}, F: nary(op, ops.BoundOpts{OutType: tf.Int64})},
			failing(op, "rows", nary(op), sorted, mat[float32](1, 1)),
			failing(op, "vector", nary(op), vec[float32](1, 2), vec[float32](1)),
		)
	}
	hist := nary("HistogramFixedWidth")
	span := vec[float32](0, 5)
	addSamples(
		sample{Op: "HistogramFixedWidth", In: []*core.Tensor{vec[float32](-1, 0, 1.5, 2, 5, 15), span, scalar[int32](5)}, F: hist},
		sample{Op: "HistogramFixedWidth", Name: "int64", In: []*core.Tensor{vec[float32](-1, 0, 1.5, 2, 5, 15), span, scalar[int32](3)}, F: nary("HistogramFixedWidth", ops.HistogramOpts{DType: tf.Int64})},
		sample{Op: "HistogramFixedWidth", Name: "overflow", In: []*core.Tensor{vec[float32](3e38, 100), vec[float32](-1e38, 3e38), scalar[int32](2)}, F: hist, Types: onlyOwn},
		failing("HistogramFixedWidth", "no number", hist, vec(float32(math.NaN())), span, scalar[int32](5)),
		failing("HistogramFixedWidth", "range", hist, vec[float32](1), vec[float32](5, 0), scalar[int32](5)),
		failing("HistogramFixedWidth", "three", hist, vec[float32](1), vec[float32](5, 0, 1), scalar[int32](5)),
		failing("HistogramFixedWidth", "bins", hist, vec[float32](1), span, scalar[int32](0)),
	)
	unravel := nary("UnravelIndex")
	addSamples(
		sample{Op: "UnravelIndex", In: []*core.Tensor{i32(1621, 0, 5), i32(6, 7, 8, 9)}, F: unravel},
		sample{Op: "UnravelIndex", Name: "scalar", In: []*core.Tensor{scalar[int32](22), i32(7, 6)}, F: unravel},
		sample{Op: "UnravelIndex", Name: "negative", In: []*core.Tensor{i32(-1, -7), i32(2, 3)}, F: unravel},
		failing("UnravelIndex", "overflow", unravel, i32(1), i32(1<<20, 1<<11)),
		failing("UnravelIndex", "overflow of 64 bits", unravel, scalar[int64](1), vec[int64](1<<32, 1<<31)),
		failing("UnravelIndex", "negative size", unravel, i32(1), i32(2, -3)),
		failing("UnravelIndex", "no indices", unravel, i32(), i32(2, 3)),
		failing("UnravelIndex", "range", unravel, i32(42), i32(7, 6)),
		failing("UnravelIndex", "zero", unravel, i32(0), i32(7, 0)),
		failing("UnravelIndex", "matrix", unravel, mat[int32](1, 1), i32(7, 6)),
	)
	lin := nary("LinSpace")
	addSamples(
		sample{Op: "LinSpace", In: []*core.Tensor{scalar(float32(-1)), scalar(float32(10)), scalar[int32](7)}, F: lin},
		sample{Op: "LinSpace", Name: "one", In: []*core.Tensor{scalar(float32(-1)), scalar(float32(10)), scalar[int64](1)}, F: lin},
		failing("LinSpace", "none", lin, scalar(float32(-1)), scalar(float32(10)), scalar[int32](0)),
		failing("LinSpace", "vector", lin, vec[float32](-1), scalar(float32(10)), scalar[int32](2)),
	)
	addScanSamples()
	addPassedRefSamples()
}

func addScanSamples() {
	scan := nary("CumulativeLogsumexp")
	addSamples(
		sample{Op: "CumulativeLogsumexp", In: []*core.Tensor{seq(3, 4), scalar[int32](1)}, F: scan, Tol: 1e-5},
		sample{Op: "CumulativeLogsumexp", Name: "reverse", In: []*core.Tensor{seq(3, 4), scalar[int32](0)}, F: nary("CumulativeLogsumexp", ops.CumulativeOpts{Reverse: true}), Tol: 1e-5},
		sample{
			Op: "CumulativeLogsumexp", Name: "exclusive", In: []*core.Tensor{seq(4), scalar[int32](0)}, Tol: 1e-5,
			F: nary("CumulativeLogsumexp", ops.CumulativeOpts{Exclusive: true}), Rough: "the first is -Inf",
		},
		failing("CumulativeLogsumexp", "axis", scan, seq(3, 4), scalar[int32](2)),
	)
}

func addPassedRefSamples() {
	const refs = "reference variables are a matter of graphs"
	ref := func(in []tf.Output) tf.Output {
		return ops.Assign(ops.VariableV2(in[0].Graph(), in[0].DType(), in[0].Shape()), in[0])
	}
	with := func(f func(g *tf.Graph, r tf.Output, in []tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(g, ref(in), in)} }
	}
	static := func(op, name string, f func(g *tf.Graph, r tf.Output, in []tf.Output) tf.Output, in ...*core.Tensor) sample {
		return sample{Op: op, Name: name, In: in, F: with(f), GraphOnly: refs, Static: "the variable's shape", Rough: "variables end gradients", Types: onlyOwn}
	}
	addSamples(
		static("RefIdentity", "", func(_ *tf.Graph, r tf.Output, _ []tf.Output) tf.Output { return ops.Identity(ops.RefIdentity(r)) }, seq(2, 3)),
		static("RefSelect", "", func(_ *tf.Graph, r tf.Output, in []tf.Output) tf.Output {
			other := ops.Assign(ops.VariableV2(in[0].Graph(), in[0].DType(), in[0].Shape()), ops.Neg(in[0]))
			return ops.Identity(ops.RefSelect(in[1], []tf.Output{other, r}))
		}, seq(2, 3), scalar[int32](1)),
	)
}
