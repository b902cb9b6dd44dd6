package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestFedResultsOfCalls: what is fed for a result of a call, of a conditional or of a loop
// is what the rest of the step computes with, also where these are taken apart.
func TestFedResultsOfCalls(t *testing.T) {
	g := tf.NewGraph()
	x, p := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Bool, tf.Shape{})
	spec := tf.SpecOf(x)
	double := tf.NewFunction(g, "double", spec, func(a []tf.Output) []tf.Output {
		return []tf.Output{ops.AddV2(a[0], a[0]), ops.Neg(a[0])}
	})
	same := tf.NewFunction(g, "same", spec, func(a []tf.Output) []tf.Output { return a })
	small := tf.NewFunction(g, "small", spec, func(a []tf.Output) []tf.Output {
		return []tf.Output{ops.Less(a[0], ops.Scalar[float32](g, 5))}
	})
	grow := tf.NewFunction(g, "grow", spec, func(a []tf.Output) []tf.Output { return []tf.Output{ops.AddV2(a[0], a[0])} })
	call := double.Call([]tf.Output{x})
	handed := same.Call(same.Call([]tf.Output{call[1]}))
	choice := ops.If(p, []tf.Output{x}, grow, same)
	loop := ops.While([]tf.Output{x}, small, grow)
	s := open(t, g)
	for _, c := range []struct{ fed, y tf.Output }{
		{call[1], call[1].Neg()}, {call[1], handed[0].Neg()}, {handed[0], handed[0].Neg()}, {call[1], double.Call(call[1:])[1]},
		{choice[0], choice[0].Neg()}, {loop[0], loop[0].Neg()}, {loop[0], loop[0].Identity().Neg()},
	} {
		feeds := session.Feeds{x: tf.Scalar[float32](1), p: tf.Scalar(true), c.fed: tf.Scalar[float32](10)}
		out, err := s.Run(t.Context(), feeds, c.y, call[0])
		if got := fmt.Sprint(out); err != nil || got != "[float32[]{-10} float32[]{2}]" {
			t.Errorf("%v with %v fed: got %v, %v, want -10 and 2", c.y, c.fed, got, err)
		}
		pieces, err := s.PartialRun(t.Context(), []tf.Output{x, p, c.fed}, c.y, call[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err = pieces.Run(t.Context(), session.Feeds{x: feeds[x], p: feeds[p]}, c.y); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%v before %v is fed: got %v", c.y, c.fed, err)
		}
		if out, err = pieces.Run(t.Context(), session.Feeds{c.fed: feeds[c.fed]}, c.y); err != nil || out[0].At(0) != float32(-10) {
			t.Errorf("%v in a piece with %v: got %v, %v", c.y, c.fed, out, err)
		}
		pieces.Close()
	}
}

// TestNothingToRun: a step that is answered by its feeds ends with its context as others do,
// and nothing is fed twice.
func TestNothingToRun(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s, one := open(t, g), tf.Scalar[float32](1)
	c, err := s.MakeCallable([]tf.Output{x}, x)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, want := range []tf.Code{tf.OK, tf.Canceled} {
		if _, err := s.Run(ctx, session.Feeds{x: one}, x); tf.CodeOf(err) != want {
			t.Errorf("a step: got %v, want %v", err, want)
		}
		if _, err := c.Run(ctx, one); tf.CodeOf(err) != want {
			t.Errorf("a callable: got %v, want %v", err, want)
		}
		cancel()
	}
	for _, y := range []tf.Output{x, x.Neg()} {
		if _, err := s.MakeCallable([]tf.Output{x, x}, y); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), `"Placeholder:0" fed more than once`) {
			t.Errorf("a callable that feeds twice: got %v", err)
		}
	}
}
