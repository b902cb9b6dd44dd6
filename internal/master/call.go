package master

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A call is what a client asks of one step, names in their full form.
type call struct {
	feeds   map[string]*pb.TensorProto // by tensor
	twice   []string                   // feeds that come again
	fetches map[string][]string        // by tensor: the names it was asked for under
	targets []string
	options *pb.RunOptions

	connections []pass.Connection // of callables
}

func newCall(req *pb.RunStepRequest) (*call, error) {
	c := &call{feeds: map[string]*pb.TensorProto{}, fetches: map[string][]string{}, targets: req.GetTarget(), options: req.GetOptions()}
	for _, f := range req.GetFeed() {
		if err := c.feed(f.GetName(), f.GetTensor()); err != nil {
			return nil, err
		}
	}
	for _, f := range req.GetFetch() {
		if err := c.fetch(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *call) feed(tensor string, value *pb.TensorProto) error {
	name, err := feedName(tensor)
	if err == nil {
		c.take(name, value)
	}
	return err
}

func (c *call) take(name string, value *pb.TensorProto) {
	if _, twice := c.feeds[name]; twice {
		c.twice = append(c.twice, name)
	}
	c.feeds[name] = value
}

func (c *call) fetch(tensor string) error {
	name, err := fetchName(tensor)
	if err == nil {
		c.want(name, tensor)
	}
	return err
}

// want asks for a tensor under the name that the client has for it.
func (c *call) want(name, tensor string) {
	if !slices.Contains(c.fetches[name], tensor) {
		c.fetches[name] = append(c.fetches[name], tensor)
	}
}

// feedName is fullName of a feed, fetchName of a fetch: what is no name of a tensor
// is for TensorFlow one that no graph has.
func feedName(tensor string) (string, error) {
	name, err := fullName(tensor)
	if err != nil || tensor == "" {
		return "", core.Errorf(core.NotFound, "FeedInputs: unable to find feed output %s", tensor)
	}
	return name, nil
}

func fetchName(tensor string) (string, error) {
	name, err := fullName(tensor)
	if err != nil || tensor == "" {
		return "", core.Errorf(core.NotFound, "FetchOutputs node %s: not found", tensor)
	}
	return name, nil
}

// fullName returns "x:0" for "x" too.
func fullName(tensor string) (string, error) {
	node, k, err := core.ParseTensorName(tensor)
	if full := node + ":" + strconv.Itoa(k); full != tensor {
		return full, err
	}
	return tensor, err
}

// signature says what the step needs; its order does not depend on that of the
// request.
func (c *call) signature() pass.Signature {
	return pass.Signature{
		Feeds:   append(slices.Sorted(maps.Keys(c.feeds)), c.twice...),
		Fetches: slices.Sorted(maps.Keys(c.fetches)),
		Targets: slices.Compact(slices.Sorted(slices.Values(c.targets))),

		Connections: c.connections,
	}
}
