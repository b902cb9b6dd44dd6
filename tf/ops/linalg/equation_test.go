package linalg

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

func TestParseEquation(t *testing.T) {
	for equation, want := range map[string]string{
		"ij": "exactly one '->'", "i->j->k": "exactly one '->'", "i,i,i->i": "1 or 2 input subscripts",
	} {
		if _, err := parseEquation(equation); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want one of %q", equation, err, want)
		}
	}
}

// TestPlan looks at what is known of a result when not all sizes are.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		equation string
		in       []tf.Shape
		want     tf.Shape
	}{
		{"ij,jk->ik", []tf.Shape{{2, -1}, {3, -1}}, tf.Shape{2, -1}},
		{"...ij,...jk->...ik", []tf.Shape{{-1, 1, 2, 3}, {4, 3, 5}}, tf.Shape{-1, 4, 2, 5}},
		{"...i,...i->...", []tf.Shape{{1, 3}, {-1, 3}}, tf.Shape{-1}},
		{"i->ii", []tf.Shape{{3}}, tf.Shape{3, 3}},
	} {
		e, err := parseEquation(c.equation)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.plan(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.shape(p.out); !got.Equal(c.want) {
			t.Errorf("%s: shape is %v, want %v", c.equation, got, c.want)
		}
	}
}

// TestTwoEllipses are refused: which dimensions each stands for is anyone's guess, and the
// dimensions of the shape were too few for both.
func TestTwoEllipses(t *testing.T) {
	for _, equation := range []string{"......->...", "...i...->i...", "...,......->...", "...->......"} {
		g := eager.New()
		x := ops.Const(g, make([]float32, 8), 2, 2, 2)
		in := []tf.Output{x, x}[:1+strings.Count(equation, ",")]
		if err := Einsum(equation, in).Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "at most one ellipsis") {
			t.Errorf("%q: got %v, want INVALID_ARGUMENT", equation, err)
		}
	}
}
