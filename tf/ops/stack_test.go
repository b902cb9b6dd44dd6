package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func init() {
	for _, op := range strings.Fields("Stack StackPush StackPop StackClose StackV2 StackPushV2 StackPopV2 StackCloseV2") {
		optest.Unsampled(op, "its handles last for a step: see TestStack")
	}
	optest.Unsampled("Abort", "ends the step: see TestAbort")
}

// inOrder calls each of steps with what the one before it added as a control
// input.
func inOrder(g *tf.Graph, last tf.Output, steps ...func() tf.Output) tf.Output {
	for _, f := range steps {
		g.ControlDependencies([]*tf.Operation{last.Operation()}, func() { last = f() })
	}
	return last
}

func TestStack(t *testing.T) {
	g := tf.NewGraph()
	for name, s := range map[string]tf.Output{
		"V2": ops.StackV2(ops.Scalar[int32](g, -1), tf.Float64),
		"":   tf.Apply(g, "Stack", nil, tf.Attr("elem_type", tf.Float64)).Output(0),
	} {
		push := func(v float64) func() tf.Output {
			return func() tf.Output {
				return tf.Apply(g, "StackPush"+name, []tf.Output{s, ops.Scalar(g, v)}).Output(0)
			}
		}
		pop := func() tf.Output {
			return tf.Apply(g, "StackPop"+name, []tf.Output{s}, tf.Attr("elem_type", tf.Float64)).Output(0)
		}
		second := inOrder(g, s, push(1), push(2), push(3), pop, pop)
		first := inOrder(g, second, pop)
		got, err := fetchAll(t, g, second, first)
		if err != nil {
			t.Fatal(err)
		}
		tftest.Elements(t, (*tf.Tensor)(got[0]), []float64{2})
		tftest.Elements(t, (*tf.Tensor)(got[1]), []float64{1})
	}
}

func TestStackErrors(t *testing.T) {
	for want, build := range map[string]func(g *tf.Graph, s, x tf.Output) tf.Output{
		"is empty when calling Pop().": func(_ *tf.Graph, s, _ tf.Output) tf.Output { return ops.StackPopV2(s, tf.Float64) },
		"overflowed its max_size (1)": func(g *tf.Graph, s, x tf.Output) tf.Output {
			push := func() tf.Output { return ops.StackPushV2(s, x) }
			return inOrder(g, s, push, push)
		},
		"has already been closed.": func(g *tf.Graph, s, x tf.Output) (y tf.Output) {
			g.ControlDependencies([]*tf.Operation{ops.StackCloseV2(s)}, func() { y = ops.StackPushV2(s, x) })
			return y
		},
		"Must have type double but got float": func(g *tf.Graph, s, _ tf.Output) tf.Output {
			return ops.StackPushV2(s, ops.Scalar[float32](g, 1))
		},
	} {
		g := tf.NewGraph()
		y := build(g, ops.StackV2(ops.Scalar[int32](g, 1), tf.Float64), ops.Scalar(g, 1.0))
		if _, err := fetchAll(t, g, y); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRefSelect(t *testing.T) {
	g := tf.NewGraph()
	var cells, set []tf.Output
	for k := range 2 {
		v := ops.VariableV2(g, tf.Float64, tf.Shape{})
		cells = append(cells, v)
		set = append(set, ops.Assign(v, ops.Scalar(g, float64(10+k))))
	}
	for index, want := range map[int32]string{1: "11", 2: "Index must be in the range [0, 2) but got 2"} {
		var y tf.Output
		g.ControlDependencies([]*tf.Operation{set[0].Operation(), set[1].Operation()}, func() {
			y = ops.Identity(ops.RefIdentity(ops.RefSelect(ops.Scalar(g, index), cells)))
		})
		got, err := fetchAll(t, g, y)
		if err == nil && !strings.Contains(got[0].String(), want) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: got %v, %v, want %s", index, got, err, want)
		}
	}
}

func TestAbort(t *testing.T) {
	g := tf.NewGraph()
	op := ops.Abort(g, "because")
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, op); tf.CodeOf(err) != tf.Aborted || !strings.Contains(err.Error(), "Abort_op intentional failure; because") {
		t.Errorf("got %v", err)
	}
}
