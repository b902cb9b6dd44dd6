package eager_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
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
	for name, c := range map[string]struct {
		out  args
		want string
	}{
		"no graph":     {eager.NewFunc(nil, "f", func(a args, _ ...any) args { return a }).Call(nil), "function f needs a graph, got nil: make one by eager.New"},
		"no body":      {eager.NewFunc(g, "f", nil).Call(nil), "function f needs a Go function that is its body, got nil"},
		"calls itself": {self.Call(x), endless + "self does"},
		"from outside": {outside.Call(x), endless + "outside does"},
		"by another":   {odd.Call(x), endless + "odd does"},
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
