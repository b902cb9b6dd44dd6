package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

var keepDims = ReduceOpts{KeepDims: true}

// Moments returns the mean and the variance of x along axes: tf.nn.moments.
// With keep the reduced dimensions stay, with size 1. Half precision is
// computed in float32; both results have the type of x. The variance is the
// mean of the squared differences from the mean. axes are those of Mean:
// AllAxes stands for all, negative ones count from the end, and axes out of
// range or named twice are refused with INVALID_ARGUMENT. No axes give x and
// zeros, of which, as in TensorFlow, all dimensions of size 1 go unless keep is set.
func Moments(x tf.Output, axes []int, keep bool) (mean, variance tf.Output) {
	mean = scoped("moments", x, func() tf.Output {
		y := widest(x)
		m := Mean(y, axes, keepDims, tf.Name("mean"))
		v := Mean(SquaredDifference(y, StopGradient(m)), axes, keepDims, tf.Name("variance"))
		variance = castTo(dropDims(v, axes, keep), x.DType().Base())
		return castTo(dropDims(m, axes, keep), x.DType().Base())
	})
	if x.Err() != nil {
		variance = x
	}
	return mean, variance
}

// dropDims removes axes, which have size 1, unless keep.
func dropDims(x tf.Output, axes []int, keep bool) tf.Output {
	if keep {
		return x
	}
	if axes == nil {
		return Reshape(x, []int{})
	}
	return Squeeze(x, axes)
}

// WeightedMoments is Moments of elements that count by weights, which
// broadcast against x. The weights are converted to the type of x, to float32
// for half precision. Shapes that do not broadcast are refused with
// INVALID_ARGUMENT. Where the weights add up to 0 both results are NaN.
func WeightedMoments(x tf.Output, axes []int, weights tf.Output, keep bool) (mean, variance tf.Output) {
	if err := weights.Err(); err != nil || x.Err() != nil {
		bad := x
		if x.Err() == nil {
			bad = weights
		}
		return bad, bad
	}
	mean = scoped("weighted_moments", x, func() tf.Output {
		y := widest(x)
		w := castTo(weights, y.DType().Base())
		total := Sum(Add(w, ZerosLike(y)), axes, keepDims)
		part := Reciprocal(total)
		m := Mul(Sum(Mul(w, y), axes, keepDims), part)
		v := Mul(Sum(Mul(w, SquaredDifference(y, m)), axes, keepDims), part)
		variance = castTo(dropDims(v, axes, keep), x.DType().Base())
		return castTo(dropDims(m, axes, keep), x.DType().Base())
	})
	return mean, variance
}

// Statistics are sums from which NormalizeMoments computes a mean and a variance;
// those of several parts of the data may be added up.
type Statistics struct {
	Count tf.Output // how many elements, a scalar
	Sum   tf.Output // of the elements less Shift
	Sum2  tf.Output // of their squares
	// Shift is a number near the mean that keeps the sums small; none if zero.
	Shift tf.Output
}

// SufficientStatistics returns the statistics of x along axes. shift, which
// may be the zero Output, is subtracted from the elements first; it has the
// type of x and broadcasts against it. The two sums keep the reduced
// dimensions, with size 1, if keep is set; the count is a scalar of the type
// of x. axes out of range are refused with INVALID_ARGUMENT.
func SufficientStatistics(x tf.Output, axes []int, shift tf.Output, keep bool) (s Statistics) {
	s.Shift = shift
	s.Count = scoped("sufficient_statistics", x, func() tf.Output {
		y, squares := x, tf.Output{}
		if shift.IsZero() {
			squares = Square(x)
		} else {
			y, squares = Sub(x, shift), SquaredDifference(x, shift)
		}
		s.Sum = Sum(y, axes, ReduceOpts{KeepDims: keep}, tf.Name("mean_ss"))
		s.Sum2 = Sum(squares, axes, ReduceOpts{KeepDims: keep}, tf.Name("var_ss"))
		return countAlong(x, axes)
	})
	if x.Err() != nil {
		s.Sum, s.Sum2 = x, x
	}
	return s
}

// countAlong returns how many elements of x lie along axes, in the type of x.
func countAlong(x tf.Output, axes []int) tf.Output {
	if axes == nil {
		return castTo(Size(x), x.DType().Base())
	}
	n := intScalar(x, tf.Int32, 1)
	for _, a := range axes {
		n = Mul(n, dim(x, a))
	}
	return castTo(n, x.DType().Base())
}

// NormalizeMoments returns the mean and the variance that statistics stand
// for. Both have the shape and the type of s.Sum. The variance is Sum2/Count
// less (Sum/Count)²; rounding may make it negative where it is near 0. The
// statistics have one type, of floating-point or complex numbers; other types
// are refused as Reciprocal refuses them. Shapes that do not broadcast are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
func NormalizeMoments(s Statistics) (mean, variance tf.Output) {
	mean = scoped("normalize", s.Sum, func() tf.Output {
		part := Reciprocal(s.Count, tf.Name("divisor"))
		shifted := Mul(s.Sum, part)
		variance = Sub(Mul(s.Sum2, part), Square(shifted), tf.Name("variance"))
		if s.Shift.IsZero() {
			return shifted
		}
		return AddV2(shifted, s.Shift, tf.Name("mean"))
	})
	if s.Sum.Err() != nil {
		variance = s.Sum
	}
	return mean, variance
}

// BatchNormalization returns (x - mean)·scale/√(variance + epsilon) + offset.
// The method is that of Ioffe and Szegedy (ICML 2015, arXiv:1502.03167). All
// of mean, variance, offset and scale broadcast against x; offset and scale
// may be the zero Output. They have one floating-point type, which may be
// another than that of x; the result has the type of x. Shapes that do not
// broadcast are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func BatchNormalization(x, mean, variance, offset, scale tf.Output, epsilon float64) tf.Output {
	return scoped("batchnorm", x, func() tf.Output {
		inv := Rsqrt(AddV2(variance, numberLike(variance, epsilon)))
		if !scale.IsZero() {
			inv = Mul(inv, scale)
		}
		d := x.DType().Base()
		shift := Neg(Mul(mean, inv))
		if !offset.IsZero() {
			shift = Sub(offset, Mul(mean, inv))
		}
		return AddV2(Mul(x, castTo(inv, d)), castTo(shift, d))
	})
}

// Variance returns the variances of x along axes, all if axes is AllAxes. x
// holds numbers: means of integers are truncated, and the variances of
// complex numbers, means of |x - mean|², are real. ReduceOpts keeps the
// dimensions, with size 1. axes are those of Mean, which refuses those out of
// range with INVALID_ARGUMENT.
func Variance[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return scoped("reduce_variance", x, func() tf.Output {
		at := author.AsInts(x, axes)
		if s, ok := any(axes).([]int); ok && s == nil {
			at = Range(nil, intScalar(x, tf.Int32, 0), Rank(x), intScalar(x, tf.Int32, 1))
		}
		squares := Square(Sub(x, Mean(x, at, keepDims)))
		if x.DType().Base().IsComplex() {
			off := Sub(x, Mean(x, at, keepDims))
			squares = Real(Mul(off, Conj(off)))
		}
		return Mean(squares, at, opts...)
	})
}

// StdDev returns the standard deviations of x along axes, all if axes is
// AllAxes. They are the square roots of Variance, with its options and
// errors; x holds floating-point or complex numbers.
func StdDev[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return scoped("reduce_std", x, func() tf.Output { return Sqrt(Variance(x, axes, opts...)) })
}

// LogSumExp returns log(Σ exp(x)) along axes, without overflow:
// tf.reduce_logsumexp. x holds floating-point numbers (float16, bfloat16,
// float32, float64). With keep the reduced dimensions stay, with size 1. The
// result is -Inf where all elements are -Inf or there are none, and NaN where
// one is NaN. axes are those of Max, which refuses those out of range with
// INVALID_ARGUMENT.
func LogSumExp(x tf.Output, axes []int, keep bool) tf.Output {
	return scoped("ReduceLogSumExp", x, func() tf.Output {
		m := Max(x, axes, keepDims)
		m = StopGradient(SelectV2(IsFinite(m), m, ZerosLike(m)))
		y := AddV2(Log(Sum(Exp(Sub(x, m)), axes, keepDims)), m)
		return dropDims(y, axes, keep || axes != nil && len(axes) == 0) // nothing was reduced
	})
}

// CountNonzero returns how many elements along axes are not zero, not false,
// or not the empty string: int64 numbers. x holds numbers, bools or strings;
// NaN is not zero. ReduceOpts keeps the dimensions, with size 1. axes are
// those of Sum, which refuses those out of range with INVALID_ARGUMENT.
func CountNonzero[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return scoped("count_nonzero", x, func() tf.Output {
		return Sum(Cast(NotEqual(x, ZerosLike(x)), tf.Int64), axes, opts...)
	})
}

// ZeroFraction returns which part of the elements of x is zero, a float32
// scalar. x has any shape and holds numbers, bools or strings. The part of no
// elements is NaN. Resource handles and variants have no kernel and fail the
// step with NOT_FOUND.
func ZeroFraction(x tf.Output) tf.Output {
	return scoped("zero_fraction", x, func() tf.Output {
		size := Size(x, ShapeOpts{OutType: tf.Int64})
		zeros := Sub(size, CountNonzero(x, AllAxes))
		return RealDiv(Cast(zeros, tf.Float32), Cast(size, tf.Float32), tf.Name("fraction"))
	})
}

// L2Normalize returns x divided by its Euclidean norm along axes, where the
// square of the norm is at least epsilon (TensorFlow's default is 1e-12). The
// result has the shape and the type of x, which holds floating-point or
// complex numbers. axes are those of Sum, which refuses those out of range
// with INVALID_ARGUMENT.
func L2Normalize(x tf.Output, axes []int, epsilon float64) tf.Output {
	return scoped("l2_normalize", x, func() tf.Output {
		squares := Square(x)
		if x.DType().Base().IsComplex() {
			squares = Real(Mul(x, Conj(x)))
		}
		sum := Sum(squares, axes, keepDims)
		inv := Rsqrt(Maximum(sum, numberLike(sum, epsilon)))
		return Mul(x, castTo(inv, x.DType().Base()))
	})
}
