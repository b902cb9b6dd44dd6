package ops_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// shown returns the shape and the elements of a tensor of numbers.
func shown(t *testing.T, x tf.Output) string {
	t.Helper()
	v, err := ops.Cast(x, tf.Float64).Value()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v.Shape(), tf.Data[float64](v))
}

// oddHalves returns 0, -0, NaN, NaN, 1 and 1 of a type of 16 bits.
func oddHalves(g *tf.Graph, d tf.DType) tf.Output {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	return ops.Cast(ops.Const(g, []float64{0, zero, nan, nan, 1, 1}, 6), d)
}

// TestHalvesCompareAsNumbers: the values are those of TensorFlow 2.21, where -0 of 16
// bits differs from 0 as an element of a vector, not as one of a slice.
func TestHalvesCompareAsNumbers(t *testing.T) {
	g := eager.New()
	for _, d := range []tf.DType{tf.Float16, tf.BFloat16} {
		x := oddHalves(g, d)
		y, idx := ops.Unique(x)
		_, _, count := ops.UniqueWithCounts(x)
		rows, _ := ops.UniqueV2(ops.Stack([]tf.Output{x, x}, 0), ops.Const(g, []int64{1}, 1))
		left, at := ops.ListDiff(x, ops.Slice(x, []int{0}, []int{3}))
		minus, _ := ops.ListDiff(x, ops.Slice(x, []int{1}, []int{1}))
		for name, c := range map[string]struct {
			got  tf.Output
			want string
		}{
			"Unique":           {y, "[5] [0 -0 NaN NaN 1]"},
			"Unique, where":    {idx, "[6] [0 1 2 3 4 4]"},
			"UniqueWithCounts": {count, "[5] [1 1 1 1 2]"},
			"UniqueV2":         {rows, "[2,4] [0 NaN NaN 1 0 NaN NaN 1]"},
			"ListDiff":         {left, "[4] [NaN NaN 1 1]"},
			"ListDiff, where":  {at, "[4] [2 3 4 5]"},
			"ListDiff of -0":   {minus, "[5] [0 NaN NaN 1 1]"},
		} {
			if got := shown(t, c.got); got != c.want {
				t.Errorf("%s of %v: got %s, want %s", name, d, got, c.want)
			}
		}
	}
}

// TestLengthsOfRanges: how many numbers there are follows from the arithmetic of their
// type. The values are those of TensorFlow 2.21.
func TestLengthsOfRanges(t *testing.T) {
	g := eager.New()
	const most, least = math.MaxInt64, math.MinInt64
	for name, c := range map[string]struct {
		got  tf.Output
		want int
	}{
		"of great int64":        {ops.Range(g, int64(1<<62), int64(1<<62+3), int64(1)), 3},
		"up to the last int64":  {ops.Range(g, int64(most-3), int64(most), int64(1)), 3},
		"over all int64":        {ops.Range(g, int64(least), int64(most), int64(1<<61)), 8},
		"down by the least":     {ops.Range(g, int64(most), int64(least), int64(least)), 2},
		"of float32":            {ops.Range(g, float32(1), float32(1.6), float32(0.2)), 3},
		"of float32, more":      {ops.Range(g, float32(0.1), float32(35.8), float32(0.7)), 52},
		"of float64":            {ops.Range(g, 0.0, 1.0, 0.1), 10},
		"of bfloat16":           {halfRange(g, tf.BFloat16, 1, -2.3125, -0.30078125), 11},
		"of float16":            {halfRange(g, tf.Float16, 0.0999755859375, 9.8984375, 0.199951171875), 49},
		"of uint64, beyond int": {ops.Range(g, uint64(1<<64-3), uint64(1<<64-1), uint64(1)), 2}, // TensorFlow has no kernel
	} {
		if v, err := c.got.Value(); err != nil || v.Len() != c.want {
			t.Errorf("%s: got %v, %v, want %d numbers", name, v, err, c.want)
		}
	}
	for want, x := range map[string]tf.Output{
		"Requires start <= limit when delta > 0: 0/nan":               ops.Range(g, float32(0), float32(math.NaN()), float32(1)),
		"Requires start >= limit when delta < 0: 0/1":                 ops.Range(g, float32(0), float32(1), float32(math.NaN())),
		"Requires ((limit - start) / delta) <= 9223372036854775807":   ops.Range(g, float32(0), float32(1e30), float32(1)),
		"Requires start >= limit when delta < 0: 0/5":                 ops.Range(g, int64(0), int64(5), int64(-1)),
		"Requires ((limit - start) / delta) <= 9223372036854775807\n": ops.Range(g, int64(least), int64(most), int64(1)),
	} {
		if err := x.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("got %v, want INVALID_ARGUMENT: %s", err, want)
		}
	}
}

func halfRange(g *tf.Graph, d tf.DType, v ...float64) tf.Output {
	var in [3]tf.Output
	for i := range in {
		in[i] = ops.Cast(ops.Scalar(g, v[i]), d)
	}
	return ops.Range(g, in[0], in[1], in[2])
}

// TestZetaFarBelowZero: as many terms as there are numbers up to 0 would take hours.
// The values near 0 are those of TensorFlow 2.21, which adds up the terms.
func TestZetaFarBelowZero(t *testing.T) {
	g := eager.New()
	for _, c := range []struct{ x, q, want float64 }{
		{2, -1000.5, 9.868605400173442}, {3, -3.5, 0.03077841066051345}, {2, -1000000.5, 9.869603401090357},
		{5, -12345.25, -1020.0656159509381}, {2, -1e15 - 0.5, math.Pi * math.Pi}, {3, -1e15 - 0.5, 0},
	} {
		v, err := ops.Zeta(ops.Scalar(g, c.x), ops.Scalar(g, c.q)).Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float64](v)[0]; math.Abs(got-c.want) > 1e-12*(1+math.Abs(c.want)) {
			t.Errorf("ζ(%v, %v): got %v, want %v", c.x, c.q, got, c.want)
		}
	}
	if _, err := ops.Polygamma(ops.Scalar(g, 1.0), ops.Scalar(g, -1e15-0.5)).Value(); err != nil {
		t.Error(err)
	}
}

// TestManyRowsOfHalves: TensorFlow 2.21 adds up rows of 16 bits in float32 where
// indices choose them, and in 16 bits where ids alone tell their segments.
func TestManyRowsOfHalves(t *testing.T) {
	g := eager.New()
	const n = 300
	three := ops.Cast(ops.Fill(ops.Const(g, []int32{n}, 1), ops.Scalar[float32](g, 3)), tf.BFloat16)
	ids := ops.ZerosLike(ops.Cast(three, tf.Int32))
	rows := ops.Range(g, int32(0), int32(n), int32(1))
	one := ops.Cast(ops.Const(g, []float32{1}, 1), tf.BFloat16)
	sumGrad := tf.Apply(g, "SparseSegmentSumGrad", []tf.Output{one, ids, ids, ops.Scalar[int32](g, 1)}).Output(0)
	for name, c := range map[string]struct {
		got  tf.Output
		want string
	}{
		"SparseSegmentMean":    {ops.SparseSegmentMean(three, rows, ids), "[1] [3]"},
		"SparseSegmentSum":     {ops.SparseSegmentSum(three, rows, ids), "[1] [900]"},
		"SparseSegmentSumGrad": {sumGrad, "[1] [300]"},
		"SegmentMean":          {ops.SegmentMean(three, ids), "[1] [3.40625]"},
	} {
		if got := shown(t, c.got); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestSegmentOfRowsBeyondItsType: 300 is 44 as an int8, and -124/44 is -2, as in
// TensorFlow 2.21. 256 is 0, which ends TensorFlow's process.
func TestSegmentOfRowsBeyondItsType(t *testing.T) {
	g := eager.New()
	rows := func(n int32, d tf.DType) tf.Output {
		x := ops.Cast(ops.Fill(ops.Const(g, []int32{n}, 1), ops.Scalar[int32](g, 3)), d)
		return ops.SegmentMean(x, ops.ZerosLike(ops.Cast(x, tf.Int32)))
	}
	if got := shown(t, rows(300, tf.Int8)); got != "[1] [-2]" {
		t.Errorf("got %s, want [1] [-2]", got)
	}
	for _, d := range []tf.DType{tf.Int8, tf.Uint8} {
		if _, err := rows(256, d).Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("256 rows of %v: got %v, want INVALID_ARGUMENT", d, err)
		}
	}
}

// TestReduceAlongNoAxes: the shapes are those of TensorFlow 2.21.
func TestReduceAlongNoAxes(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2}, 1, 2, 1)
	mean, variance := ops.Moments(x, []int{}, false)
	for name, c := range map[string]struct {
		got  tf.Output
		want string
	}{
		"LogSumExp":      {ops.LogSumExp(x, []int{}, false), "[1,2,1] [1 2]"},
		"LogSumExp, all": {ops.LogSumExp(x, nil, false), "[] [2.3132617473602295]"},
		"mean":           {mean, "[2] [1 2]"},
		"variance":       {variance, "[2] [0 0]"},
	} {
		if got := shown(t, c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestZeroOptions stand for TensorFlow's defaults.
func TestZeroOptions(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2}, 2)
	y, idx := ops.Unique(x, ops.UniqueOpts{})
	for name, c := range map[string]struct {
		got  tf.Output
		want string
	}{
		"ApproximateEqual": {ops.ApproximateEqual(x, ops.Const(g, []float32{1.000001, 2.1}, 2), ops.ApproximateEqualOpts{}), "[2] [1 0]"},
		"Unique":           {ops.AddV2(ops.Cast(y, tf.Int32), idx), "[2] [1 3]"},
		"Real":             {ops.Real(ops.Cast(x, tf.Complex128), ops.PartOpts{}), "[2] [1 2]"},
		"LowerBound":       {ops.LowerBound(ops.Reshape(x, []int{1, 2}), ops.Reshape(x, []int{1, 2}), ops.BoundOpts{}), "[1,2] [0 1]"},
		"MatrixDiagV3":     {ops.MatrixDiagPartV3(ops.Reshape(x, []int{1, 2}), ops.Scalar[int32](g, 0), ops.Scalar[float32](g, 0), ops.DiagAlignOpts{}), "[1] [1]"},
	} {
		if got := shown(t, c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestRefusedInSteps: the codes and words are those of TensorFlow 2.21 where nothing is
// known of the input when the graph is built, but for those marked.
func TestRefusedInSteps(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil)
	nine := tf.Shape{1, 1, 1, 1, 1, 1, 1, 1, 2}
	no := ops.Const(g, []int32{0, 0, 0, 0}, 2, 2)
	array := tf.Apply(g, "TensorArrayV3", []tf.Output{ops.Scalar[int32](g, 2)}, tf.Attr("dtype", tf.Float32))
	lengths := ops.Const(g, []int64{math.MaxInt64, math.MaxInt64}, 2)
	for name, c := range map[string]struct {
		out   tf.Output
		shape tf.Shape
		code  tf.Code
		words string
	}{
		"Reverse":      {ops.Reverse(x, []int{8}), nine, tf.Unimplemented, "reverse is not implemented for tensors of rank > 8."},
		"SpaceToBatch": {ops.SpaceToBatch(x, no, 2), tf.Shape{2, 4, 4}, tf.InvalidArgument, "Input rank should be: 4instead of: 3"},
		"BatchToSpace": {ops.BatchToSpace(x, no, 2), tf.Shape{4, 2, 2, 1, 1}, tf.InvalidArgument, "Input rank should be: 4instead of: 5"},
		"lengths that wrap": { // TensorFlow runs out of memory
			tf.Apply(g, "TensorArraySplitV3", []tf.Output{array.Output(0), x, lengths, array.Output(1)}).Output(0),
			tf.Shape{3}, tf.InvalidArgument, "Expected sum of lengths to be equal to values.shape[0]"},
	} {
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		v, err := tf.FromSlice(make([]float32, c.shape.NumElements()), c.shape...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(t.Context(), session.Feeds{x: v}, c.out)
		if tf.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%s: got %v, want %v: %s", name, err, c.code, c.words)
		}
		s.Close()
	}
}

// TestRefusedForTheirShape: the words are those of TensorFlow 2.21.
func TestRefusedForTheirShape(t *testing.T) {
	g := tf.NewGraph()
	nine := ops.Placeholder(g, tf.Float32, tf.Shape{1, 1, 1, 1, 1, 1, 1, 1, 2})
	three := ops.Placeholder(g, tf.Float32, tf.Shape{2, 4, 4})
	no := ops.Const(g, []int32{0, 0, 0, 0}, 2, 2)
	for _, c := range []struct {
		out   tf.Output
		words string
	}{
		{ops.Reverse(nine, []int{8}), "reverse does not work on tensors with more than 8 dimensions"},
		{ops.SpaceToBatch(three, no, 2), "hape must be rank 4 but is rank 3"},
		{ops.BatchToSpace(three, no, 2), "hape must be rank 4 but is rank 3"},
	} {
		if err := c.out.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.words) {
			t.Errorf("got %v, want INVALID_ARGUMENT: %s", err, c.words)
		}
	}
}

// TestComplexOfAnotherWidth: CPUs have kernels for results as exact as the operands
// only, in TensorFlow 2.21 too.
func TestComplexOfAnotherWidth(t *testing.T) {
	g := eager.New()
	for d, out := range map[tf.DType]tf.DType{tf.Float32: tf.Complex128, tf.Float64: tf.Complex64} {
		x := ops.Cast(ops.Scalar(g, 1.5), d)
		if _, err := ops.Complex(x, x, ops.PartOpts{Tout: out}).Value(); tf.CodeOf(err) != tf.NotFound {
			t.Errorf("%v of %v: got %v, want NOT_FOUND", out, d, err)
		}
	}
}

// TestNegativeBatchOfGather: the words are those of TensorFlow 2.21.
func TestNegativeBatchOfGather(t *testing.T) {
	g := tf.NewGraph()
	v := ops.VarHandleOp(g, tf.Float32, tf.Shape{2, 3})
	y := ops.ResourceGather(v, ops.Const(g, []int32{0}, 1), tf.Float32, ops.GatherOpts{BatchDims: -1})
	if err := y.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "batch_dims is negative (-1)") {
		t.Errorf("got %v, want INVALID_ARGUMENT: batch_dims is negative (-1)", err)
	}
}

// TestWeightsOfAnotherShape: Bincount of TensorFlow 2.21 wants as many weights as
// elements, DenseBincount those of one shape.
func TestWeightsOfAnotherShape(t *testing.T) {
	g := eager.New()
	x, w := ops.Const(g, []int32{1, 0, 1}, 3), ops.Const(g, []float32{.5, 1, 2}, 1, 3)
	n := ops.Scalar[int32](g, 3)
	if got := shown(t, ops.Bincount(x, n, w)); got != "[3] [1 2.5 0]" {
		t.Errorf("got %s, want [3] [1 2.5 0]", got)
	}
	if _, err := ops.DenseBincount(x, n, w).Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}
