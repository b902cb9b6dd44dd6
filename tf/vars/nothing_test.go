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
