package session

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Feeds gives values to outputs for one step.
type Feeds map[tf.Output]tf.Value

// addFeeds checks feeds and adds them by name, so that equal sets of feeds make
// equal calls.
func (c *Call) addFeeds(g *tf.Graph, feeds Feeds) error {
	type feed struct {
		name string
		t    *core.Tensor
	}
	var few [4]feed
	list := few[:0]
	for x, v := range feeds {
		t, err := checkFeed(g, x, v)
		if err != nil {
			return err
		}
		list = append(list, feed{x.Name(), (*core.Tensor)(t)})
	}
	slices.SortFunc(list, func(a, b feed) int { return strings.Compare(a.name, b.name) })
	for _, f := range list {
		c.FeedNames, c.Feeds = append(c.FeedNames, f.name), append(c.Feeds, f.t)
	}
	return nil
}

// feedable reports as an error that x cannot be fed in sessions on g.
func feedable(g *tf.Graph, x tf.Output) error {
	if err := x.Err(); err != nil {
		return err
	}
	op := x.Operation()
	if op == nil {
		return tf.Errorf(tf.InvalidArgument, "a feed must be an output of the graph, got none")
	}
	if x.Graph() != g {
		return core.AtNode(tf.Errorf(tf.InvalidArgument, "a feed must belong to the session's graph, %s does not", x.Name()), &op.Node, nil)
	}
	return nil
}

// checkFeed compares a value with what it is fed for.
func checkFeed(g *tf.Graph, x tf.Output, v tf.Value) (*tf.Tensor, error) {
	if err := feedable(g, x); err != nil {
		return nil, err
	}
	op := x.Operation()
	fail := func(format string, args ...any) error {
		return core.AtNode(tf.Errorf(tf.InvalidArgument, format, args...), &op.Node, nil)
	}
	if v == nil {
		return nil, fail("the value fed for %s must not be nil", x.Name())
	}
	t, err := v.AsTensor()
	if err != nil {
		return nil, core.AtNode(err, &op.Node, nil)
	}
	switch {
	case t.DType() != x.DType().Base():
		return nil, fail("the value fed for %s must have its type %v, got %v%v", x.Name(), x.DType().Base(), t.DType(), t.Shape())
	case !x.Shape().Compatible(t.Shape()):
		return nil, fail("Cannot feed value of shape %v for Tensor %s, which has shape %v", t.Shape(), x.Name(), x.Shape())
	}
	return t, nil
}
