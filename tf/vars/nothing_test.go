package vars_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestNothing: a graph or a variable that is missing is a mistake, no panic.
func TestNothing(t *testing.T) {
	g := tf.NewGraph()
	v := vars.Get(g, "v", tf.Shape{2})
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"get":         {vars.Get(nil, "v", tf.Shape{2}).Value().Err(), "a variable needs a graph, got nil"},
		"partitioned": {vars.GetPartitioned(nil, "v", tf.Shape{2}).Value().Err(), "a variable needs a graph, got nil"},
		"initialize":  {vars.Initialize(g, "init", v, nil).Err(), "variables must not be nil, number 1 of 2 is"},
		"value":       {vars.InitializedValue(nil).Err(), "variables must not be nil, number 0 of 1 is"},
		"of nothing":  {vars.ReportUninitialized(nil).Err(), "a variable needs a graph, got nil"},
		"report":      {vars.ReportUninitialized(g, nil).Err(), "variables must not be nil, number 0 of 1 is"},
		"in a scope":  {inScopes(t), "a variable needs a graph, got nil"},
	} {
		if tf.CodeOf(c.err) != tf.InvalidArgument || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, c.err, c.want)
		}
	}
}

// inScopes asks for a variable in scopes of no graph.
func inScopes(t *testing.T) (err error) {
	get := func() { err = vars.Get(nil, "v", tf.Shape{2}).Value().Err() }
	scope := vars.Capture(nil)
	for name, enter := range map[string]func(){
		"Scope":  func() { vars.Scope(nil, "a", vars.ScopeOptions{}, get) },
		"Unique": func() { vars.Unique(nil, "a", vars.ScopeOptions{}, get) },
		"Enter":  func() { scope.Enter(vars.ScopeOptions{}, get) },
	} {
		err = nil
		if enter(); err == nil {
			t.Errorf("%s has not called its function, or a variable could be had", name)
		}
	}
	if vars.Name(nil) != "" || vars.HasPartitioner(nil) || len(vars.All(nil)) > 0 {
		t.Error("no graph has scopes or variables")
	}
	return err
}

// TestSumOfNothing: regularizers that are nil, as those of other options, and those that
// have nothing to say add nothing.
func TestSumOfNothing(t *testing.T) {
	g := tf.NewGraph()
	none := func(tf.Output) tf.Output { return tf.Output{} }
	x := vars.Get(g, "v", tf.Shape{2}).Value()
	for _, all := range []vars.Regularizer{vars.Sum(), vars.Sum(nil), vars.Sum(nil, none)} {
		if y := all(x); !y.IsZero() {
			t.Errorf("the sum of nothing is %v", y)
		}
	}
	y := vars.Sum(nil, none, vars.L2(1), none, nil)(x)
	if op := y.Operation(); y.Err() != nil || op.OpName() != "Mul" {
		t.Errorf("the sum of one is %v, %v", y, y.Err())
	}
	vars.Get(g, "w", tf.Shape{2}, vars.Options{Regularizer: vars.Sum(nil)})
	if n := len(g.Collection("regularization_losses")); n != 0 || g.Err() != nil {
		t.Errorf("%d losses, %v", n, g.Err())
	}
}

// TestNoUpdate: nil is no update.
func TestNoUpdate(t *testing.T) {
	g := tf.NewGraph()
	v := vars.Get(g, "v", tf.Shape{2})
	vars.AddUpdate(nil)
	vars.AddUpdate(nil, v.Initializer())
	if got := vars.Updates(v.Value()); len(got) != 0 || g.Err() != nil {
		t.Errorf("updates %v, %v", got, g.Err())
	}
}
