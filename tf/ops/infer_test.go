package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// open is a shape of unknown rank.
var open tf.Shape

// TestInfer: what shape functions make of partly known shapes, and how they
// refuse what cannot fit.
func TestInfer(t *testing.T) {
	axes := func(v ...int32) func(tf.Output) tf.Output {
		return func(x tf.Output) tf.Output { return ops.Const(x.Graph(), v) }
	}
	reduce := func(f function2, by func(tf.Output) tf.Output, opts ...tf.Option) func(in []tf.Output) tf.Output {
		return func(in []tf.Output) tf.Output { return f(in[0], by(in[0]), opts...) }
	}
	two := func(f function2, opts ...tf.Option) func(in []tf.Output) tf.Output {
		return func(in []tf.Output) tf.Output { return f(in[0], in[1], opts...) }
	}
	keep := ops.ReduceOpts{KeepDims: true}
	for _, c := range []struct {
		name string
		f    func(in []tf.Output) tf.Output
		in   []tf.Shape
		want string // the shape, or after "!" part of the error
	}{
		{"add known", two(ops.AddV2), []tf.Shape{{2, 1}, {3}}, "[2,3]"},
		{"add partly known", two(ops.AddV2), []tf.Shape{{-1, 1}, {4, -1}}, "[4,?]"},
		{"add unknown", two(ops.AddV2), []tf.Shape{open, {3}}, "<unknown>"},
		{"add unfit", two(ops.AddV2), []tf.Shape{{2, 3}, {4}}, "!Dimensions must be equal or 1: shapes [2,3] and [4] do not fit together"},
		{"equal unfit", two(ops.Equal), []tf.Shape{{2}, {3}}, "!Dimensions must be equal or 1"},
		{"equal unfit by consent", two(ops.Equal, ops.EqualOpts{UnfitDiffer: true}), []tf.Shape{{2}, {3}}, "<unknown>"},
		{"product", two(ops.MatMul), []tf.Shape{{-1, 784}, {784, 10}}, "[?,10]"},
		{"product of transposed", two(ops.MatMul, ops.MatMulOpts{TransposeA: true, TransposeB: true}), []tf.Shape{{3, 2}, {5, 3}}, "[2,5]"},
		{"product of unknown", two(ops.MatMul), []tf.Shape{open, {784, 10}}, "[?,10]"},
		{"product unfit", two(ops.MatMul), []tf.Shape{{-1, 784}, {10, 3}}, "!inner dimensions 784 and 10 differ"},
		{"product of vector", two(ops.MatMul), []tf.Shape{{784}, {784, 3}}, "!Shape must be rank 2 but is rank 1"},
		{"batch product", two(ops.BatchMatMulV2), []tf.Shape{{-1, 1, 2, 3}, {5, 3, 4}}, "[?,5,2,4]"},
		{"batch product unfit", two(ops.BatchMatMulV2), []tf.Shape{{2, 2, 3}, {5, 3, 4}}, "!batch dimensions must fit together"},
		{"batch product of vector", two(ops.BatchMatMulV2), []tf.Shape{{3}, {5, 3, 4}}, "!at least rank 2"},
		{"sum", reduce(ops.Sum[tf.Output], axes(1)), []tf.Shape{{2, -1, 4}}, "[2,4]"},
		{"sum kept", reduce(ops.Sum[tf.Output], axes(0, -1), keep), []tf.Shape{{2, -1, 4}}, "[1,?,1]"},
		{"sum of unknown", reduce(ops.Sum[tf.Output], axes(1)), []tf.Shape{open}, "<unknown>"},
		{"sum along unknown axis", two(ops.Sum[tf.Output]), []tf.Shape{{2, 3}, {1}}, "[?]"},
		{"sum along unknown axes, kept", two(ops.Sum[tf.Output], keep), []tf.Shape{{2, 3}, {-1}}, "[?,?]"},
		{"sum beyond", reduce(ops.Sum[tf.Output], axes(2)), []tf.Shape{{2, 3}}, "!Invalid reduction dimension (2 for input with 2 dimension(s)"},
		{"position", reduce(ops.ArgMax[tf.Output], func(x tf.Output) tf.Output { return ops.Scalar(x.Graph(), int32(-2)) }), []tf.Shape{{2, -1, 4}}, "[2,4]"},
		{"position beyond", reduce(ops.ArgMax[tf.Output], func(x tf.Output) tf.Output { return ops.Scalar(x.Graph(), int32(2)) }), []tf.Shape{{2, 3}}, "!Expected dimension in the range [-2, 2), but got 2"},
		{"bias", two(ops.BiasAdd), []tf.Shape{{-1, -1}, {3}}, "[?,3]"},
		{"bias unfit", two(ops.BiasAdd), []tf.Shape{{2, 4}, {3}}, "!value has 4 channels, bias 3"},
		{"bias of vector", two(ops.BiasAdd), []tf.Shape{{4}, {4}}, "!at least rank 2"},
		{"losses", two(ops.SoftmaxCrossEntropyWithLogits), []tf.Shape{{-1, 10}, {32, 10}}, "[32]"},
		{"losses unfit", two(ops.SoftmaxCrossEntropyWithLogits), []tf.Shape{{2, 10}, {2, 9}}, "!matrices that fit together"},
		{"relu gradient", two(ops.ReluGrad), []tf.Shape{{-1, 3}, {2, -1}}, "[2,3]"},
		{"relu gradient unfit", two(ops.ReluGrad), []tf.Shape{{2}, {3}}, "!Shapes must be equal"},
		{"sum of two unfit", func(in []tf.Output) tf.Output { return ops.AddN(in) }, []tf.Shape{{2}, {3}}, "!Shapes must be equal"},
		{"softmax of scalar", func(in []tf.Output) tf.Output { return ops.Softmax(in[0]) }, []tf.Shape{{}}, "!at least rank 1"},
		{"complex", two(ops.Complex), []tf.Shape{{2, 1}, {3}}, "[2,3]"},
	} {
		g := tf.NewGraph()
		var in []tf.Output
		for i, s := range c.in {
			d := tf.Float32
			if i == 1 && strings.Contains(c.name, "unknown ax") {
				d = tf.Int32
			}
			in = append(in, ops.Placeholder(g, d, s))
		}
		y := c.f(in)
		if msg, wrong := strings.CutPrefix(c.want, "!"); wrong {
			if y.Err() == nil || !strings.Contains(y.Err().Error(), msg) {
				t.Errorf("%s: error is %v, want %q", c.name, y.Err(), msg)
			}
		} else if y.Err() != nil || y.Shape().String() != c.want {
			t.Errorf("%s: shape is %v (%v), want %s", c.name, y.Shape(), y.Err(), c.want)
		}
	}
}

// TestInferLabels: labels are of another type than logits.
func TestInferLabels(t *testing.T) {
	for _, c := range []struct {
		logits, labels tf.Shape
		want           string
	}{
		{tf.Shape{-1, 10}, tf.Shape{32}, "[32]"}, {open, open, "[?]"}, {tf.Shape{2, 10}, tf.Shape{3}, "there are 2 rows of logits and 3 labels"},
	} {
		g := tf.NewGraph()
		y := ops.SparseSoftmaxCrossEntropyWithLogits(ops.Placeholder(g, tf.Int64, c.labels), ops.Placeholder(g, tf.Float32, c.logits))
		if got := y.Shape().String(); y.Err() == nil && got != c.want || y.Err() != nil && !strings.Contains(y.Err().Error(), c.want) {
			t.Errorf("logits %v, labels %v: %v %v, want %s", c.logits, c.labels, got, y.Err(), c.want)
		}
	}
}

// TestInferDilation: from partly known shapes follows what does not depend on the
// unknown sizes: at least what TensorFlow says (theirs; "": ours).
func TestInferDilation(t *testing.T) {
	type of struct {
		x, filter    tf.Shape
		want, theirs string // the shape, or after "!" part of the error
	}
	small, none := []int{1, 2, 3, 1}, tf.Shape{-1, -1, -1, -1}
	for padding, cases := range map[string][]of{
		"SAME": { // strides 2 and 3; how large the filter is does not matter
			{open, open, "[?,?,?,?]", ""}, {none, tf.Shape{-1, -1, -1}, "[?,?,?,?]", ""}, {open, tf.Shape{2, 3, 5}, "[?,?,?,5]", ""},
			{tf.Shape{-1, 7, 9, -1}, tf.Shape{2, 3, 5}, "[?,4,3,5]", ""}, {tf.Shape{4, 7, 9, -1}, tf.Shape{2, 3, -1}, "[4,4,3,?]", ""},
			{tf.Shape{4, -1, 9, -1}, tf.Shape{2, 3, 5}, "[4,?,3,5]", "[4,?,?,5]"}, {tf.Shape{4, 7, -1, 5}, tf.Shape{2, 3, 5}, "[4,4,?,5]", "[4,?,?,5]"},
			{tf.Shape{4, 7, 9, 5}, tf.Shape{-1, 3, -1}, "[4,4,3,5]", "[4,?,?,?]"}, {tf.Shape{4, 7, 9, 5}, open, "[4,4,3,5]", "[4,?,?,?]"},
			{tf.Shape{4, 7, 9, -1}, tf.Shape{8, 3, -1}, "[4,4,3,?]", ""}, {tf.Shape{4, -1, -1, 5}, tf.Shape{8, 3, -1}, "[4,?,?,5]", "[4,?,?,?]"},
			{tf.Shape{4, -1, -1, 5}, tf.Shape{-1, -1, 4}, "!Dimensions must be equal, but are 5 and 4", ""},
			{tf.Shape{4, 7, -1}, open, "!Shape must be rank 4 but is rank 3", ""}, {open, tf.Shape{2, -1}, "!Shape must be rank 3 but is rank 2", ""},
		},
		"VALID": { // elements of the filter are 2 and 3 apart
			{open, open, "[?,?,?,?]", ""}, {none, tf.Shape{-1, -1, -1}, "[?,?,?,?]", ""}, {open, tf.Shape{2, 3, 5}, "[?,?,?,5]", ""},
			{tf.Shape{-1, 7, 9, -1}, tf.Shape{2, 3, 5}, "[?,5,2,5]", ""}, {tf.Shape{4, 7, 9, -1}, tf.Shape{2, 3, -1}, "[4,5,2,?]", ""},
			{tf.Shape{4, -1, 9, -1}, tf.Shape{2, 3, 5}, "[4,?,2,5]", "[4,?,?,5]"}, {tf.Shape{4, 7, -1, 5}, tf.Shape{2, 3, 5}, "[4,5,?,5]", "[4,?,?,5]"},
			{tf.Shape{4, 7, 9, 5}, tf.Shape{-1, 3, -1}, "[4,?,2,5]", "[4,?,?,?]"}, {tf.Shape{4, 7, 9, 5}, tf.Shape{2, -1, 5}, "[4,5,?,5]", "[4,?,?,5]"},
			{tf.Shape{4, 7, 9, 5}, open, "[4,?,?,5]", "[4,?,?,?]"}, {tf.Shape{4, -1, -1, 5}, tf.Shape{8, 3, -1}, "[4,?,?,5]", "[4,?,?,?]"},
			{tf.Shape{4, 7, 9, -1}, tf.Shape{8, 3, -1}, "!Computed output size would be negative: -7 [input_size: 7, effective_filter_size: 15, stride: 1]", ""},
		},
	} {
		strides, rates := small, []int{1, 1, 1, 1}
		if padding == "VALID" {
			strides, rates = []int{1, 1, 2, 1}, []int{1, 2, 3, 1}
		}
		for _, c := range cases {
			g := tf.NewGraph()
			y := ops.Dilation2D(ops.Placeholder(g, tf.Float32, c.x), ops.Placeholder(g, tf.Float32, c.filter), strides, rates, padding)
			if msg, wrong := strings.CutPrefix(c.want, "!"); wrong {
				if y.Err() == nil || !strings.Contains(y.Err().Error(), msg) {
					t.Errorf("%s of %v by %v: error is %v, want %q", padding, c.x, c.filter, y.Err(), msg)
				}
			} else if y.Err() != nil || y.Shape().String() != c.want {
				t.Errorf("%s of %v by %v: shape is %v (%v), want %s (TensorFlow: %s)", padding, c.x, c.filter, y.Shape(), y.Err(), c.want, c.theirs)
			}
		}
	}
}
