package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// reimported is g as another program reads it, under the given map, with w for its x.
func reimported(t *testing.T, g *tf.Graph, funcs map[string]tf.GradFunc) (h *tf.Graph, w tf.Output) {
	t.Helper()
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	h = tf.NewGraph()
	w = vec(h, 2)
	h.GradientOverrideMap(funcs, func() {
		if err := h.ImportProto(def, tf.ImportOptions{Inputs: map[string]tf.Output{"x:0": w}}); err != nil {
			t.Fatal(err)
		}
	})
	return h, w
}

// TestOwnGradientsAreNamedInGraphs: a graph does not hold the gradients that the program has
// given, so who reads it gets none for those operations, rather than the ops' own.
func TestOwnGradientsAreNamedInGraphs(t *testing.T) {
	g := tf.NewGraph()
	x := tf.Apply(g, "Placeholder", nil, tf.Name("x"), tf.Attr("dtype", tf.Float64), tf.Attr("shape", tf.Shape{1})).Output(0)
	seven := func(dys []tf.Output) []tf.Output { return []tf.Output{mul(dys[0], vec(dys[0].Graph(), 7))} }
	of := map[string]tf.Output{"custom": custom(x, seven), "another": custom(x, seven)}
	f := tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Float64, Shape: tf.Shape{1}}}, func(in []tf.Output) []tf.Output {
		return []tf.Output{custom(in[0], seven)}
	})
	of["function"] = f.Call([]tf.Output{x})[0]
	straight := func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(mul(dy[0], vec(dy[0].Graph(), 7)))
	}
	overrides := map[string]tf.GradFunc{"Neg": straight}
	g.GradientOverrideMap(overrides, func() { of["override"] = tf.Apply(g, "Neg", []tf.Output{x}).Output(0) })
	ofIdentityN := func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(tf.Output{}, mul(dy[0], vec(dy[0].Graph(), 7)))
	}
	names := map[string]string{"custom": "CustomGradient-IdentityN", "another": "CustomGradient-IdentityN_1", "function": "CustomGradient-__inference_f_1/IdentityN", "override": "GradientOverride-Neg"}
	for what, y := range of {
		h, w := reimported(t, g, nil)
		_, err := tf.Gradients(h.Operation(y.Operation().Name).Output(y.Index()), w)
		if tf.CodeOf(err) != tf.NotFound || !strings.Contains(err.Error(), `"`+names[what]+`"`) {
			t.Errorf("%s: got %v, want NOT_FOUND for %s", what, err, names[what])
		}
		given := map[string]tf.GradFunc{names[what]: ofIdentityN}
		if what == "override" {
			given = overrides
		}
		h, w = reimported(t, g, given)
		h.GradientOverrideMap(given, func() { // for the function's body
			gs, err := tf.Gradients(h.Operation(y.Operation().Name).Output(y.Index()), w)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				return
			}
			tftest.Elements(t, run(t, h, gs[0])[0], []float64{7})
		})
	}
}
