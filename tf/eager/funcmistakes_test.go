package eager_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestFuncMistakes: what is no function, and what would be traced without end.
func TestFuncMistakes(t *testing.T) {
	const endless = "a function must not call itself with the types, shapes and values that it is being traced for, "
	type args = []tf.Output
	g := eager.New()
	x := args{ops.Scalar(g, float32(2))}
	var self, outside, odd, even, deep *eager.Func
	self = eager.NewFunc(g, "self", func(a args, _ ...any) args { return self.Call(a) })
	outside = eager.NewFunc(g, "outside", func(args, ...any) args { return outside.Call(x) })
	odd = eager.NewFunc(g, "odd", func(a args, _ ...any) args { return even.Call(a) })
	even = eager.NewFunc(g, "even", func(a args, _ ...any) args { return odd.Call(a) })
	deep = eager.NewFunc(g, "deep", func(a args, static ...any) args { return deep.Call(a, static[0].(int)+1) })
	grows := eager.NewFunc(g, "grows", func(a args, _ ...any) args { return args{layers.Dense(a[0], 1)} })
	if err := grows.Call(args{ops.Const(g, []float32{1}, 1, 1)})[0].Err(); err != nil {
		t.Fatal(err)
	}
	variable := eager.NewFunc(g, "variable", func(a args, _ ...any) args { return args{tf.NewVariable(a[0], tf.VariableOptions{}).Value()} })
	for name, c := range map[string]struct {
		out  args
		want string
	}{
		"no graph":     {eager.NewFunc(nil, "f", func(a args, _ ...any) args { return a }).Call(nil), "function f needs a graph, got nil: make one by eager.New"},
		"no body":      {eager.NewFunc(g, "f", nil).Call(nil), "function f needs a Go function that is its body, got nil"},
		"calls itself": {self.Call(x), endless + "self does"},
		"from outside": {outside.Call(x), endless + "outside does"},
		"by another":   {odd.Call(x), endless + "odd does"},
		"variables":    {grows.Call(args{ops.Const(g, []float32{1, 2}, 2, 1)}), "a function makes variables when it is first called only, grows makes some in trace 2"},
		"variable":     {variable.Call(x), `variables must be made outside of functions, "Variable" is made in __inference_variable_`},
		"deep":         {deep.Call(x, 0), endless + "deep does"},
	} {
		err := c.out[0].Err()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "funcmistakes_test.go:") {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	var power *eager.Func
	power = eager.NewFunc(g, "power", func(a args, static ...any) args {
		if n := static[0].(int); n > 0 {
			return args{a[0].Mul(power.Call(a, n-1)[0])}
		}
		return args{ops.OnesLike(a[0])}
	})
	if got, err := power.Call(x, 5)[0].Value(); err != nil || tf.Data[float32](got)[0] != 32 {
		t.Error(got, err)
	}
}

// TestResultsOfFailedCalls: as many as the function has, so that none of them is out of range;
// Err has the error also of functions without results.
func TestResultsOfFailedCalls(t *testing.T) {
	type args = []tf.Output
	g := eager.New()
	w := tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "w"})
	effect := eager.NewFunc(g, "effect", func(a args, _ ...any) args {
		w.AssignAdd(ops.CheckNumerics(a[0].Log(), "log"))
		return nil
	})
	pair := eager.NewFunc(g, "pair", func(a args, _ ...any) args {
		x := ops.CheckNumerics(a[0].Log(), "log")
		return args{x, x.Neg()}
	})
	good, bad := args{ops.Scalar(g, float32(1))}, args{ops.Scalar(g, float32(-1))}
	wrong := args{tf.Failed(g, "wrong", tf.Errorf(tf.InvalidArgument, "wrong")).Output(0)}
	for want, f := range map[int]*eager.Func{0: effect, 2: pair} {
		if out := f.Call(good); len(out) != want || f.Err() != nil {
			t.Error(out, f.Err())
		}
		for _, in := range []args{bad, wrong} {
			out := f.Call(in)
			if len(out) != want || tf.CodeOf(f.Err()) != tf.InvalidArgument {
				t.Errorf("%d results, want %d; %v", len(out), want, f.Err())
			}
			for _, x := range out {
				if x.Err() == nil || x.Name() == "" {
					t.Error("a result of a failed call has no error")
				}
			}
		}
		if f.Call(good); f.Err() != nil {
			t.Error(f.Err())
		}
	}
}
