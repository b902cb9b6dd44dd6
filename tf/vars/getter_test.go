package vars_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/vars"
)

// got returns what Get returns in a scope with a getter.
func got(g *tf.Graph, getter func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, o vars.Options) *tf.Variable) (v *tf.Variable) {
	vars.Scope(g, "s", vars.ScopeOptions{DType: tf.Float64, Getter: getter}, func() { v = vars.Get(g, "v", tf.Shape{2}) })
	return v
}

// TestGetterWithoutOptions: a getter may leave out what a variable cannot do without.
func TestGetterWithoutOptions(t *testing.T) {
	for d, o := range map[tf.DType]vars.Options{tf.Float64: {}, tf.Int32: {DType: tf.Int32, Initializer: initializers.Ones}, tf.Float16: {DType: tf.Float16}} {
		g := tf.NewGraph()
		v := got(g, func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, _ vars.Options) *tf.Variable {
			return get(g, name, s, o)
		})
		if g.Err() != nil || v.Name() != "s/v" || v.DType() != d {
			t.Errorf("%v: got %v of %v, %v", o, v.Name(), v.DType(), g.Err())
		}
	}
}

// TestGetterOfNothing: a getter that has no variable to return makes a mistake, no panic.
func TestGetterOfNothing(t *testing.T) {
	g := tf.NewGraph()
	v := got(g, func(vars.Getter, *tf.Graph, string, tf.Shape, vars.Options) *tf.Variable { return nil })
	if err := v.Value().Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "a getter must return a variable, got nil for s/v") {
		t.Error(err)
	}
}
