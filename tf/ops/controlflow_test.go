package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

func init() {
	const flow = "directs other ops: see TestSwitchAndMerge and the loops of package direct"
	for _, op := range []string{"Switch", "Merge", "Enter", "Exit", "NextIteration"} {
		optest.Unsampled(op, flow)
		optest.Unsampled("Ref"+op, flow)
	}
	for _, op := range []string{"_SwitchN", "LoopCond", "ControlTrigger"} {
		optest.Unsampled(op, flow)
	}
}

func TestSwitchAndMerge(t *testing.T) {
	g := tf.NewGraph()
	p := ops.Placeholder(g, tf.Bool, tf.Shape{})
	x := ops.Const(g, []float32{1, 2})
	onFalse, onTrue := ops.Switch(x, p)
	y, index := ops.Merge([]tf.Output{ops.Neg(onFalse), ops.Mul(onTrue, onTrue)})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pred, want := range map[bool]string{false: "float32[2]{-1, -2} int32[]{0}", true: "float32[2]{1, 4} int32[]{1}"} {
		out, err := s.Run(t.Context(), session.Feeds{p: (*tf.Tensor)(core.Scalar(pred))}, y, index)
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].String() + " " + out[1].String(); got != want {
			t.Errorf("%v: got %s, want %s", pred, got, want)
		}
	}
	// To fetch what is not computed is an error.
	if _, err := s.Run(t.Context(), session.Feeds{p: (*tf.Tensor)(core.Scalar(true))}, onFalse); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "Retval[0] does not have value") {
		t.Errorf("got %v, want what TensorFlow's sessions say", err)
	}
}

func TestSwitchN(t *testing.T) {
	g := tf.NewGraph()
	i := ops.Placeholder(g, tf.Int32, tf.Shape{})
	branches := tf.Apply(g, "_SwitchN", []tf.Output{ops.Scalar[float32](g, 5), i}, tf.Attr("num_outs", 3), tf.Name("switch")).Outputs()
	for k := range branches {
		branches[k] = ops.Mul(branches[k], ops.Scalar(g, float32(k)))
	}
	y, _ := ops.Merge(branches)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for index, want := range map[int32]float32{0: 0, 1: 5, 2: 10, 7: 10, -1: 10} { // the last one serves all others
		out, err := session.Fetch[float32](t.Context(), s, session.Feeds{i: (*tf.Tensor)(core.Scalar(index))}, y)
		if err != nil || out[0] != want {
			t.Errorf("%d: got %v, %v, want %v", index, out, err, want)
		}
	}
}

func TestFlowShapes(t *testing.T) {
	g := tf.NewGraph()
	of := func(s tf.Shape) tf.Output { return ops.Placeholder(g, tf.Float32, s) }
	merge := func(shapes ...tf.Shape) tf.Shape {
		var in []tf.Output
		for _, s := range shapes {
			in = append(in, of(s))
		}
		y, _ := ops.Merge(in)
		return y.Shape()
	}
	_, onTrue := ops.Switch(of(tf.Shape{2, -1}), ops.Placeholder(g, tf.Bool, nil))
	for _, c := range []struct {
		name      string
		got, want tf.Shape
	}{
		{"switch", onTrue.Shape(), tf.Shape{2, -1}},
		{"merge of equal ones", merge(tf.Shape{2, 3}, tf.Shape{2, 3}), tf.Shape{2, 3}},
		{"merge of different sizes", merge(tf.Shape{2, 3}, tf.Shape{2, 4}), tf.Shape{2, -1}},
		{"merge of a size that is not known", merge(tf.Shape{2, 3}, tf.Shape{-1, 3}), tf.Shape{-1, 3}},
		{"merge of different ranks", merge(tf.Shape{2}, tf.Shape{2, 4}), nil},
		{"merge of unknown rank", merge(tf.Shape{2}, nil), nil},
		{"enter", ops.Enter(of(tf.Shape{2}), "f").Shape(), nil},
		{"enter of a constant", ops.Enter(of(tf.Shape{2}), "f", ops.EnterOpts{Constant: true}).Shape(), tf.Shape{2}},
		{"exit", ops.Exit(of(tf.Shape{2})).Shape(), tf.Shape{2}},
		{"next iteration", ops.NextIteration(of(tf.Shape{2})).Shape(), tf.Shape{2}},
		{"loop condition", ops.LoopCond(ops.Placeholder(g, tf.Bool, nil)).Shape(), tf.Shape{}},
	} {
		if !c.got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

func TestFlowErrors(t *testing.T) {
	g := tf.NewGraph()
	x, _ := ops.Switch(ops.Scalar[float32](g, 1), ops.Const(g, []bool{true, false}))
	if err := x.Err(); err == nil || !strings.Contains(err.Error(), "Shape must be rank 0 but is rank 1: input pred has shape [2]") {
		t.Errorf("got %v", err)
	}
	g = tf.NewGraph()
	p := ops.Placeholder(g, tf.Bool, nil)
	y, _ := ops.Switch(ops.Scalar[float32](g, 1), p)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bad, _ := core.FromSlice([]bool{true})
	if _, err := s.Run(t.Context(), session.Feeds{p: (*tf.Tensor)(bad)}, y); err == nil || !strings.Contains(err.Error(), "The second input must be a scalar, but it has shape [1]") {
		t.Errorf("got %v", err)
	}
}
