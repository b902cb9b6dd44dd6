package optest

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// testLoneGradients differentiates each of several results by itself: nothing depends on
// the others, so that their gradients are not there. Zeros must make no difference.
func testLoneGradients(t *testing.T, s *suite) {
	for _, c := range s.trials() {
		if c.id != c.Sample.id() || !c.differentiable() {
			continue
		}
		results, err := c.runGraphOnce()
		if err != nil {
			continue // which other tests report
		}
		results = inexactOf(results)
		for k := range results {
			if len(results) > 1 {
				t.Run(fmt.Sprintf("%s:%d", c.id, k), func(t *testing.T) { c.testLone(t, results, k) })
			}
		}
	}
}

func inexactOf(all []*core.Tensor) (some []*core.Tensor) {
	for _, t := range all {
		if d := t.DType(); d.IsFloat() || d.IsComplex() {
			some = append(some, t)
		}
	}
	return some
}

// testLone compares the gradients of result k with those of all results, of which the
// others count with zeros.
func (c *trial) testLone(t *testing.T, results []*core.Tensor, k int) {
	want, wantErr := c.weighted(func(g *tf.Graph, ys []tf.Output) (o tf.GradientOptions) {
		for i, r := range results {
			if o.Ys = append(o.Ys, ys[i]); i == k {
				o.GradYs = append(o.GradYs, ops.ConstValue(g, weights(r)))
			} else {
				o.GradYs = append(o.GradYs, ops.ZerosLike(ys[i]))
			}
		}
		return o
	})
	got, err := c.weighted(func(g *tf.Graph, ys []tf.Output) tf.GradientOptions {
		return tf.GradientOptions{Ys: ys[k : k+1], GradYs: []tf.Output{ops.ConstValue(g, weights(results[k]))}}
	})
	if wantErr != nil {
		return // no gradient goes through the sample
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] == nil || want[i] == nil {
			continue // none at all is as good as zeros
		}
		if diff := Differ(got[i], want[i], 1e-5); diff != "" {
			t.Errorf("gradient %d: %s", i, diff)
		}
	}
}

// weighted returns the gradients, by input, of what choose makes of the results that
// carry gradients; nil where there is none.
func (c *trial) weighted(choose func(g *tf.Graph, ys []tf.Output) tf.GradientOptions) ([]*core.Tensor, error) {
	g := tf.NewGraph()
	in, out, err := c.build(g, known(g))
	if err != nil {
		return nil, err
	}
	o := choose(g, inexact(out))
	o.Xs = inexact(in)
	grads, err := tf.Differentiate(o)
	if err != nil {
		return nil, err
	}
	all := make([]*core.Tensor, len(grads))
	for i, d := range grads {
		if d.IsZero() {
			continue
		}
		one, err := runGraph(g, []tf.Output{d.Output()})
		if err != nil {
			return nil, err
		}
		all[i] = one[0]
	}
	return all, nil
}
