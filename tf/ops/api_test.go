package ops_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// valuesOf returns the elements and the shape of an eager Output.
func valuesOf[T tf.Elem](t *testing.T, x tf.Output) ([]T, tf.Shape) {
	t.Helper()
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	all, err := tf.Values[T](v)
	if err != nil {
		t.Fatal(err)
	}
	return all, v.Shape()
}

func TestIntegersAndTensorsSayTheSame(t *testing.T) {
	g := eager.New()
	x := ops.Constant(g, [][]float32{{1, 2, 3}, {4, 5, 6}})
	i := func(v ...int) tf.Output { return ops.Const(g, v) }
	n := func(v int) tf.Output { return ops.Scalar(g, v) }
	both := []tf.Output{x, x}
	for name, pair := range map[string][2]tf.Output{
		"Sum":             {ops.Sum(x, []int{-1}), ops.Sum(x, i(-1))},
		"Sum of all":      {ops.Sum(x, ops.AllAxes), ops.Sum(x, i(0, 1))},
		"Sum of none":     {ops.Sum(x, []int{}), x},
		"KeepDims":        {ops.Max(x, []int{0}, ops.ReduceOpts{KeepDims: true}), ops.ExpandDims(x.Max(0), 0)},
		"ArgMax":          {ops.ArgMax(x, 1), ops.ArgMax(x, n(1))},
		"Concat":          {ops.Concat(-1, both), ops.ConcatV2(both, n(1))},
		"Stack":           {ops.Stack(both, -1), ops.Pack(both, ops.AxisOpts{Axis: 2})},
		"Split":           {ops.Split(x, 3, 1)[2], x.At(":, 2:3")},
		"SplitV":          {ops.SplitV(x, []int{1, -1}, 1, 2)[1], x.At(":, 1:")},
		"Unstack":         {ops.Unstack(x, -1)[1], x.At(":, 1")},
		"Slice":           {ops.Slice(x, []int{0, 1}, []int{-1, 2}), ops.Slice(x, i(0, 1), i(-1, 2))},
		"Reshape":         {ops.Reshape(x, tf.Shape{3, -1}), ops.Reshape(x, i(3, 2))},
		"ExpandDims":      {ops.ExpandDims(x, -1), ops.ExpandDims(x, n(2))},
		"Squeeze":         {ops.Squeeze(ops.ExpandDims(x, 0), []int{0}), x},
		"Gather":          {ops.Gather(x, i(2, 0), -1), x.Gather(i(2, 0), 1)},
		"Transpose":       {ops.Transpose(x, []int{1, 0}), ops.Transpose(x, i(1, 0))},
		"Tile":            {ops.Tile(x, []int{2, 1}), x.Tile(2, 1)},
		"Pad":             {ops.Pad(x, [][2]int{{1, 0}, {0, 2}}), ops.Pad(x, ops.Constant(g, [][]int{{1, 0}, {0, 2}}))},
		"OneHot":          {ops.OneHot(i(1, 0), 3, ops.Scalar(g, float32(1)), ops.Scalar(g, float32(0))), i(1, 0).OneHot(3)},
		"Reverse":         {ops.Reverse(x, []int{1}), x.At(":, ::-1")},
		"Roll":            {ops.Roll(x, []int{1}, []int{1}), ops.Gather(x, i(2, 0, 1), 1)},
		"Cumsum":          {ops.Cumsum(x, 1), x.Cumsum(-1)},
		"Fill":            {ops.Fill([]int{2, 3}, ops.Scalar(g, float32(7))), ops.Fill(i(2, 3), ops.Scalar(g, float32(7)))},
		"Range":           {ops.Range(g, 4, 0, -2), ops.Range(nil, n(4), 0, n(-2))},
		"Range of floats": {ops.Range(g, 0, 1, 0.25), ops.Const(g, []float64{0, .25, .5, .75})},
		"BroadcastTo":     {ops.BroadcastTo(x, []int{2, 2, 3}), x.BroadcastTo(2, 2, 3)},
	} {
		a, as := valuesOfAny(t, pair[0])
		b, bs := valuesOfAny(t, pair[1])
		if d := cmp.Diff(a, b) + cmp.Diff(as, bs); d != "" {
			t.Errorf("%s: integers give %v %v, tensors %v %v", name, a, as, b, bs)
		}
	}
}

// Random numbers of one seed do not depend on how their shape is given.
func TestShapesOfRandomNumbers(t *testing.T) {
	g := tf.NewGraph()
	five := ops.Const(g, []int{5})
	pairs := [][2]tf.Output{
		{ops.RandomUniform(g, tf.Shape{5}, tf.Float32, ops.Seed(7)), ops.RandomUniform(nil, five, tf.Float32, ops.Seed(7))},
		{ops.RandomStandardNormal(g, []int{5}, tf.Float64, ops.Seed(7)), ops.RandomStandardNormal(nil, five, tf.Float64, ops.Seed(7))},
		{ops.TruncatedNormal(g, []int{5}, tf.Float32, ops.Seed(7)), ops.TruncatedNormal(nil, five, tf.Float32, ops.Seed(7))},
		{ops.RandomUniformInt(g, []int{5}, 0, 100, ops.Seed(7)), ops.RandomUniformInt(g, five, ops.Scalar(g, 0), 100, ops.Seed(7))},
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, p := range pairs {
		v, err := s.Run(t.Context(), nil, p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		if v[0].String() != v[1].String() {
			t.Errorf("%v: a shape gives %v, a tensor %v", p[0], v[0], v[1])
		}
	}
	if err := ops.RandomUniform(nil, []int{2}, tf.Float32).Err(); err == nil || !strings.Contains(err.Error(), "need a graph, got nil") {
		t.Errorf("sizes without a graph: got %v", err)
	}
}

func valuesOfAny(t *testing.T, x tf.Output) (any, tf.Shape) {
	t.Helper()
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v), v.Shape()
}

func TestDivisionIsPythons(t *testing.T) {
	g := eager.New()
	seven := ops.Const(g, []int{7, -7})
	for name, y := range map[string]tf.Output{"method": seven.Div(2), "function": ops.Div(seven, ops.Scalar(g, 2))} {
		if got, _ := valuesOf[float64](t, y); !slices.Equal(got, []float64{3.5, -3.5}) {
			t.Errorf("%s: 7 / 2 is %v", name, got)
		}
	}
	small := ops.Const(g, []int8{7})
	if got, _ := valuesOf[float32](t, small.Div(2)); got[0] != 3.5 {
		t.Errorf("int8 7 / 2 is %v", got)
	}
	for name, y := range map[string]tf.Output{"method": seven.Mod(4), "function": ops.Mod(seven, ops.Scalar(g, 4))} {
		if got, _ := valuesOf[int32](t, y); !slices.Equal(got, []int32{3, 1}) {
			t.Errorf("%s: 7 %% 4 is %v", name, got)
		}
	}
}

func TestNumbersMixIn(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2})
	y := x.Add(1).Mul(0.5).Sub(x.Max()).Pow(2)
	if got, _ := valuesOf[float32](t, y); !slices.Equal(got, []float32{1, 0.25}) {
		t.Errorf("((x + 1) * 0.5 - 2)**2 is %v", got)
	}
	k := ops.Const(g, []int64{1 << 40})
	if got, _ := valuesOf[int64](t, k.Add(1<<40)); got[0] != 1<<41 {
		t.Errorf("the sum of large integers is %v", got)
	}
	big := ops.Scalar(g, 1<<40)
	if big.DType() != tf.Int64 || ops.Scalar(g, 2).DType() != tf.Int32 {
		t.Errorf("integers are %v and %v", big.DType(), ops.Scalar(g, 2).DType())
	}
}

// TestOperandsThatAreNone: what is no value of the tensor's type is refused where it
// is written.
func TestOperandsThatAreNone(t *testing.T) {
	g := tf.NewGraph()
	i, u, b := ops.Const(g, []int{1}), ops.Const(g, []uint8{1}), ops.Const(g, []bool{true})
	for want, y := range map[string]tf.Output{
		"got 1.5 of type float64":       i.Add(1.5),
		"got 300 of type int":           u.Add(300),
		"got -1 of type int":            u.Sub(-1),
		"got 1 of type int":             b.And(1),
		"got true of type bool":         i.Mul(true),
		"got x of type string":          i.Equal("x"),
		"got []int":                     i.Add([]int{1}),
		"got <nil>":                     i.Add(nil),
		"got *tf.Tensor":                i.Add((*tf.Tensor)(nil)),
		"got 1099511627776 of type int": i.Add(1 << 40),
	} {
		err := y.Err()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "api_test.go:") {
			t.Errorf("want %q and the line, got %v", want, err)
		}
	}
}

// TestAt compares indices with what they mean, for random ones.
func TestAt(t *testing.T) {
	g := eager.New()
	const n = 7
	data := make([]int32, n*n)
	for i := range data {
		data[i] = int32(i)
	}
	x := ops.Const(g, data, n, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows, rowSpec, rowDrop := randomIndex(rng, n)
		cols, colSpec, colDrop := randomIndex(rng, n)
		want := []int32{}
		for _, r := range rows {
			for _, c := range cols {
				want = append(want, data[r*n+c])
			}
		}
		shape := tf.Shape{}
		if !rowDrop {
			shape = append(shape, len(rows))
		}
		if !colDrop {
			shape = append(shape, len(cols))
		}
		got, s := valuesOf[int32](t, x.At(rowSpec+", "+colSpec))
		if !slices.Equal(got, want) || !slices.Equal(s, shape) {
			t.Fatalf("x[%s, %s] is %v %v, want %v %v", rowSpec, colSpec, got, s, want, shape)
		}
	}
}

// randomIndex returns an entry, and the positions that Python's semantics give it.
func randomIndex(rng *rand.Rand, n int) (at []int, spec string, drop bool) {
	if rng.IntN(4) == 0 {
		i := rng.IntN(2*n) - n
		return []int{(i + n) % n}, fmt.Sprint(i), true
	}
	stride := []int{1, 2, 3, -1, -2}[rng.IntN(5)]
	begin, end := rng.IntN(4*n)-2*n, rng.IntN(4*n)-2*n
	spec = fmt.Sprintf("%d:%d:%d", begin, end, stride)
	lo, hi := 0, n
	if stride < 0 {
		lo, hi = -1, n-1
	}
	limit := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, lo), hi)
	}
	for i, e := limit(begin), limit(end); stride > 0 && i < e || stride < 0 && i > e; i += stride {
		at = append(at, i)
	}
	return at, spec, false
}

func TestAtForms(t *testing.T) {
	g := eager.New()
	x := ops.Reshape(ops.Range(g, 0, 24, 1), []int{2, 3, 4})
	two := ops.Scalar(g, int64(2))
	for _, c := range []struct {
		spec  string
		at    []tf.Output
		shape string
		first int32
	}{
		{"1", nil, "[3 4]", 12}, {"-1, ..., 0", nil, "[3]", 12}, {"..., None", nil, "[2 3 4 1]", 0}, {"newaxis, 1:, ::2", nil, "[1 1 2 4]", 12},
		{":, ?", []tf.Output{two}, "[2 4]", 8}, {"..., ?:", []tf.Output{two}, "[2 3 2]", 2}, {"0, 1, :?:1", []tf.Output{two}, "[2]", 4},
	} {
		got, s := valuesOf[int32](t, x.At(c.spec, c.at...))
		if fmt.Sprint([]int(s)) != c.shape || got[0] != c.first {
			t.Errorf("x[%s] has shape %v and begins with %d, want %s and %d", c.spec, s, got[0], c.shape, c.first)
		}
	}
	for _, spec := range []string{"", "x", "1.5", "::0", "1:2:3:4", "..., ...", "?", "1,,2", "99999999999"} {
		if err := x.At(spec).Err(); err == nil {
			t.Errorf("the index %q is taken", spec)
		}
	}
}

func FuzzAt(f *testing.F) {
	f.Add("1:, ::2, None, ...")
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2, 3, 4})
	f.Fuzz(func(t *testing.T, spec string) { _ = x.At(spec).Err() })
}
