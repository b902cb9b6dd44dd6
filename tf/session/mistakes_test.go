package session_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

var updateMistakes = flag.Bool("update-mistakes", false, "write testdata/mistakes.txt anew")

const mistakesFile = "testdata/mistakes.txt"

// A mistake is what a program does wrong. It returns what the program hears of it.
type mistake struct {
	name string
	make func(m *maker) error
}

// A maker has what mistakes are made with.
type maker struct {
	g          *tf.Graph
	f, i, b, s tf.Output // float32 [2,3], int32 [3], bool [3], string scalar
	p          tf.Output // a float32 placeholder of any shape, named p
	n          tf.Output // an int32 placeholder of any shape, named n
}

func newMaker() *maker {
	g := tf.NewGraph()
	return &maker{
		g: g, f: ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3), i: ops.Const(g, []int{0, 1, 2}),
		b: ops.Const(g, []bool{true, false, true}), s: ops.Scalar(g, "text"),
		p: ops.Placeholder(g, tf.Float32, nil, tf.Name("p")), n: ops.Placeholder(g, tf.Int32, nil, tf.Name("n")),
	}
}

// run runs y in a session of its own.
func (m *maker) run(feeds session.Feeds, y ...tf.Fetchable) error {
	s, err := session.New(m.g)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err = s.Run(ctx, feeds, y...)
	return err
}

// ints runs y with n fed.
func (m *maker) ints(y tf.Output, n ...int32) error {
	t, err := tf.FromSlice(n)
	if err != nil {
		return err
	}
	return m.run(session.Feeds{m.n: t}, y)
}

// floats runs y with p fed.
func (m *maker) floats(y tf.Output, p ...float32) error {
	t, err := tf.FromSlice(p)
	if err != nil {
		return err
	}
	return m.run(session.Feeds{m.p: t}, y)
}

func (m *maker) variable() *tf.Variable {
	return tf.NewVariable(ops.Scalar(m.g, float32(1)), tf.VariableOptions{Name: "v"})
}

var here = regexp.MustCompile(`mistakes2?_test\.go:\d+`)

// TestMistakes makes each mistake and compares what is said with the file, which
// people have read. What is said has a code; it names the program's line where there
// is one; nothing panics, nothing hangs.
func TestMistakes(t *testing.T) {
	var said strings.Builder
	for _, m := range slices.Concat(mistakes, moreMistakes) {
		err := attempt(m)
		if err == nil {
			t.Errorf("%s: nothing is said", m.name)
			continue
		}
		if code := tf.CodeOf(err); code == tf.Unknown || code == tf.Internal {
			t.Errorf("%s: the code is %v: %v", m.name, code, err)
		}
		fmt.Fprintf(&said, "%s\n\t%v: %s\n", m.name, tf.CodeOf(err), here.ReplaceAllString(err.Error(), "LINE"))
	}
	if *updateMistakes {
		if err := os.WriteFile(mistakesFile, []byte(said.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(mistakesFile)
	if err != nil {
		t.Fatal(err)
	}
	compareMistakes(t, said.String(), string(want))
}

func compareMistakes(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("%s:%d differs (go test ./tf/session -run TestMistakes -update-mistakes writes it anew; read it then):\ngot  %s\nwant %s", mistakesFile, i+1, at(a, i), at(b, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

// attempt makes a mistake; a panic is an error of code INTERNAL.
func attempt(m mistake) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = tf.Errorf(tf.Internal, "panic: %v", v)
		}
	}()
	return m.make(newMaker())
}

// built is a mistake that is found while the graph is built.
func built(name string, f func(m *maker) tf.Output) mistake {
	return mistake{name, func(m *maker) error {
		err := f(m).Err()
		if err != nil && !here.MatchString(err.Error()) {
			return tf.Errorf(tf.Internal, "no line: %v", err)
		}
		return err
	}}
}

var mistakes = []mistake{
	// Shapes and types of operands.
	built("products of matrices that do not fit", func(m *maker) tf.Output { return m.f.MatMul(m.f) }),
	built("a product with a vector", func(m *maker) tf.Output { return m.f.MatMul(m.i.Cast(tf.Float32)) }),
	built("types differ", func(m *maker) tf.Output { return m.f.Add(m.i) }),
	built("shapes do not broadcast", func(m *maker) tf.Output { return m.f.Add(ops.Const(m.g, []float32{1, 2})) }),
	built("arithmetic on strings", func(m *maker) tf.Output { return m.s.Mul(m.s) }),
	built("arithmetic on bools", func(m *maker) tf.Output { return m.b.Add(m.b) }),
	built("logic on numbers", func(m *maker) tf.Output { return m.i.And(m.i) }),
	built("a square root of integers", func(m *maker) tf.Output { return m.i.Sqrt() }),
	built("an exponential of a string", func(m *maker) tf.Output { return m.s.Exp() }),
	built("a number that is no integer", func(m *maker) tf.Output { return m.i.Add(0.5) }),
	built("an operand of a wrong kind", func(m *maker) tf.Output { return m.i.Add(struct{}{}) }),
	built("an operand that is nil", func(m *maker) tf.Output { return m.f.Mul(nil) }),
	built("the zero Output as operand", func(m *maker) tf.Output { return m.f.Add(tf.Output{}) }),
	built("an operand of another graph", func(m *maker) tf.Output { return m.f.Add(newMaker().f) }),
	built("a bias of another size", func(m *maker) tf.Output { return m.f.BiasAdd(ops.Const(m.g, []float32{1, 2})) }),
	built("limits of another type", func(m *maker) tf.Output { return m.f.Clip(m.i, 1) }),

	// Axes, sizes and indices.
	built("a sum along an axis that is not there", func(m *maker) tf.Output { return m.f.Sum(2) }),
	built("a maximum's position along such an axis", func(m *maker) tf.Output { return m.f.ArgMax(-3) }),
	built("a reshape that does not keep the elements", func(m *maker) tf.Output { return m.f.Reshape(4, 2) }),
	built("a reshape with two unknown sizes", func(m *maker) tf.Output { return m.f.Reshape(-1, -1) }),
	built("a reshape that does not divide", func(m *maker) tf.Output { return m.f.Reshape(4, -1) }),
	built("a transposition of other rank", func(m *maker) tf.Output { return m.f.Transpose(0, 1, 2) }),
	built("a transposition with an axis twice", func(m *maker) tf.Output { return m.f.Transpose(0, 0) }),
	built("a squeeze of a larger dimension", func(m *maker) tf.Output { return m.f.Squeeze(0) }),
	built("a new dimension too far out", func(m *maker) tf.Output { return m.f.ExpandDims(4) }),
	{"a slice beyond the end", func(m *maker) error { return m.run(nil, m.f.Slice([]int{0, 2}, []int{1, 2})) }},
	built("a slice of other rank", func(m *maker) tf.Output { return m.f.Slice([]int{0}, []int{1}) }),
	built("an index that does not parse", func(m *maker) tf.Output { return m.f.At("1:x") }),
	built("an index with a stride of 0", func(m *maker) tf.Output { return m.f.At("::0") }),
	built("an index beyond the end", func(m *maker) tf.Output { return m.f.At("2") }),
	built("an index of too many dimensions", func(m *maker) tf.Output { return m.f.At("0, 0, 0") }),
	built("an index that lacks its scalar", func(m *maker) tf.Output { return m.f.At("?") }),
	built("parts that are not equal", func(m *maker) tf.Output { return m.f.Split(2, 1)[0] }),
	built("sizes that do not add up", func(m *maker) tf.Output { return ops.SplitV(m.f, []int{1, 1}, 1, 2)[0] }),
	{"no parts", func(m *maker) error { return m.run(nil, ops.SplitV(m.f, []int{}, 1, 1)[0]) }},
	built("an unstack of unknown size", func(m *maker) tf.Output { return m.p.Unstack(0)[0] }),
	built("a concat of other sizes", func(m *maker) tf.Output { return ops.Concat(0, []tf.Output{m.f, m.f.Transpose(1, 0)}) }),
	built("a concat of other ranks", func(m *maker) tf.Output { return ops.Concat(0, []tf.Output{m.f, m.f.Reshape(6)}) }),
	built("a concat along a missing axis", func(m *maker) tf.Output { return ops.Concat(2, []tf.Output{m.f, m.f}) }),
	built("a stack of other shapes", func(m *maker) tf.Output { return ops.Stack([]tf.Output{m.f, m.f.Reshape(6)}, 0) }),
	built("a tile of other rank", func(m *maker) tf.Output { return m.f.Tile(2) }),
	built("paddings of other rank", func(m *maker) tf.Output { return ops.Pad(m.f, [][2]int{{1, 1}}) }),
	{"negative paddings", func(m *maker) error { return m.run(nil, ops.Pad(m.f, [][2]int{{-1, 1}, {0, 0}})) }},
	built("a broadcast that does not fit", func(m *maker) tf.Output { return m.f.BroadcastTo(2, 4) }),
	built("more greatest elements than there are", func(m *maker) tf.Output { v, _ := m.f.TopK(4); return v }),
	built("a negative depth", func(m *maker) tf.Output { return m.i.OneHot(-1) }),
	built("indices that are no integers", func(m *maker) tf.Output { return m.f.Gather(m.f, 0) }),
	built("a gather along a missing axis", func(m *maker) tf.Output { return m.f.Gather(m.i, 2) }),
	built("constants that do not fill the shape", func(m *maker) tf.Output { return ops.Const(m.g, []float32{1, 2}, 3) }),
	built("a constant of ragged slices", func(m *maker) tf.Output { return ops.Constant(m.g, [][]float32{{1}, {2, 3}}) }),
	built("a constant of structs", func(m *maker) tf.Output { return ops.Constant(m.g, struct{ X int }{1}) }),
	built("a constant of nil", func(m *maker) tf.Output { return ops.Constant(m.g, nil) }),
	built("a constant of a nil tensor", func(m *maker) tf.Output { return ops.ConstTensor(m.g, nil) }),
	built("a constant without a graph", func(m *maker) tf.Output { return ops.Scalar(nil, 1) }),
	built("a placeholder of a negative size", func(m *maker) tf.Output { return ops.Placeholder(m.g, tf.Float32, tf.Shape{-2}) }),
	built("a placeholder of no type", func(m *maker) tf.Output { return ops.Placeholder(m.g, tf.Invalid, nil) }),
	{"a cast to strings", func(m *maker) error { return m.run(nil, m.f.Cast(tf.String)) }},
	built("a range without a step", func(m *maker) tf.Output {
		return ops.Range(m.g, 0, 3, 0)
	}),

	// Attributes and names.
	built("an op that does not exist", func(m *maker) tf.Output { return tf.Apply(m.g, "Matmul", []tf.Output{m.f, m.f}).Output(0) }),
	built("an attribute that the op lacks", func(m *maker) tf.Output { return ops.Relu(m.f, tf.Attr("alpha", 1)) }),
	built("an attribute of another type", func(m *maker) tf.Output { return ops.Sum(m.f, []int{0}, tf.Attr("keep_dims", "yes")) }),
	built("an attribute that is needed", func(m *maker) tf.Output { return tf.Apply(m.g, "Placeholder", nil).Output(0) }),
	built("too few inputs", func(m *maker) tf.Output { return tf.Apply(m.g, "MatMul", []tf.Output{m.f}).Output(0) }),
	{"an output that is not there", func(m *maker) error { return m.f.Operation().Output(3).Err() }},
	built("a name that is none", func(m *maker) tf.Output { return m.f.Relu(tf.Name("a b")) }),
	{"a device that is none", func(m *maker) error {
		var y tf.Output
		m.g.Device("/gpu;0", func() { y = m.f.Relu() })
		return m.run(nil, y)
	}},
	built("a padding of a convolution", func(m *maker) tf.Output {
		x, w := ops.Placeholder(m.g, tf.Float32, tf.Shape{1, 8, 8, 3}), ops.Placeholder(m.g, tf.Float32, tf.Shape{3, 3, 3, 4})
		return ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SOME")
	}),
	built("channels of a convolution", func(m *maker) tf.Output {
		x, w := ops.Placeholder(m.g, tf.Float32, tf.Shape{1, 8, 8, 3}), ops.Placeholder(m.g, tf.Float32, tf.Shape{3, 3, 2, 4})
		return ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME")
	}),
	built("strides of a convolution", func(m *maker) tf.Output {
		x, w := ops.Placeholder(m.g, tf.Float32, tf.Shape{1, 8, 8, 3}), ops.Placeholder(m.g, tf.Float32, tf.Shape{3, 3, 3, 4})
		return ops.Conv2D(x, w, []int{2, 2}, "SAME")
	}),

	// Losses, layers, variables, optimizers.
	built("labels and logits the other way round", func(m *maker) tf.Output { return ops.SparseSoftmaxCrossEntropyWithLogits(m.f, m.i.At(":2")) }),
	built("labels of another number", func(m *maker) tf.Output { return ops.SparseSoftmaxCrossEntropyWithLogits(m.i, m.f) }),
	built("a loss of other shapes", func(m *maker) tf.Output { return losses.MeanSquaredError(m.f, m.f.At("0, :2")) }),
	built("a dense layer on a scalar", func(m *maker) tf.Output { return layers.Dense(ops.Scalar(m.g, float32(1)), 3) }),
	built("a dense layer of no units", func(m *maker) tf.Output { return layers.Dense(m.f, 0) }),
	built("a dense layer on unknown columns", func(m *maker) tf.Output { return layers.Dense(ops.Placeholder(m.g, tf.Float32, tf.Shape{2, -1}), 3) }),
	built("a dense layer on strings", func(m *maker) tf.Output { return layers.Dense(m.s.Reshape(1, 1), 3) }),
	built("dropout of more than all", func(m *maker) tf.Output { return layers.Dropout(m.f, 1.5) }),
	built("a variable of another shape", func(m *maker) tf.Output { return m.variable().Assign(m.f).Operation().Output(0) }),
	{"a rate of zero", func(m *maker) error { return m.minimize(train.GradientDescent{}, m.variable().Value()) }},
	{"a loss that is no scalar", func(m *maker) error {
		return m.minimize(train.GradientDescent{LearningRate: 1}, m.variable().Value().Mul(m.f))
	}},
	{"a loss without variables", func(m *maker) error { return m.minimize(train.GradientDescent{LearningRate: 1}, m.f.Sum()) }},
	{"a loss of integers", func(m *maker) error { return m.minimize(train.GradientDescent{LearningRate: 1}, m.i.Sum()) }},
	{"a loss that gradients do not reach", func(m *maker) error {
		return m.minimize(train.GradientDescent{LearningRate: 1}, m.variable().Value().StopGradient())
	}},
	{"two variables of one name and other shapes", func(m *maker) error {
		vars.Get(m.g, "w", tf.Shape{2})
		return vars.Get(m.g, "w", tf.Shape{3}).Value().Err()
	}},
	{"two variables of one name and other shapes, shared", func(m *maker) (err error) {
		vars.Get(m.g, "w", tf.Shape{2})
		vars.Scope(m.g, "", vars.ScopeOptions{Reuse: vars.Auto}, func() { err = vars.Get(m.g, "w", tf.Shape{3}).Value().Err() })
		return err
	}},

	// Feeds and fetches.
	{"a placeholder that is not fed", func(m *maker) error { return m.run(nil, m.p.Square()) }},
	{"a feed of another type", func(m *maker) error { return m.run(session.Feeds{m.p: tf.Scalar(int32(1))}, m.p.Square()) }},
	{"a feed of another shape", func(m *maker) error {
		x := ops.Placeholder(m.g, tf.Float32, tf.Shape{-1, 3}, tf.Name("x"))
		return m.run(session.Feeds{x: tf.Scalar(float32(1))}, x.Square())
	}},
	{"a feed that is nil", func(m *maker) error { return m.run(session.Feeds{m.p: nil}, m.p.Square()) }},
	{"a feed of a nil tensor", func(m *maker) error { return m.run(session.Feeds{m.p: (*tf.Tensor)(nil)}, m.p.Square()) }},
	{"a feed of the zero Output", func(m *maker) error { return m.run(session.Feeds{{}: tf.Scalar(float32(1))}, m.f) }},
	{"a feed for another graph", func(m *maker) error { return m.run(session.Feeds{newMaker().p: tf.Scalar(float32(1))}, m.f) }},
	{"nothing is fetched", func(m *maker) error { return m.run(nil) }},
	{"a fetch that is nil", func(m *maker) error { return m.run(nil, m.f, nil) }},
	{"a fetch of the zero Output", func(m *maker) error { return m.run(nil, tf.Output{}) }},
	{"a fetch of a nil operation", func(m *maker) error { return m.run(nil, (*tf.Operation)(nil)) }},
	{"a fetch of another graph", func(m *maker) error { return m.run(nil, newMaker().f) }},
	{"a variable without a value", func(m *maker) error { return m.run(nil, m.variable().Value().Square()) }},
	{"an addition to a variable without a value", func(m *maker) error { return m.run(nil, m.variable().AssignAdd(m.f.Sum())) }},
	{"an addition to a second variable without a value", func(m *maker) error {
		v := m.variable()
		s, err := session.New(m.g)
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.Run(context.Background(), nil, tf.InitializeAll(m.g)); err != nil {
			return err
		}
		late := tf.NewVariable(v.Value(), tf.VariableOptions{Name: "late"})
		_, err = s.Run(context.Background(), nil, late.AssignSub(v.Value()))
		return err
	}},
	{"an initializer made before the optimizer", func(m *maker) error {
		v := m.variable()
		start := tf.InitializeAll(m.g)
		step := train.Adam{LearningRate: 0.1}.Minimize(v.Value().Square())
		s, err := session.New(m.g)
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.Run(context.Background(), nil, start); err != nil {
			return err
		}
		_, err = s.Run(context.Background(), nil, step)
		return err
	}},
	{"elements of another type", func(m *maker) error {
		_, err := tf.Values[int32](tf.Scalar(float32(1)))
		return err
	}},
	{"elements of a nil tensor", func(m *maker) error { _, err := tf.Values[int32](nil); return err }},
	{"memory for another number of elements", func(m *maker) error {
		s, err := session.New(m.g)
		if err != nil {
			return err
		}
		defer s.Close()
		return session.FetchInto(context.Background(), s, make([]float32, 5), nil, m.f)
	}},
	{"a session that has been closed", func(m *maker) error {
		s, err := session.New(m.g)
		if err != nil {
			return err
		}
		s.Close()
		_, err = s.Run(context.Background(), nil, m.f)
		return err
	}},
	{"a session on a graph with a mistake", func(m *maker) error { m.f.Add(m.i); return m.run(nil, m.f) }},
	{"a session without a graph", func(m *maker) error { _, err := session.New(nil); return err }},
	{"a target without a scheme", func(m *maker) error { _, err := session.New(m.g, session.Target("host:1")); return err }},
	{"a context that has ended", func(m *maker) error {
		s, err := session.New(m.g)
		if err != nil {
			return err
		}
		defer s.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = s.Run(ctx, nil, m.f.Square())
		return err
	}},
	{"a device that is not there", func(m *maker) error {
		var y tf.Output
		m.g.Device("/gpu:0", func() { y = m.f.Relu() })
		return m.run(nil, y)
	}},

	// What only values show.
	{"an index out of range", func(m *maker) error { return m.ints(m.f.Gather(m.n, 0), 0, 7) }},
	{"a row out of range", func(m *maker) error { return m.ints(m.f.At("?", m.n.At("0")), 5) }},
	{"a division by zero", func(m *maker) error { return m.ints(m.i.FloorDiv(m.n), 0, 1, 2) }},
	{"a remainder by zero", func(m *maker) error { return m.ints(m.i.Mod(m.n), 1, 0, 2) }},
	{"shapes that do not broadcast at run time", func(m *maker) error { return m.ints(m.i.Add(m.n), 1, 2) }},
	{"a reshape that does not fit at run time", func(m *maker) error { return m.floats(m.p.Reshape(4, 4), 1, 2, 3) }},
	{"a negative size at run time", func(m *maker) error { return m.ints(ops.Fill(m.n, ops.Scalar(m.g, 1)), -1) }},
	{"sizes beyond all memory", func(m *maker) error {
		return m.ints(ops.Fill(m.n, ops.Scalar(m.g, 1)), math.MaxInt32, math.MaxInt32, math.MaxInt32)
	}},
	{"a label out of range", func(m *maker) error {
		return m.ints(ops.SparseSoftmaxCrossEntropyWithLogits(m.n, m.f).Sum(), 0, 9)
	}},
	{"a number that is not one", func(m *maker) error { return m.floats(ops.CheckNumerics(m.p.Log(), "log of p"), -1) }},
	{"an assertion that fails", func(m *maker) error {
		return m.run(nil, ops.Assert(m.f.Sum().Less(0), []tf.Output{m.s, m.f}))
	}},
	{"a shape that is not the promised one", func(m *maker) error { return m.floats(ops.EnsureShape(m.p, tf.Shape{2}), 1) }},
	{"a segment out of order", func(m *maker) error { return m.ints(ops.SegmentSum(m.i, m.n), 1, 0, 2) }},
	{"a permutation that is none", func(m *maker) error { return m.ints(ops.Transpose(m.f, m.n), 0, 0) }},

	// Control flow and functions.
	built("a condition that is no bool", func(m *maker) tf.Output {
		f := func() []tf.Output { return []tf.Output{m.f} }
		return tf.Cond(m.i, f, f)[0]
	}),
	built("branches of other types", func(m *maker) tf.Output {
		return tf.Cond(m.b.At("0"), func() []tf.Output { return []tf.Output{m.f} }, func() []tf.Output { return []tf.Output{m.i} })[0]
	}),
	built("branches of other numbers", func(m *maker) tf.Output {
		return tf.Cond(m.b.At("0"), func() []tf.Output { return []tf.Output{m.f} }, func() []tf.Output { return nil })[0]
	}),
	built("a loop's condition that is no bool", func(m *maker) tf.Output {
		return tf.While([]tf.Output{m.i}, func(v []tf.Output) tf.Output { return v[0] }, func(v []tf.Output) []tf.Output { return v })[0]
	}),
	built("a loop's body of another number", func(m *maker) tf.Output {
		return tf.While([]tf.Output{m.i, m.i}, func(v []tf.Output) tf.Output { return m.b.At("0") }, func(v []tf.Output) []tf.Output { return v[:1] })[0]
	}),
	built("a loop's variable of changing shape", func(m *maker) tf.Output {
		return tf.While([]tf.Output{m.i}, func(v []tf.Output) tf.Output { return v[0].At("0").Less(3) },
			func(v []tf.Output) []tf.Output { return []tf.Output{ops.Concat(0, []tf.Output{v[0], v[0]})} })[0]
	}),
	built("a tensor of a branch outside of it", func(m *maker) tf.Output {
		var inner tf.Output
		tf.Cond(m.b.At("0"), func() []tf.Output { inner = m.f.Neg(); return []tf.Output{inner} }, func() []tf.Output { return []tf.Output{m.f} })
		return inner.Add(1)
	}),
}

func (m *maker) minimize(o interface {
	Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation
}, loss tf.Output) error {
	return o.Minimize(loss).Err()
}
