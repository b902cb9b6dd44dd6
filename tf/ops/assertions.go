package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

// asserted adds an Assert that condition holds, with a message in TensorFlow's
// words and the tensors that it is about.
func asserted(scope string, x tf.Output, build func() (condition tf.Output, data []tf.Output)) (op *tf.Operation) {
	if err := x.Err(); err != nil {
		if x.Graph() == nil {
			return Assert(x, nil) // which has the error
		}
		return tf.Failed(x.Graph(), scope, err)
	}
	x.Graph().Scope(scope, func() {
		condition, data := build()
		op = Assert(All(condition, AllAxes), data)
	})
	return op
}

// compared asserts that a comparison of x and y holds element by element. y is an
// Output, a Go number or whatever else author.AsOperand takes.
func compared(scope, sign string, x tf.Output, y any, f func(x, y tf.Output, opts ...tf.Option) tf.Output) *tf.Operation {
	return asserted(scope, x, func() (tf.Output, []tf.Output) {
		other := author.AsOperand(x, y)
		g := x.Graph()
		return f(x, other), []tf.Output{
			Scalar(g, "Condition x "+sign+" y did not hold element-wise:"),
			Scalar(g, "x ("+x.Name()+") = "), x, Scalar(g, "y ("+other.Name()+") = "), other,
		}
	})
}

// AssertEqual returns an operation that fails with InvalidArgument unless x and
// y, which broadcast, are equal element by element. What relies on it has to
// run after it: see tf.Graph.ControlDependencies. y may be a Go number. x and y
// have one type that Equal takes; an empty comparison passes, and NaN, which
// equals nothing, fails. Shapes that do not broadcast are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func AssertEqual(x tf.Output, y any) *tf.Operation {
	return compared("assert_equal", "==", x, y, Equal)
}

// AssertNoneEqual is AssertEqual for elements that must differ. NaN differs
// from everything and passes.
func AssertNoneEqual(x tf.Output, y any) *tf.Operation {
	return compared("assert_none_equal", "!=", x, y, NotEqual)
}

// AssertLess is AssertEqual for x < y. x and y hold real numbers; a NaN in
// either fails.
func AssertLess(x tf.Output, y any) *tf.Operation { return compared("assert_less", "<", x, y, Less) }

// AssertLessEqual is AssertEqual for x ≤ y. x and y hold real numbers; a NaN in
// either fails.
func AssertLessEqual(x tf.Output, y any) *tf.Operation {
	return compared("assert_less_equal", "<=", x, y, LessEqual)
}

// AssertGreater is AssertEqual for x > y. x and y hold real numbers; a NaN in
// either fails.
func AssertGreater(x tf.Output, y any) *tf.Operation {
	return compared("assert_greater", ">", x, y, Greater)
}

// AssertGreaterEqual is AssertEqual for x ≥ y. x and y hold real numbers; a NaN
// in either fails.
func AssertGreaterEqual(x tf.Output, y any) *tf.Operation {
	return compared("assert_greater_equal", ">=", x, y, GreaterEqual)
}

// AssertNear is AssertEqual for |x - y| ≤ atol + rtol·|y|. rtol and atol are
// converted to the type of x. It takes numbers that Abs and LessEqual take,
// which are real; a NaN in either fails.
func AssertNear(x tf.Output, y any, rtol, atol float64) *tf.Operation {
	return asserted("assert_near", x, func() (tf.Output, []tf.Output) {
		other, g := author.AsOperand(x, y), x.Graph()
		limit := AddV2(numberLike(x, atol), Mul(numberLike(x, rtol), Abs(other)))
		return LessEqual(Abs(Sub(x, other)), limit), []tf.Output{
			Scalar(g, "x and y not equal to tolerance rtol = "), numberLike(x, rtol), Scalar(g, ", atol = "), numberLike(x, atol),
			Scalar(g, "x ("+x.Name()+") = "), x, Scalar(g, "y ("+other.Name()+") = "), other,
		}
	})
}

// signed asserts something of the sign of x.
func signed(scope, text string, x tf.Output, f func(x, zero tf.Output, opts ...tf.Option) tf.Output) *tf.Operation {
	return asserted(scope, x, func() (tf.Output, []tf.Output) {
		g := x.Graph()
		return f(x, numberLike(x, 0)), []tf.Output{
			Scalar(g, "Condition "+text+" did not hold element-wise:"), Scalar(g, "x ("+x.Name()+") = "), x,
		}
	})
}

// AssertPositive returns an operation that fails with InvalidArgument unless
// all elements of x are greater than 0. x holds real numbers of any shape. An
// empty x passes; a NaN fails. What relies on the check has to run after the
// operation.
func AssertPositive(x tf.Output) *tf.Operation { return signed("assert_positive", "x > 0", x, Greater) }

// AssertNegative is AssertPositive for x < 0. A NaN fails.
func AssertNegative(x tf.Output) *tf.Operation { return signed("assert_negative", "x < 0", x, Less) }

// AssertNonNegative is AssertPositive for x ≥ 0. A NaN fails.
func AssertNonNegative(x tf.Output) *tf.Operation {
	return signed("assert_non_negative", "x >= 0", x, GreaterEqual)
}

// AssertNonPositive is AssertPositive for x ≤ 0. A NaN fails.
func AssertNonPositive(x tf.Output) *tf.Operation {
	return signed("assert_non_positive", "x <= 0", x, LessEqual)
}

// AssertRank returns an operation that fails with InvalidArgument unless x has
// one of the given ranks. A rank that is known while the graph is built is
// checked at once. x is of any type. A known rank that is not among ranks is an
// error of the graph with code INVALID_ARGUMENT; an unknown one is checked in
// the step.
func AssertRank(x tf.Output, ranks ...int) *tf.Operation {
	return ranked("assert_rank", x, func(r int) bool { return slices.Contains(ranks, r) }, func(rank tf.Output) tf.Output {
		return Equal(rank, intVec(x, tf.Int32, ranks...))
	}, ranks)
}

// AssertRankAtLeast is AssertRank for a rank of at least least. The rank is
// checked when the graph is built if it is known, else in the step.
func AssertRankAtLeast(x tf.Output, least int) *tf.Operation {
	return ranked("assert_rank_at_least", x, func(r int) bool { return r >= least }, func(rank tf.Output) tf.Output {
		return GreaterEqual(rank, intVec(x, tf.Int32, least))
	}, []int{least})
}

// ranked checks a rank that is known, and asserts one that is not.
func ranked(scope string, x tf.Output, ok func(int) bool, holds func(rank tf.Output) tf.Output, ranks []int) (op *tf.Operation) {
	s := x.Shape()
	if err := x.Err(); err != nil || s == nil {
		return asserted(scope, x, func() (tf.Output, []tf.Output) {
			g := x.Graph()
			return Any(holds(Rank(x)), AllAxes), []tf.Output{
				Scalar(g, "Tensor "+x.Name()+" must have rank"), intVec(x, tf.Int32, ranks...), Scalar(g, "Received shape: "), Shape(x),
			}
		})
	}
	if !ok(len(s)) {
		return tf.Failed(x.Graph(), scope, tf.Errorf(tf.InvalidArgument, "Tensor %s must have rank %v. Received rank %d, shape %v", x.Name(), ranks, len(s), s))
	}
	x.Graph().Scope(scope, func() { op = NoOp(x.Graph(), tf.Name("static_checks_determined_all_ok")) })
	return op
}

// IsNonDecreasing reports whether no element of x, in row-major order, is less
// than the one before: a bool scalar. x holds real numbers. With fewer than
// two elements the result is true; a NaN among more makes it false. Other
// types are refused with INVALID_ARGUMENT when the graph is built.
func IsNonDecreasing(x tf.Output) tf.Output {
	return scoped("is_non_decreasing", x, func() tf.Output { return neighbours(x, LessEqual) })
}

// IsStrictlyIncreasing reports whether each element of x, in row-major order,
// is greater than the one before. The result is a bool scalar. x holds real
// numbers; with fewer than two elements the result is true, and a NaN among
// more makes it false. Other types are refused with INVALID_ARGUMENT when the
// graph is built.
func IsStrictlyIncreasing(x tf.Output) tf.Output {
	return scoped("is_strictly_increasing", x, func() tf.Output { return neighbours(x, Less) })
}

func neighbours(x tf.Output, f func(x, y tf.Output, opts ...tf.Option) tf.Output) tf.Output {
	flat := Reshape(x, []int{-1})
	return All(f(flat.At(":-1"), flat.At("1:")), AllAxes)
}
