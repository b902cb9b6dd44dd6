package optest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

// scribbledSteps is how often a trial is run in one session: what a step has
// written to, the next one reads.
const scribbledSteps = 3

// testScribble checks that no memory is shared between a session and a program:
// a session whose program writes to all that it has fed and fetched, after
// every step, gives what one gives that is left alone.
func testScribble(t *testing.T, s *suite) {
	for _, c := range s.trials() {
		if !c.Fails {
			t.Run(c.id, c.testScribbled)
		}
	}
}

func (c *trial) testScribbled(t *testing.T) {
	g := tf.NewGraph()
	in, ys, err := c.build(g, known(g))
	if err != nil {
		t.Fatal(err)
	}
	want, ok := c.steps(g, in, ys, func(*tf.Tensor) {})
	if !ok {
		return // it cannot be run again: a queue is empty, say
	}
	got, ok := c.steps(g, in, ys, scribble)
	if ok && same(got, want) {
		return
	}
	if again, ok := c.steps(g, in, ys, func(*tf.Tensor) {}); !ok || !same(again, want) {
		return // chance decides
	}
	t.Errorf("a program that writes to its own tensors disturbs the session: got %v, want %v", got, want)
}

// steps runs the trial several times in a session, with its inputs fed, and
// returns all results. After each step it calls do with all tensors that the
// program holds.
func (c *trial) steps(g *tf.Graph, in, ys []tf.Output, do func(*tf.Tensor)) (all []*core.Tensor, ok bool) {
	s, err := session.New(g)
	if err != nil {
		return nil, false
	}
	defer s.Close()
	fetches := c.scribbledFetches(in, ys)
	for range scribbledSteps {
		feeds := session.Feeds{}
		for i, x := range in {
			if hasElements(x.DType()) && x.Operation().Role() == core.Constant {
				feeds[x] = (*tf.Tensor)(c.In[i].Clone())
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		got, err := s.Run(ctx, feeds, fetches...)
		cancel()
		if err != nil {
			return nil, false
		}
		for _, t := range got {
			all = append(all, (*core.Tensor)(t.Clone()))
			do(t)
		}
		for _, v := range feeds {
			t, _ := v.AsTensor()
			do(t)
		}
	}
	return all, true
}

// scribbledFetches returns the results, and the inputs as a session passes them
// on.
func (c *trial) scribbledFetches(in, ys []tf.Output) (out []tf.Fetchable) {
	for _, y := range visible(ys) {
		out = append(out, y)
	}
	for _, x := range visible(in) {
		out = append(out, x.Identity())
	}
	return out
}

// scribble writes to all elements of t.
func scribble(t *tf.Tensor) {
	c := (*core.Tensor)(t)
	if c.Buffer() == nil {
		if t.DType() == tf.String {
			for i := range t.Len() {
				tf.Data[string](t)[i] = "scribbled"
			}
		}
		return
	}
	for i, b := range c.Buffer().Bytes() {
		c.Buffer().Bytes()[i] = ^b
	}
}

func same(a, b []*core.Tensor) bool { return slices.EqualFunc(a, b, core.TensorsEqual) }
