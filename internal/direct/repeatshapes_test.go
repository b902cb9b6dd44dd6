package direct

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestRepeatedForEqualShapes: what does not broadcast gets what is repeated for it, and
// refuses what it refuses without that.
func TestRepeatedForEqualShapes(t *testing.T) {
	g := tf.NewGraph()
	feeds := map[tf.Output]*core.Tensor{}
	input := func(known tf.Shape, s ...int) tf.Output {
		x := ops.Placeholder(g, core.Float32, known)
		feeds[x] = core.NewTensor(core.Float32, s)
		return ops.Exp(x)
	}
	one, many, unknown := input(tf.Shape{1}, 1), input(tf.Shape{4}, 4), input(tf.Shape{-1}, 1)
	two := tf.Apply(g, "Add", []tf.Output{one, one}, tf.Attr("T", tf.Float32)).Output(0)
	repeated := ops.Tile(one, []int{4})
	clip := func(x, low, high tf.Output) tf.Output {
		return tf.Apply(g, "ClipByValue", []tf.Output{x, low, high}, tf.Attr("T", tf.Float32)).Output(0)
	}
	number := ops.Scalar(g, float32(0))
	for name, c := range map[string]struct {
		y       tf.Output
		refused bool
	}{
		"the least of a clip":           {clip(many, repeated, many), false},
		"the most of a clip":            {clip(many, number, repeated), false},
		"what is clipped by numbers":    {clip(repeated, number, ops.Scalar(g, float32(2))), false},
		"what is clipped by a vector":   {clip(repeated, two, number), true},
		"a term, beside one and others": {ops.AddN([]tf.Output{many, repeated, many}), false},
		"a term, beside a shorter one":  {ops.AddN([]tf.Output{repeated, unknown}), true},
		"a term, beside shorter ones":   {ops.AddN([]tf.Output{unknown, repeated, many}), true},
	} {
		for _, disabled := range [][]string{{"arithmetic_optimization"}, nil} {
			out, err := fetch(t.Context(), open(t, g, 1, disabled...), feeds, c.y)
			if (err != nil) != c.refused {
				t.Errorf("%s, without %v: %v, refused should be %v", name, disabled, err, c.refused)
			} else if err == nil && !out[0].Shape().Equal(core.Shape{4}) {
				t.Errorf("%s, without %v: shape %v", name, disabled, out[0].Shape())
			}
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
