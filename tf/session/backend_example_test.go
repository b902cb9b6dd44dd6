package session_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// echo is a backend that computes nothing: each fetch gives its own name.
type echo struct{}

// Run implements session.Backend.
func (echo) Run(_ context.Context, c *session.Call) (out []*core.Tensor, err error) {
	fmt.Println("feeds", c.FeedNames, "targets", c.Targets)
	for _, name := range c.Fetches {
		out = append(out, core.Scalar(strings.ToUpper(name)))
	}
	return out, nil
}

func (echo) Close() error { return nil }

// Plan implements session.Planner: work that does not depend on what is fed.
func (echo) Plan(_ context.Context, c *session.Call) error {
	fmt.Println("plans", c.Fetches)
	return nil
}

// Prepare implements session.Preparer, for callables.
func (e echo) Prepare(c *session.Call) (func(ctx context.Context, feeds []*core.Tensor) ([]*core.Tensor, error), error) {
	fmt.Println("prepares", c.Fetches)
	return func(ctx context.Context, feeds []*core.Tensor) ([]*core.Tensor, error) { return e.Run(ctx, c) }, nil
}

// PartialRun implements session.Partialer: steps in pieces.
func (e echo) PartialRun(_ context.Context, c *session.Call) (session.Pieces, error) {
	fmt.Println("begins", c.Fetches)
	return pieces{e}, nil
}

// Reset implements session.Resetter: containers of the target are cleared.
func (echo) Reset(_ context.Context, containers []string) error {
	fmt.Println("resets", containers)
	return nil
}

// pieces is a step that is run in pieces.
type pieces struct{ echo }

func (pieces) Close() {}

var (
	_ session.Planner   = echo{}
	_ session.Preparer  = echo{}
	_ session.Partialer = echo{}
	_ session.Resetter  = echo{}
)

// newEcho is the factory for targets that begin with "echo://".
var newEcho session.Factory = func(g *tf.Graph, cfg session.Config) (session.Backend, error) { return echo{}, nil }

func init() { session.RegisterFactory("echo", newEcho) }

// A backend does the work of sessions whose targets begin with its scheme. Beside
// Run it may do work ahead, run steps in pieces, and reset the target.
func ExampleBackend() {
	ctx, g := context.Background(), tf.NewGraph()
	made, err := newEcho(g, session.Config{}) // what session.New does, for targets of the scheme
	fmt.Printf("%T %v\n", made, err)
	x := ops.Placeholder(g, tf.String, tf.Shape{}, tf.Name("x"))
	y := ops.Identity(x, tf.Name("y"))
	s, err := session.New(g, session.Target("echo://anywhere"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Run(ctx, session.Feeds{x: tf.Scalar("a")}, y))
	call, err := s.MakeCallable([]tf.Output{x}, y)
	if err == nil {
		err = call.Plan(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(call.Run(ctx, tf.Scalar("a")))
	part, err := s.PartialRun(ctx, []tf.Output{x}, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer part.Close()
	fmt.Println(part.Run(ctx, session.Feeds{x: tf.Scalar("a")}, y))
	fmt.Println(session.Reset(ctx, "echo://anywhere", []string{"c"}))
	// Output:
	// session_test.echo <nil>
	// feeds [x:0] targets []
	// [string[]{"Y:0"}] <nil>
	// prepares [y:0]
	// plans [y:0]
	// feeds [x:0] targets []
	// [string[]{"Y:0"}] <nil>
	// begins [y:0]
	// feeds [x:0] targets []
	// [string[]{"Y:0"}] <nil>
	// resets [c]
	// <nil>
}
