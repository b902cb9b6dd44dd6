package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// ApproxTopK finds the greatest elements, or with Least the least.
func ExampleApproxTopK() {
	g := eager.New()
	x := ops.Const(g, []float32{3, 9, 1, 7})
	greatest, _ := ops.ApproxTopK(x, 2)
	least, at := ops.ApproxTopK(x, 2, ops.ApproxTopKOpts{Least: true})
	for _, y := range []tf.Output{greatest, least, at} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2]{9, 7} <nil>
	// float32[2]{1, 3} <nil>
	// int32[2]{2, 0} <nil>
}

// Numbers that differ by less than the tolerance count as equal.
func ExampleApproximateEqual() {
	g := eager.New()
	x, y := ops.Const(g, []float32{1, 2, 3}), ops.Const(g, []float32{1.05, 2, 3.5})
	for _, tolerance := range []float32{0.01, 0.1, 1} {
		v, err := ops.ApproximateEqual(x, y, ops.ApproximateEqualOpts{Tolerance: tolerance}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// bool[3]{false, true, false} <nil>
	// bool[3]{true, true, false} <nil>
	// bool[3]{true, true, true} <nil>
}

// Positions are int64 unless another type is asked for.
func ExampleArgMin() {
	g := eager.New()
	x := ops.Const(g, []float32{3, 1, 2, 4, 6, 5}, 2, 3)
	v, err := ops.ArgMin(x, 1).Value()
	fmt.Println(v, err)
	v, err = ops.ArgMin(x, 1, ops.ArgOpts{OutputType: tf.Int32}).Value()
	fmt.Println(v, err)
	// Output:
	// int64[2]{1, 0} <nil>
	// int32[2]{1, 0} <nil>
}

// Batches of matrices are multiplied; AdjX takes the conjugate transposes of
// the first ones.
func ExampleBatchMatMulV2() {
	g := eager.New()
	x := ops.Const(g, []complex64{1i, 2, 3, 4}, 1, 2, 2)
	y := ops.Const(g, []complex64{1, 0, 0, 1}, 1, 2, 2)
	v, err := ops.BatchMatMulV2(x, y).Value()
	fmt.Println(v, err)
	v, err = ops.BatchMatMulV2(x, y, ops.BatchMatMulOpts{AdjX: true}).Value()
	fmt.Println(v, err)
	// Output:
	// complex64[1,2,2]{(0+1i), (2+0i), (3+0i), (4+0i)} <nil>
	// complex64[1,2,2]{(0-1i), (3+0i), (2+0i), (4+0i)} <nil>
}

// Bins count how often each number occurs; with Binary they tell whether it
// does.
func ExampleDenseBincount() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 3, 3, 1, 1})
	size, weights := ops.Scalar[int32](g, 5), ops.Const(g, []int32{})
	v, err := ops.DenseBincount(x, size, weights).Value()
	fmt.Println(v, err)
	v, err = ops.DenseBincount(x, size, weights, ops.BincountOpts{Binary: true}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[5]{0, 3, 0, 2, 0} <nil>
	// int32[5]{0, 1, 0, 1, 0} <nil>
}

// The positions at which values would keep rows sorted: before the elements
// equal to them, or with UpperBound behind.
func ExampleLowerBound() {
	g := eager.New()
	sorted := ops.Const(g, []float32{1, 3, 3, 5}, 1, 4)
	values := ops.Const(g, []float32{3, 4}, 1, 2)
	v, err := ops.LowerBound(sorted, values).Value()
	fmt.Println(v, err)
	v, err = ops.UpperBound(sorted, values, ops.BoundOpts{OutType: tf.Int64}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[1,2]{1, 3} <nil>
	// int64[1,2]{3, 3} <nil>
}

// Floating-point numbers are rounded to a type of fewer bits unless Truncate
// cuts those bits off.
func ExampleCastOpts() {
	g := eager.New()
	x := ops.Const(g, []float32{1.999})
	for _, truncate := range []bool{false, true} {
		short := ops.Cast(x, tf.BFloat16, ops.CastOpts{Truncate: truncate})
		v, err := ops.Cast(short, tf.Float32).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1]{2} <nil>
	// float32[1]{1.9921875} <nil>
}

// Sums of all elements up to each one. Exclusive leaves that one out, Reverse
// begins at the end.
func ExampleCumsum() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4})
	for _, o := range []ops.CumulativeOpts{{}, {Exclusive: true}, {Reverse: true}} {
		v, err := ops.Cumsum(x, 0, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[4]{1, 3, 6, 10} <nil>
	// int32[4]{0, 1, 3, 6} <nil>
	// int32[4]{10, 9, 7, 4} <nil>
}

// Operands whose shapes do not fit are a mistake, or simply different.
func ExampleEqual() {
	g := eager.New()
	x, y := ops.Const(g, []int32{1, 2}), ops.Const(g, []int32{1, 2, 3})
	_, err := ops.Equal(x, y).Value()
	fmt.Println(tf.CodeOf(err))
	v, err := ops.Equal(x, y, ops.EqualOpts{UnfitDiffer: true}).Value()
	fmt.Println(v, err)
	// Output:
	// INVALID_ARGUMENT
	// bool[]{false} <nil>
}

// What lies outside of the range counts for the bins at its ends.
func ExampleHistogramFixedWidth() {
	g := eager.New()
	x := ops.Const(g, []float32{-1, 0, 1.5, 2, 5, 15})
	bounds := ops.Const(g, []float32{0, 5})
	v, err := ops.HistogramFixedWidth(x, bounds, ops.Scalar[int32](g, 5), ops.HistogramOpts{DType: tf.Int64}).Value()
	fmt.Println(v, err)
	// Output: int64[5]{2, 1, 1, 0, 2} <nil>
}

// The elements of x that are not in y, and their positions.
func ExampleListDiff() {
	g := eager.New()
	x, y := ops.Const(g, []int32{1, 2, 3, 4}), ops.Const(g, []int32{2, 4})
	rest, at := ops.ListDiff(x, y, ops.ListDiffOpts{OutIdx: tf.Int64})
	for _, y := range []tf.Output{rest, at} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2]{1, 3} <nil>
	// int64[2]{0, 2} <nil>
}

// The element at a place in ascending order, or with Reverse in descending
// order, counted from 0.
func ExampleNthElement() {
	g := eager.New()
	x, n := ops.Const(g, []float32{5, 1, 4, 2, 3}), ops.Scalar[int32](g, 1)
	v, err := ops.NthElement(x, n).Value()
	fmt.Println(v, err)
	v, err = ops.NthElement(x, n, ops.NthElementOpts{Reverse: true}).Value()
	fmt.Println(v, err)
	// Output:
	// float32[]{2} <nil>
	// float32[]{4} <nil>
}

// The parts of a complex128 are float64, those of a complex64 float32. Tout
// says so where the type is to be seen; there is no kernel for another one.
func ExampleComplexAbs() {
	g := eager.New()
	x := ops.Const(g, []complex128{3 + 4i, 5i})
	v, err := ops.ComplexAbs(x, ops.PartOpts{Tout: tf.Float64}).Value()
	fmt.Println(v, err)
	_, err = ops.ComplexAbs(x, ops.PartOpts{Tout: tf.Float32}).Value()
	fmt.Println(tf.CodeOf(err))
	// Output:
	// float64[2]{5, 5} <nil>
	// NOT_FOUND
}

// KeepDims leaves the dimension that is summed with size 1, so that the result
// can be broadcast against the operand.
func ExampleSum() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	v, err := ops.Sum(x, []int{1}).Value()
	fmt.Println(v, err)
	v, err = ops.Sum(x, []int{1}, ops.ReduceOpts{KeepDims: true}).Value()
	fmt.Println(v, err)
	// Output:
	// float32[2]{6, 15} <nil>
	// float32[2,1]{6, 15} <nil>
}

// Different elements in the order of their first occurrence, and for each
// element which of them it is.
func ExampleUnique() {
	g := eager.New()
	y, which := ops.Unique(ops.Const(g, []string{"b", "a", "b"}), ops.UniqueOpts{OutIdx: tf.Int64})
	for _, y := range []tf.Output{y, which} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[2]{"b", "a"} <nil>
	// int64[3]{0, 1, 0} <nil>
}

// Statistics of several batches add up; mean and variance follow from the
// sums.
func ExampleStatistics() {
	g := eager.New()
	a := ops.SufficientStatistics(ops.Const(g, []float32{1, 2}), []int{0}, tf.Output{}, false)
	b := ops.SufficientStatistics(ops.Const(g, []float32{3, 6}), []int{0}, tf.Output{}, false)
	mean, variance := ops.NormalizeMoments(ops.Statistics{
		Count: a.Count.Add(b.Count), Sum: a.Sum.Add(b.Sum), Sum2: a.Sum2.Add(b.Sum2),
	})
	for _, y := range []tf.Output{mean, variance} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[]{3} <nil>
	// float32[]{3.5} <nil>
}
