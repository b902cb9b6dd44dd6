package tf_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// seen is what the shape function of TestSees found out about its first input.
var seen struct {
	value core.Shape // as a shape
	ints  []int
	known bool
}

func init() {
	core.Register(core.OpDef{
		Name: "TestSees", In: "sizes: int32; more: N * float; last: float", Out: "y: float", Attrs: "N: int >= 0", NoGrad: core.NotDifferentiable,
		Shape: func(c *core.Infer) error {
			seen.value = c.ConstShape(0)
			seen.ints, seen.known = c.ConstInts(0)
			s, err := c.Rank(c.NumIn()-1, 1)
			c.Set(0, s)
			return err
		},
	})
}

func sees(sizes tf.Output) *tf.Operation {
	return tf.Apply(nil, "TestSees", []tf.Output{sizes, placeholder(sizes.Graph(), "last", core.Float32, nil)})
}

func TestShapeFunctionsSeeValues(t *testing.T) {
	g := tf.NewGraph()
	known := placeholder(g, "known", core.Float32, core.Shape{2, 3})
	partly := placeholder(g, "partly", core.Float32, core.Shape{-1, 3})
	unknown := placeholder(g, "unknown", core.Float32, nil)
	one := func(op string, in []tf.Output, opts ...tf.Option) tf.Output {
		return tf.Apply(g, op, in, opts...).Output(0)
	}
	shapeOf := func(x tf.Output) tf.Output { return one("Shape", []tf.Output{x}) }
	c := constant(g, (*tf.Tensor)(fromSlice(t, []int32{4, -1})))
	scalar := constant(g, (*tf.Tensor)(core.Scalar(int32(7))))
	some := placeholder(g, "some", core.Int32, core.Shape{})
	axis := constant(g, (*tf.Tensor)(core.Scalar(int32(0))))
	for name, x := range map[string]struct {
		sizes tf.Output
		want  string
		known bool
	}{
		"constant":             {c, "[4,?]", true},
		"identity":             {one("Identity", []tf.Output{c}), "[4,?]", true},
		"shape":                {shapeOf(known), "[2,3]", true},
		"partly known shape":   {shapeOf(partly), "[?,3]", false},
		"shape of unknown":     {shapeOf(unknown), "<unknown>", false},
		"packed":               {one("Pack", []tf.Output{scalar, some}), "[7,?]", false},
		"joined":               {one("ConcatV2", []tf.Output{shapeOf(partly), c, axis}), "[?,3,4,?]", false},
		"joined with unknown":  {one("ConcatV2", []tf.Output{shapeOf(unknown), c, axis}), "<unknown>", false},
		"a vector of a length": {placeholder(g, "vector", core.Int32, core.Shape{3}), "[?,?,?]", false},
		"no vector":            {placeholder(g, "matrix", core.Int32, core.Shape{3, 1}), "<unknown>", false},
		"scalar":               {scalar, "[7]", true},
	} {
		if op := sees(x.sizes); op.Err() != nil || seen.value.String() != x.want || seen.known != x.known {
			t.Errorf("%s: seen as %v, known: %v %v, want %s (%v)", name, seen.value, seen.known, seen.ints, x.want, op.Err())
		}
	}
}

func TestRank(t *testing.T) {
	g := tf.NewGraph()
	sizes := constant(g, (*tf.Tensor)(fromSlice(t, []int32{1})))
	f := placeholder(g, "f", core.Float32, nil)
	for _, c := range []struct {
		last core.Shape
		want string
	}{{nil, "[?]"}, {core.Shape{5}, "[5]"}, {core.Shape{-1}, "[?]"}} {
		op := tf.Apply(nil, "TestSees", []tf.Output{sizes, f, f, placeholder(g, "last", core.Float32, c.last)})
		if op.Err() != nil || op.Output(0).Shape().String() != c.want {
			t.Errorf("%v: %v, %v", c.last, op.Output(0), op.Err())
		}
	}
	op := tf.Apply(nil, "TestSees", []tf.Output{sizes, f, f, placeholder(g, "last", core.Float32, core.Shape{2, 3})})
	if err := op.Err(); err == nil || !strings.Contains(err.Error(), "Shape must be rank 1 but is rank 2: input last has shape [2,3]") {
		t.Errorf("got %v", err)
	}
}

func TestInferShapesOfNodes(t *testing.T) {
	n, err := core.NewNode("n", "MatMul", core.Attrs{"T": core.Float32})
	if err != nil {
		t.Fatal(err)
	}
	got, err := core.InferShapes(n, []core.Shape{{2, 3}, {3, -1}}, nil)
	if err != nil || !got[0].Equal(core.Shape{2, -1}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := core.InferShapes(n, []core.Shape{{2, 3}, {4, 5}}, nil); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

func TestHandlesTellShapes(t *testing.T) {
	g := tf.NewGraph()
	h := tf.Apply(g, "VarHandleOp", nil, tf.Attr("dtype", core.Float32), tf.Attr("shape", core.Shape{2, -1})).Output(0)
	read := func(h tf.Output, d core.DType) *tf.Operation {
		return tf.Apply(nil, "ReadVariableOp", []tf.Output{h}, tf.Attr("dtype", d))
	}
	if x := read(h, core.Float32).Output(0); !x.Shape().Equal(core.Shape{2, -1}) {
		t.Errorf("read %v", x)
	}
	other := placeholder(g, "h", core.Resource, core.Shape{})
	if x := read(other, core.Float32).Output(0); x.Err() != nil || x.Shape() != nil {
		t.Errorf("of a handle that nothing is known of: %v, %v", x, x.Err())
	}
	if err := read(h, core.Int32).Err(); err == nil || !strings.Contains(err.Error(), "Expected float got int32") {
		t.Errorf("got %v", err)
	}
}

func TestRegistry(t *testing.T) {
	names := core.OpNames()
	if len(names) < 200 || !strings.Contains(strings.Join(names, " "), "MatMul") {
		t.Errorf("%d ops", len(names))
	}
	d := core.Lookup("MatMul")
	if d == nil || d.Attr("transpose_a") == nil || d.Attr("nothing") != nil || core.Lookup("Nonsense") != nil {
		t.Errorf("got %v", d)
	}
}

// TestShapesOfManySizes: vectors that are longer than a rank can be, or are joined of one
// another many times, are shapes that are not known. To look at them takes little.
func TestShapesOfManySizes(t *testing.T) {
	g := tf.NewGraph()
	joined := func(x, axis tf.Output) tf.Output {
		for range 15 {
			many := slices.Repeat([]tf.Output{x}, 16)
			x = tf.Apply(g, "ConcatV2", append(many, axis)).Output(0)
		}
		return x
	}
	sizes := func(rank int) tf.Output {
		x := placeholder(g, "x", core.Float32, slices.Repeat(core.Shape{-1}, rank))
		return tf.Apply(g, "Shape", []tf.Output{x}).Output(0)
	}
	zero, some := constant(g, (*tf.Tensor)(core.Scalar(int32(0)))), placeholder(g, "axis", core.Int32, core.Shape{})
	for name, x := range map[string]tf.Output{
		"a long vector":            placeholder(g, "long", core.Int32, core.Shape{1 << 60}),
		"joined":                   joined(sizes(1), zero),
		"joined somehow":           joined(sizes(1), some),
		"joined of nothing at all": joined(sizes(0), some),
	} {
		if op := sees(x); op.Err() != nil || seen.value != nil {
			t.Errorf("%s: %d sizes, %v", name, len(seen.value), op.Err())
		}
	}
}
