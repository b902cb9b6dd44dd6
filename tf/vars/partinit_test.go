package vars_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// wholeOf returns the initial value of a variable that is cut into parts along an axis.
func wholeOf(t *testing.T, n, axis int, s tf.Shape, init initializers.Initializer) []float32 {
	t.Helper()
	return wholeIn(t, vars.ScopeOptions{Partitioner: vars.FixedSize(n, axis)}, s, init)
}

// wholeIn is wholeOf in a scope.
func wholeIn(t *testing.T, o vars.ScopeOptions, s tf.Shape, init initializers.Initializer) []float32 {
	t.Helper()
	g := tf.NewGraph()
	var p *vars.Partitioned
	vars.Scope(g, "s", o, func() {
		p = vars.GetPartitioned(g, "v", s, vars.Options{Initializer: init})
	})
	r, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	out, err := r.Run(t.Context(), nil, p.Value())
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float32](out[0])
}

// TestScaleOfParts: the limits are those of the whole, as in TensorFlow.
func TestScaleOfParts(t *testing.T) {
	for _, c := range []struct {
		name string
		axis int
		s    tf.Shape
		init initializers.Initializer
		want float64
	}{
		{"the default", 0, tf.Shape{4000, 10}, nil, math.Sqrt(6. / 4010)},
		{"fan out", 1, tf.Shape{10, 4000}, initializers.VarianceScaling(1, initializers.FanOut, initializers.Uniform), math.Sqrt(3. / 4000)},
		{"of units", 0, tf.Shape{4000, 10}, initializers.UniformUnitScaling(1), math.Sqrt(3. / 4000)},
	} {
		most := float64(slices.Max(wholeOf(t, 4, c.axis, c.s, c.init)))
		if most > c.want || most < 0.98*c.want {
			t.Errorf("%s: the largest number is %v, want almost %v", c.name, most, c.want)
		}
	}
}

// TestIdentityInParts: the parts of an identity matrix make one together.
func TestIdentityInParts(t *testing.T) {
	for _, c := range []struct {
		axis int
		s    tf.Shape
		want []float32
	}{
		{0, tf.Shape{4, 3}, []float32{2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0}},
		{1, tf.Shape{2, 4}, []float32{2, 0, 0, 0, 0, 2, 0, 0}},
	} {
		if got := wholeOf(t, 2, c.axis, c.s, initializers.Identity(2)); !slices.Equal(got, c.want) {
			t.Errorf("%v cut along %d: %v, want %v", c.s, c.axis, got, c.want)
		}
	}
}

// TestGetterOfParts: what a getter chooses is that of the whole as well.
func TestGetterOfParts(t *testing.T) {
	chosen := initializers.VarianceScaling(1, initializers.FanIn, initializers.Uniform)
	for name, getter := range map[string]func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, o vars.Options) *tf.Variable{
		"an option": func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, o vars.Options) *tf.Variable {
			o.Initializer = chosen
			return get(g, name, s, o)
		},
		"all options": func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, _ vars.Options) *tf.Variable {
			return get(g, name, s, vars.Options{DType: tf.Float32, Initializer: chosen})
		},
	} {
		all := wholeIn(t, vars.ScopeOptions{Partitioner: vars.FixedSize(4, 0), Getter: getter}, tf.Shape{4000, 10}, nil)
		if most, want := float64(slices.Max(all)), math.Sqrt(3./4000); most > want || most < 0.98*want {
			t.Errorf("%s: the largest number is %v, want almost %v", name, most, want)
		}
	}
}
