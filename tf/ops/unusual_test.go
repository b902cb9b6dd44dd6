package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestEdges: values at the ends of what ops take. The wanted ones are TensorFlow 2.21's.
func TestEdges(t *testing.T) {
	g := eager.New()
	x := ops.Div(ops.Const(g, []float32{0, 1, 5}, 3), ops.Const(g, []float32{0, 1, 1}, 3)) // NaN, 1, 5
	format := ops.DataFormatOpts{Src: "HWXY", Dst: "XYHW"}
	for name, c := range map[string]struct {
		got  tf.Output
		want []int32
	}{
		"a NaN lies beyond all boundaries":     {ops.Bucketize(x, []float32{0, 2, 3}), []int32{3, 1, 3}},
		"other letters are no positions":       {ops.DataFormatVecPermute(ops.Const(g, []int32{1, 2}, 2), format), []int32{1, 2}},
		"other letters are no positions, rows": {ops.DataFormatVecPermute(ops.Const(g, []int32{1, 2, 3, 4}, 2, 2), format), []int32{1, 2, 3, 4}},
	} {
		v, err := c.got.Value()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := tf.Data[int32](v); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// TestRefusedWhenBuilt: what no step could compute is an error of the Output, whatever
// it has of others.
func TestRefusedWhenBuilt(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2}, 2)
	_, indices := ops.TopK(x, -5)
	for name, out := range map[string][]tf.Output{
		"a negative number of parts": ops.Split(x, -1, 0),
		"a negative k":               {indices},
		"no function":                (*tf.Function)(nil).Call([]tf.Output{x}),
		"no function on a device":    (*tf.Function)(nil).CallOn(x, nil),
	} {
		if len(out) == 0 || tf.CodeOf(out[0].Err()) != tf.InvalidArgument {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, out)
		}
	}
}

// TestListsWithinMemory: a list's length comes from a step's input, and counts as memory.
func TestListsWithinMemory(t *testing.T) {
	g := eager.New()
	const many = 1<<31 - 1
	tf.SetMemoryLimit(1 << 30)
	defer tf.SetMemoryLimit(0)
	l := ops.TensorListReserve(ops.Const(g, []int32{}, 0), ops.Scalar(g, int32(many)), tf.Float32)
	if _, err := l.Value(); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestUnusualText: a sign before numbers needs no width in AsString.
func TestUnusualText(t *testing.T) {
	g := eager.New()
	for fill, want := range map[string][]string{"+": {"+1.5", "-2.5"}, " ": {" 1.5", "-2.5"}, "0": {"1.5", "-2.5"}} {
		v, err := ops.AsString(ops.Const(g, []float32{1.5, -2.5}, 2), ops.AsStringOpts{Width: -1, Precision: 1, Fill: fill}).Value()
		if err != nil {
			t.Errorf("filled with %q: %v", fill, err)
		} else if got := tf.Data[string](v); !slices.Equal(got, want) {
			t.Errorf("filled with %q: got %q, want %q", fill, got, want)
		}
	}
}

// TestPointedText: a fill of # keeps the point and the zeros behind it.
func TestPointedText(t *testing.T) {
	x := []float64{1.5, math.Copysign(0, -1), 1e20, math.NaN()}
	for _, c := range []struct {
		ops.AsStringOpts
		want []string
	}{
		{ops.AsStringOpts{HasPrecision: true}, []string{"2.", "-0.", "100000000000000000000.", "nan"}},
		{ops.AsStringOpts{HasPrecision: true, Scientific: true}, []string{"2.e+00", "-0.e+00", "1.e+20", "nan"}},
		{ops.AsStringOpts{Precision: 1, Shortest: true}, []string{"2.", "-0.", "1.e+20", "nan"}},
		{ops.AsStringOpts{Precision: 4, Shortest: true, Width: 6}, []string{" 1.500", "-0.000", "1.000e+20", "   nan"}},
	} {
		c.Fill = "#"
		v, err := ops.AsString(ops.Const(eager.New(), x, len(x)), c.AsStringOpts).Value()
		if err != nil {
			t.Errorf("%+v: %v", c.AsStringOpts, err)
		} else if got := tf.Data[string](v); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.AsStringOpts, got, c.want)
		}
	}
}

// TestUnusualSummary: of a scalar nothing is shown where no element is.
func TestUnusualSummary(t *testing.T) {
	g := eager.New()
	for name, c := range map[string]struct {
		x    tf.Output
		want string
	}{
		"scalar": {ops.Scalar(g, float32(0.5)), "a...b"},
		"vector": {ops.Const(g, []float32{1, 2}, 2), "a[ ...]b"},
	} {
		v, err := ops.StringFormat(g, "a%sb", []tf.Output{c.x}, tf.Attr("summarize", 0)).Value()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := tf.Data[string](v)[0]; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestSummaryOfUnusual: NaN has its sign, and what has no text is not all shown.
func TestSummaryOfUnusual(t *testing.T) {
	g := eager.New()
	minus := math.Copysign(math.NaN(), -1)
	for want, x := range map[string]tf.Output{
		"[nan -nan]": ops.Const(g, []float64{math.NaN(), minus}, 2),
		"[-nan 1]":   ops.Const(g, []float32{float32(minus), 1}, 2),
		"?":          ops.Scalar(g, complex64(1)),
		"[? ?...]":   ops.Const(g, []complex64{1, 2, 3}, 3),
		"":           ops.Const(g, []bool{}, 0, 2),
	} {
		v, err := ops.StringFormat(g, "%s", []tf.Output{x}, ops.StringFormatOpts{Summarize: 2}).Value()
		if err != nil {
			t.Errorf("want %s: %v", want, err)
		} else if got := tf.Data[string](v)[0]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestUnusualShapes: TensorFlow 2.21 refuses some vectors for scalars, and takes
// indices of any shape for the places of a list.
func TestUnusualShapes(t *testing.T) {
	g := eager.New()
	x, shape := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), ops.Const(g, []int32{2}, 1)
	one, minus, zero := ops.Const(g, []int32{1}, 1), ops.Scalar(g, int32(-1)), ops.Scalar(g, float32(0))
	list := ops.TensorListFromTensor(x, shape)
	placed := ops.TensorListScatterV2(x, ops.Const(g, []int32{1, 0}, 2, 1), shape, minus)
	if v, err := ops.TensorListStack(placed, shape, tf.Float32).Value(); err != nil || !slices.Equal(tf.Data[float32](v), []float32{3, 4, 1, 2}) {
		t.Errorf("indices of two dimensions: got %v, %v, want [3 4 1 2]", v, err)
	}
	for name, out := range map[string]tf.Output{
		"the size of a list":         ops.TensorListResize(list, one),
		"the place of an element":    ops.TensorListSetItem(list, one, ops.Const(g, []float32{1, 2}, 2)),
		"a matrix for the shape":     ops.TensorListFromTensor(x, ops.Const(g, []int32{2}, 1, 1)),
		"the rows of a diagonal":     ops.MatrixDiagV3(x, ops.Scalar(g, int32(0)), ops.Neg(one), minus, zero),
		"the padding of a diagonal":  ops.MatrixDiagV3(x, ops.Scalar(g, int32(0)), minus, minus, ops.Const(g, []float32{0}, 1)),
		"places of an existing list": ops.TensorListScatterIntoExistingList(list, x, ops.Const(g, []int32{1, 0}, 2, 1)),
	} {
		if _, err := out.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}

// TestUnusualBytes: no expression matches a byte that is not of UTF-8, as in RE2.
func TestUnusualBytes(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []string{"a\xffb", "\xe2\x82", "a\uFFFDb"}, 3)
	for expr, want := range map[string][]string{
		".*":       {"z\xffz", "z\xe2z\x82z", "z"},
		"[^a]":     {"a\xffz", "\xe2\x82", "azz"},
		"(?s).":    {"z\xffz", "\xe2\x82", "zzz"},
		"a.|\\x62": {"a\xffz", "\xe2\x82", "zz"},
		"^":        {"za\xffb", "z\xe2\x82", "za\uFFFDb"},
	} {
		v, err := ops.StaticRegexReplace(x, expr, "z").Value()
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		} else if got := tf.Data[string](v); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
	if v, err := ops.StaticRegexFullMatch(x, "..?.").Value(); err != nil || !slices.Equal(tf.Data[bool](v), []bool{false, false, true}) {
		t.Errorf("got %v, %v, want that the last matches alone", v, err)
	}
}
