package initializers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/session"
)

// fromTensorFlow is what TensorFlow 2.21 gives in a graph with the seed 1.
var fromTensorFlow = []struct {
	name  string
	f     initializers.Initializer
	shape tf.Shape
	want  []float32
}{
	{"zeros", initializers.Zeros, tf.Shape{2}, []float32{0.0, 0.0}},
	{"ones", initializers.Ones, tf.Shape{2}, []float32{1.0, 1.0}},
	{"constant", initializers.Constant(1.5), tf.Shape{2, 1}, []float32{1.5, 1.5}},
	{"uniform", initializers.RandomUniform(-2, 3), tf.Shape{4}, []float32{2.0634822845458984, -1.6071267127990723, 2.4584274291992188, -1.1537243127822876}},
	{"uniform seed", initializers.RandomUniform(-2, 3, 7), tf.Shape{4}, []float32{1.9392380714416504, 1.5019893646240234, 2.520984649658203, 1.4122669696807861}},
	{"normal", initializers.RandomNormal(1, 0.5), tf.Shape{4}, []float32{1.1526023149490356, 1.2835688591003418, 1.209261417388916, 1.116321086883545}},
	{"truncated", initializers.TruncatedNormal(1, 0.5, 3), tf.Shape{4}, []float32{0.6645693778991699, 1.1117857694625854, 1.3986365795135498, 1.048085331916809}},
	{"identity", initializers.Identity(2), tf.Shape{2, 3}, []float32{2.0, 0.0, 0.0, 0.0, 2.0, 0.0}},
	{"unit", initializers.UniformUnitScaling(1.2), tf.Shape{2, 3}, []float32{0.9191360473632812, -1.2387325763702393, 1.151315450668335, -0.9721873998641968, -1.284178614616394, 0.13318586349487305}},
	{"glorot uniform", initializers.GlorotUniform, tf.Shape{2, 3}, []float32{0.6850836277008057, -0.9232966899871826, 0.8581399917602539, -0.7246257066726685, -0.9571702480316162, 0.09927082061767578}},
	{"glorot normal", initializers.GlorotNormal, tf.Shape{2, 2, 3}, []float32{0.15517020225524902, 0.2883405387401581, 0.212782621383667, 0.1182783991098404, -0.4538785517215729, -0.3533515930175781, -0.009159798733890057, -0.02370627410709858, 0.1685379147529602, 0.23718290030956268, 0.3261603116989136, -0.316867858171463}},
	{"he uniform", initializers.HeUniform, tf.Shape{4, 1}, []float32{0.7659467458724976, -1.0322771072387695, 0.9594296216964722, -0.8101561665534973}},
	{"he normal", initializers.HeNormal, tf.Shape{5}, []float32{0.21944379806518555, 0.4077751040458679, 0.3009200692176819, 0.16727091372013092, -0.6418812274932861}},
	{"lecun uniform", initializers.LecunUniform, tf.Shape{4, 1}, []float32{0.5416061282157898, -0.7299301028251648, 0.6784191727638245, -0.5728669166564941}},
	{"lecun normal", initializers.LecunNormal, tf.Shape{4, 1}, []float32{0.17348556220531464, 0.32237452268600464, 0.23789820075035095, 0.13223926723003387}},
	{"scaling", initializers.VarianceScaling(3, initializers.FanOut, initializers.Untruncated, 5), tf.Shape{1, 4}, []float32{0.2918035686016083, 1.5369871854782104, 1.2287451028823853, -0.04750434309244156}},
}

// TestAllNumbers: variables of every type of numbers, and of bool, begin with zeros or
// ones, as in TensorFlow.
func TestAllNumbers(t *testing.T) {
	for _, d := range []tf.DType{tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64, tf.Bool} {
		for i, f := range []initializers.Initializer{initializers.Zeros, initializers.Ones} {
			want := fmt.Sprint(i)
			if d == tf.Bool {
				want = fmt.Sprint(i == 1)
			}
			x := computed(t, f(tf.NewGraph(), d, tf.Shape{2}))
			if x.DType() != d || x.Len() != 2 || fmt.Sprint(x.At(1)) != want {
				t.Errorf("%v: got %v, want %s", d, x, want)
			}
		}
	}
}

// TestStringsBeginEmpty: zeros of strings are empty ones, as in TensorFlow.
func TestStringsBeginEmpty(t *testing.T) {
	x := computed(t, initializers.Zeros(tf.NewGraph(), tf.String, tf.Shape{2}))
	if x.DType() != tf.String || x.Len() != 2 || x.At(0) != "" || x.At(1) != "" {
		t.Errorf("got %v", x)
	}
}

// computed returns x, an output of a graph that is not eager.
func computed(t *testing.T, x tf.Output) *tf.Tensor {
	t.Helper()
	s, err := session.New(x.Graph())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, x)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestNumbers: equal seeds give the numbers of TensorFlow's graphs.
func TestNumbers(t *testing.T) {
	for _, c := range fromTensorFlow {
		g := tf.NewGraph()
		g.SetSeed(1)
		v := computed(t, c.f(g, tf.Float32, c.shape))
		for i, got := range tf.Data[float32](v) {
			if math.Abs(float64(got-c.want[i])) > 3e-7*max(1, math.Abs(float64(got))) {
				t.Errorf("%s: element %d is %v, TensorFlow's %v", c.name, i, got, c.want[i])
			}
		}
		if !v.Shape().Equal(c.shape) {
			t.Errorf("%s: shape is %v, want %v", c.name, v.Shape(), c.shape)
		}
	}
}

func TestGlorotLimits(t *testing.T) {
	g := eager.New()
	g.SetSeed(2)
	for _, c := range []struct {
		shape tf.Shape
		limit float64
	}{{tf.Shape{100, 50}, math.Sqrt(6.0 / 150)}, {tf.Shape{3, 3, 8, 16}, math.Sqrt(6.0 / (9 * 24))}, {tf.Shape{500}, math.Sqrt(6.0 / 1000)}} {
		v, err := initializers.GlorotUniform(g, tf.Float32, c.shape).Value()
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, x := range tf.Data[float32](v) {
			largest = max(largest, math.Abs(float64(x)))
		}
		if largest > c.limit || largest < 0.9*c.limit {
			t.Errorf("%v: the largest is %v, the limit %v", c.shape, largest, c.limit)
		}
	}
}

func TestRefusals(t *testing.T) {
	for i, c := range []struct {
		f initializers.Initializer
		s tf.Shape
	}{
		{initializers.Identity(1), tf.Shape{3}},
		{initializers.Identity(1), tf.Shape{-1, 3}},
		{initializers.VarianceScaling(0, initializers.FanIn, initializers.Uniform), tf.Shape{3}},
	} {
		if y := c.f(tf.NewGraph(), tf.Float32, c.s); tf.CodeOf(y.Err()) != tf.InvalidArgument {
			t.Errorf("case %d: %v", i, y.Err())
		}
	}
}

// TestLargeShapes: sizes beyond 32 bits stay what they are.
func TestLargeShapes(t *testing.T) {
	for _, f := range []initializers.Initializer{initializers.Zeros, initializers.TruncatedNormal(0, 1), initializers.RandomUniform(-1, 1)} {
		want := tf.Shape{1 << 32, 2}
		y := f(tf.NewGraph(), tf.Float32, want)
		if y.Err() != nil || !y.Shape().Equal(want) {
			t.Errorf("got %v, %v", y, y.Err())
		}
	}
}

// TestIdentityIsNoConstant: the graph does not hold the elements of a matrix.
func TestIdentityIsNoConstant(t *testing.T) {
	g := tf.NewGraph()
	initializers.Identity(1)(g, tf.Float32, tf.Shape{512, 512})
	if def, err := g.MarshalGraphDef(); err != nil || len(def) > 1<<12 {
		t.Errorf("the graph has %d bytes, %v", len(def), err)
	}
}

// TestUniformIntegers: random numbers of integer types are those of TensorFlow for the
// graph's seed 3 and the seed 1.
func TestUniformIntegers(t *testing.T) {
	for d, want := range map[tf.DType]string{tf.Int32: "int32[6]{-1, 5, 3, 5, 2, 3}", tf.Int64: "int64[6]{9, -2, -5, 9, 2, 5}"} {
		g := tf.NewGraph()
		g.SetSeed(3)
		if x := computed(t, initializers.RandomUniform(-5, 10, 1)(g, d, tf.Shape{6})); fmt.Sprint(x) != want {
			t.Errorf("got %v, want %s", x, want)
		}
	}
}

// TestConstantOfIntegers: a number that an integer type does not have is refused, not cut off.
func TestConstantOfIntegers(t *testing.T) {
	for _, c := range []struct {
		x float64
		d tf.DType
	}{{2.5, tf.Int32}, {-0.5, tf.Int64}, {300, tf.Uint8}, {-1, tf.Uint8}, {1e-9, tf.Int8}} {
		g := tf.NewGraph()
		err := initializers.Constant(c.x)(g, c.d, tf.Shape{2}).Err()
		if want := fmt.Sprintf("the number must be one of type %v, got %v", c.d, c.x); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%v as %v: got %v, want %q", c.x, c.d, err, want)
		}
	}
	if x := computed(t, initializers.Constant(255)(tf.NewGraph(), tf.Uint8, tf.Shape{2})); fmt.Sprint(x) != "uint8[2]{255, 255}" {
		t.Errorf("got %v", x)
	}
}

// TestNoGraph: without a graph there is an error, no panic.
func TestNoGraph(t *testing.T) {
	all := map[string]initializers.Initializer{"of a part": initializers.OfPart(initializers.Zeros, tf.Shape{4, 2}, tf.Shape{2, 0}), "whole": initializers.RandomUniform(0, 5)}
	for _, c := range fromTensorFlow {
		all[c.name] = c.f
	}
	for name, f := range all {
		for _, d := range []tf.DType{tf.Float32, tf.Int32} {
			if err := f(nil, d, tf.Shape{2, 2}).Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "needs a graph, got nil") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
