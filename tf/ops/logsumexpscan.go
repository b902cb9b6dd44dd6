package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "CumulativeLogsumexp", In: "x: T; axis: Tidx", Out: "out: T",
		Attrs: "exclusive: bool = false; reverse: bool = false; T: {" + floatTypes + "}; Tidx: {int32, int64} = int32",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(cumulativeLogsumexpGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32:  logSumScan(elementwise.LogAddExp[float32], float32(math.Inf(-1))),
			tf.Float64:  logSumScan(elementwise.LogAddExp[float64], math.Inf(-1)),
			tf.Float16:  logSumScan(func(z, x, y []tf.Half) { elementwise.Widen2(z, x, y, elementwise.LogAddExp[float32]) }, numeric.HalfFromFloat32(float32(math.Inf(-1)))),
			tf.BFloat16: logSumScan(func(z, x, y []tf.BF16) { elementwise.Widen2(z, x, y, elementwise.LogAddExp[float32]) }, numeric.BFloat16FromFloat32(float32(math.Inf(-1)))),
		}),
	})
}

// lowestBFloat16 is the lowest finite number of the type.
const lowestBFloat16 = -0x1.fep127

// CumulativeLogsumexp returns the logarithms of the running sums of e^x along
// an axis. CumulativeOpts are its optional attributes; an exclusive one
// begins with the logarithm of zero. It does not overflow. x holds
// floating-point numbers (float16, bfloat16, float32, float64); the result
// has its shape and type. An axis that is no scalar or not in [-rank, rank)
// is refused with INVALID_ARGUMENT in the step.
func CumulativeLogsumexp[A tf.Int](x tf.Output, axis A, opts ...tf.Option) tf.Output {
	return apply("CumulativeLogsumexp", opts, x, author.AsInt(x, axis))
}

func logSumScan[T elem](join func(z, x, y []T), init T) core.NewKernel {
	return scan[T]{join: join, init: init, abreast: scanAbreast[T]}.kernel()
}

// linesAbreast lines, and as many of their elements, are turned at a time: both ways in the
// first-level cache.
const linesAbreast = 48

// scanAbreast sets dst to the running folds along lines of n elements of src.
func scanAbreast[T elem](s *scan[T], dst, src []T, n int) {
	const block = linesAbreast * linesAbreast
	room, loan := core.Lend[T](2*block + linesAbreast)
	in, out, acc := room[:block], room[block:2*block], room[2*block:]
	for ; len(src) > 0; dst, src = dst[min(len(dst), linesAbreast*n):], src[min(len(src), linesAbreast*n):] {
		lines := min(len(src)/n, linesAbreast)
		kernel.Fill(acc, s.init)
		for done := 0; done < n; done += linesAbreast {
			k := min(linesAbreast, n-done)
			at := done
			if s.reverse {
				at = n - done - k
			}
			for i := range lines {
				for j, v := range src[i*n+at:][:k] {
					in[j*lines+i] = v
				}
			}
			s.run(out[:k*lines], in[:k*lines], acc[:lines], k, lines)
			for i := range lines {
				line := dst[i*n+at:][:k]
				for j := range line {
					line[j] = out[j*lines+i]
				}
			}
		}
	}
	loan.Return()
}

// cumulativeLogsumexpGrad takes the positive and the negative part of the
// gradient by themselves, so that it can be computed in logarithms.
func cumulativeLogsumexpGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, axis, y, g := op.Input(0), op.Input(1), op.Output(0), dy[0]
	opts := CumulativeOpts{op.Bool("exclusive"), !op.Bool("reverse")}
	lowest := ConstValue(g.Graph(), lowestNumber(g.DType()))
	part := func(positive, part tf.Output) tf.Output {
		logs := SelectV2(positive, Log(part), lowest)
		return Exp(AddV2(CumulativeLogsumexp(Sub(logs, y), axis, opts), x))
	}
	zero := numberLike(g, 0)
	dx := Sub(part(Greater(g, zero), g), part(Less(g, zero), Neg(g)))
	return tf.Grads(dx, tf.Output{})
}

// lowestNumber returns the lowest finite number of a floating-point type.
func lowestNumber(d tf.DType) *core.Tensor {
	switch d {
	case tf.Float64:
		return core.Scalar(float64(-math.MaxFloat64))
	case tf.Float16:
		return core.Scalar(numeric.HalfFromFloat32(-65504))
	case tf.BFloat16:
		return core.Scalar(numeric.BFloat16FromFloat32(lowestBFloat16))
	}
	return core.Scalar(float32(-math.MaxFloat32))
}
