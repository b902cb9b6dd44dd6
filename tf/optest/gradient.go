package optest

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// differentiable reports whether gradients through the trial are compared.
func (c *trial) differentiable() bool {
	if c.Fails || core.Lookup(c.Op).Grad == nil {
		return false
	}
	if g := tf.NewGraph(); !c.hasInexactResults(g) {
		return false
	}
	for _, t := range c.In {
		switch t.DType() {
		case tf.Float32, tf.Float64, tf.Complex64, tf.Complex128:
			return true
		}
	}
	return false
}

func (c *trial) hasInexactResults(g *tf.Graph) bool {
	_, out, _ := c.build(g, known(g))
	return len(inexact(out)) > 0
}

// inexact returns the outputs of types that carry gradients.
func inexact(xs []tf.Output) (out []tf.Output) {
	for _, x := range xs {
		if d := x.DType(); d.IsFloat() || d.IsComplex() {
			out = append(out, x)
		}
	}
	return out
}

// weights are what the results are multiplied with before they are summed up
// and differentiated: no two are in a simple relation.
func weights(like *core.Tensor) *core.Tensor {
	w := core.NewTensor(tf.Float64, like.Shape())
	for i := range core.Data[float64](w) {
		core.Data[float64](w)[i] = float64(i*7%11)/4 - 1
	}
	if like.DType().IsComplex() {
		return realOnly(w, like.DType())
	}
	return Convert(w, like.DType())
}

// realOnly is Convert without an imaginary part.
func realOnly(w *core.Tensor, d tf.DType) *core.Tensor {
	out := core.NewTensor(d, w.Shape())
	for i, v := range core.Data[float64](w) {
		if d == tf.Complex64 {
			core.Data[complex64](out)[i] = complex(float32(v), 0)
		} else {
			core.Data[complex128](out)[i] = complex(v, 0)
		}
	}
	return out
}

// gradients adds the gradients of the weighted sum of the trial's results and
// returns them by input; nil where there is none.
func (c *trial) gradients(g *tf.Graph, input func(*core.Tensor) tf.Output) ([]tf.Output, error) {
	results, err := c.runGraphOnce()
	if err != nil {
		return nil, err
	}
	in, out, err := c.build(g, input)
	if err != nil {
		return nil, err
	}
	o := tf.GradientOptions{Ys: inexact(out), Xs: inexact(in)}
	for _, r := range results {
		if d := r.DType(); d.IsFloat() || d.IsComplex() {
			o.GradYs = append(o.GradYs, ops.ConstValue(g, weights(r)))
		}
	}
	grads, err := tf.Differentiate(o)
	if err != nil {
		return nil, err
	}
	dense := make([]tf.Output, len(grads))
	for i, d := range grads {
		dense[i] = d.Output()
	}
	return dense, g.Err()
}

func (c *trial) runGraphOnce() ([]*core.Tensor, error) {
	g := tf.NewGraph()
	_, ys, err := c.build(g, known(g))
	if err != nil {
		return nil, err
	}
	return runGraph(g, visible(ys))
}

// testGradients compares gradients with TensorFlow's, in graphs that
// know the shapes and in graphs that do not.
func testGradients(t *testing.T, s *suite) {
	for _, c := range s.trials() {
		if c.own() || c.NoGolden != "" || c.untyped("!refused") || c.noGradient() || !c.differentiable() {
			continue
		}
		t.Run(c.id, func(t *testing.T) {
			for _, input := range []func(*tf.Graph) func(*core.Tensor) tf.Output{known, unknown} {
				g := tf.NewGraph()
				grads, err := c.gradients(g, input(g))
				if err != nil {
					t.Fatal(err)
				}
				c.compareGradients(t, g, grads)
			}
		})
	}
}

// noGradient reports whether TensorFlow fails to give a gradient where it need
// not succeed.
func (c *trial) noGradient() bool {
	return c.golden[c.id+"!nogradient"] != nil && (c.Rough != "" || c.id != c.Sample.id())
}

func (c *trial) compareGradients(t *testing.T, g *tf.Graph, grads []tf.Output) {
	for i, dx := range grads {
		want := c.golden.of(t, fmt.Sprintf("%s:grad%d", c.id, i))
		if want == nil {
			return
		}
		if none := want.DType() == tf.String; none || dx.IsZero() {
			if none != dx.IsZero() {
				t.Errorf("gradient %d is %v, TensorFlow's %v", i, dx, want)
			}
			continue
		}
		got, err := runGraph(g, []tf.Output{dx})
		if err != nil {
			t.Errorf("gradient %d: %v", i, err)
			continue
		}
		if diff := Differ(got[0], want, 5*max(c.Tol, tolerances[want.DType()])); diff != "" {
			t.Errorf("gradient %d differs from TensorFlow's: %s", i, diff)
		}
	}
}

// testNumericGradients compares gradients with difference quotients, in
// float64.
func testNumericGradients(t *testing.T, s *suite) {
	for _, c := range s.trials() {
		if c.In = c.in64(); c.In == nil || c.Rough != "" || c.GraphOnly != "" || !c.differentiable() {
			continue
		}
		t.Run(c.id, func(t *testing.T) { c.testNumeric(t) })
	}
}

// in64 returns the sample's inputs in float64, nil for trials in other types
// than the sample's own.
func (c *trial) in64() []*core.Tensor {
	if c.id != c.Sample.id() || c.base() != tf.Float32 {
		return nil
	}
	if by := core.Lookup(c.Op).Kernels.By; by != nil && by[tf.Float64] == nil {
		return nil
	}
	return c.retyped(tf.Float64)
}

func (c *trial) testNumeric(t *testing.T) {
	got, err := c.eagerGradients()
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	for _, x := range c.In {
		if !x.DType().IsFloat() {
			continue
		}
		want, err := c.quotients(x)
		if err != nil {
			t.Fatal(err)
		}
		if got[k] == nil {
			got[k] = core.NewTensor(x.DType(), x.Shape())
		}
		if diff := Differ(got[k], want, 2e-7); diff != "" {
			t.Errorf("gradient for input %d: %s", k, diff)
		}
		k++
	}
}

// eagerGradients returns the gradients by input, nil where there is none.
func (c *trial) eagerGradients() ([]*core.Tensor, error) {
	results, err := c.runEager()
	if err != nil {
		return nil, err
	}
	g := eager.New()
	tape, o, err := c.record(g)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.DType().IsFloat() {
			o.GradYs = append(o.GradYs, ops.ConstValue(g, weights(r)))
		}
	}
	grads, err := tape.Differentiate(o)
	if err != nil {
		return nil, err
	}
	out := make([]*core.Tensor, len(grads))
	for i, d := range grads {
		if d.IsZero() {
			continue
		}
		if out[i], err = author.Computed(d.Output()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// record adds the trial to an eager graph, on tape, and says what to
// differentiate for what.
func (c *trial) record(g *tf.Graph) (*tf.Tape, tf.GradientOptions, error) {
	var o tf.GradientOptions
	var out []tf.Output
	var err error
	known := func(t *core.Tensor) tf.Output {
		x := ops.ConstValue(g, t)
		if t.DType().IsFloat() {
			o.Xs = append(o.Xs, x)
		}
		return x
	}
	tape := g.Record(func() { _, out, err = c.build(g, known) })
	o.Ys = inexact(out)
	return tape, o, err
}

// quotients returns the difference quotients for every element of x.
func (c *trial) quotients(x *core.Tensor) (*core.Tensor, error) {
	const h = 1e-5
	out := core.NewTensor(x.DType(), x.Shape())
	data := core.Data[float64](x)
	for i, v := range data {
		data[i] = v + h
		up, err := c.weightedSum()
		if err != nil {
			return nil, err
		}
		data[i] = v - h
		down, err := c.weightedSum()
		if err != nil {
			return nil, err
		}
		data[i] = v
		core.Data[float64](out)[i] = (up - down) / (2 * h)
	}
	return out, nil
}

func (c *trial) weightedSum() (float64, error) {
	results, err := c.runEager()
	sum := 0.0
	for _, r := range results {
		if !r.DType().IsFloat() {
			continue
		}
		x, w := complexOf(r), complexOf(weights(r))
		for i := range x {
			sum += real(x[i]) * real(w[i])
		}
	}
	if math.IsNaN(sum) {
		return 0, fmt.Errorf("the sample's results are not numbers")
	}
	return sum, err
}
