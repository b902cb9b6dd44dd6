package optest

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// build adds the trial to g, with inputs that input makes.
func (c *trial) build(g *tf.Graph, input func(*core.Tensor) tf.Output) (in, out []tf.Output, err error) {
	for _, t := range c.In {
		in = append(in, input(t))
	}
	out = c.F(g, in)
	for _, y := range out {
		if err := y.Err(); err != nil {
			return in, out, err
		}
	}
	return in, out, g.Err()
}

// known makes inputs whose values are known while the graph is built.
func known(g *tf.Graph) func(*core.Tensor) tf.Output {
	return func(t *core.Tensor) tf.Output { return ops.ConstValue(g, t) }
}

// unknown makes inputs of which not even the rank is known.
func unknown(g *tf.Graph) func(*core.Tensor) tf.Output {
	return func(t *core.Tensor) tf.Output {
		x := ops.ConstValue(g, t)
		return tf.Apply(g, "PlaceholderWithDefault", []tf.Output{x}, tf.Attr("shape", tf.Shape(nil))).Output(0)
	}
}

// visible returns the outputs that have elements to look at.
func visible(ys []tf.Output) (out []tf.Output) {
	for _, y := range ys {
		if d := y.DType(); d != tf.Resource && d != tf.Variant {
			out = append(out, y)
		}
	}
	return out
}

// runEager computes the trial in an eager graph.
func (c *trial) runEager() ([]*core.Tensor, error) {
	g := eager.New()
	_, ys, err := c.build(g, known(g))
	if err != nil {
		return nil, err
	}
	return values(visible(ys))
}

func values(ys []tf.Output) ([]*core.Tensor, error) {
	out := make([]*core.Tensor, len(ys))
	for i, y := range ys {
		v, err := author.Computed(y)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// runGraph computes outputs of a graph in a session.
func runGraph(g *tf.Graph, ys []tf.Output) ([]*core.Tensor, error) {
	s, err := session.New(g)
	if err != nil {
		return nil, err
	}
	fetches := make([]tf.Fetchable, len(ys))
	for i, y := range ys {
		fetches[i] = y
	}
	got, err := s.Run(context.Background(), nil, fetches...)
	out := make([]*core.Tensor, len(got))
	for i, t := range got {
		out[i] = (*core.Tensor)(t)
	}
	return out, errors.Join(err, s.Close())
}

func testSamples(t *testing.T, s *suite) {
	for _, c := range s.trials() {
		t.Run(c.id, func(t *testing.T) {
			if c.Fails {
				c.testFailure(t)
				return
			}
			g := tf.NewGraph()
			_, ys, err := c.build(g, known(g))
			if err != nil {
				t.Fatal(err)
			}
			want, err := runGraph(g, visible(ys))
			if err != nil {
				t.Fatalf("as graph: %v", err)
			}
			for i, y := range visible(ys) {
				if !y.Shape().Compatible(want[i].Shape()) || y.DType() != want[i].DType() {
					t.Errorf("output %d: %v was promised, %v%v came", i, y, want[i].DType(), want[i].Shape())
				}
			}
			c.testGolden(t, want)
			c.testUnknown(t, want)
			c.testEager(t, want)
		})
	}
}

// testFailure checks that bad inputs are refused in TensorFlow's words.
func (c *trial) testFailure(t *testing.T) {
	g := tf.NewGraph()
	_, ys, err := c.build(g, unknown(g))
	if err != nil {
		t.Fatalf("refused while nothing is known of the inputs: %v", err)
	}
	_, err = runGraph(g, ys)
	var e *tf.Error
	if !errors.As(err, &e) {
		t.Fatalf("bad input is not refused: %v", err)
	}
	c.testGoldenError(t, e.Message())
	if _, err := c.runEager(); err == nil {
		t.Error("bad input is not refused eagerly")
	}
}

// testEager compares with the results of an eager graph, bit by bit.
func (c *trial) testEager(t *testing.T, want []*core.Tensor) {
	if c.GraphOnly != "" {
		return
	}
	got, err := c.runEager()
	if err != nil {
		t.Errorf("eagerly: %v", err)
		return
	}
	for i := range want {
		if !core.TensorsEqual(got[i], want[i]) {
			t.Errorf("output %d is %v eagerly and %v as graph", i, got[i], want[i])
		}
	}
}

// testUnknown runs the trial in a graph that knows nothing of its inputs.
func (c *trial) testUnknown(t *testing.T, want []*core.Tensor) {
	g := tf.NewGraph()
	_, ys, err := c.build(g, unknown(g))
	if err != nil {
		t.Errorf("with unknown shapes: %v", err)
		return
	}
	got, err := runGraph(g, visible(ys))
	if err != nil {
		t.Errorf("with unknown shapes: %v", err)
		return
	}
	for i, y := range visible(ys) {
		if !y.Shape().Compatible(got[i].Shape()) {
			t.Errorf("output %d: shape %v was promised, %v came", i, y.Shape(), got[i].Shape())
		}
		if !core.TensorsEqual(got[i], want[i]) {
			t.Errorf("output %d is %v for unknown shapes and %v for known ones", i, got[i], want[i])
		}
	}
}
