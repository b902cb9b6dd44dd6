package vars_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestAutoWithinAlways: a scope that makes variables if need be does so wherever it is, as
// in TensorFlow.
func TestAutoWithinAlways(t *testing.T) {
	g := tf.NewGraph()
	var c *vars.Captured
	vars.Scope(g, "a", vars.ScopeOptions{Reuse: vars.Always}, func() {
		c = vars.Capture(g)
		vars.Scope(g, "b", vars.ScopeOptions{Reuse: vars.Auto}, func() {
			vars.Get(g, "x", tf.Shape{1})
			vars.Scope(g, "c", vars.ScopeOptions{}, func() { vars.Get(g, "y", tf.Shape{1}) })
		})
	})
	c.Enter(vars.ScopeOptions{Reuse: vars.Auto}, func() { vars.Get(g, "z", tf.Shape{1}) })
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	c.Enter(vars.ScopeOptions{}, func() { vars.Get(g, "w", tf.Shape{1}) })
	if g.Err() == nil {
		t.Error("the scope itself must make no variable")
	}
}
