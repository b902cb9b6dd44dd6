package master

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// A call is what a client asks of one step, names in their full form.
type call struct {
	req     *pb.RunStepRequest
	feeds   map[string]*pb.TensorProto // by tensor
	twice   []string                   // feeds that come again
	fetches map[string][]string        // by tensor: the names it was asked for under
}

func newCall(req *pb.RunStepRequest) (*call, error) {
	c := &call{req: req, feeds: map[string]*pb.TensorProto{}, fetches: map[string][]string{}}
	for _, f := range req.GetFeed() {
		name, err := fullName(f.GetName())
		if err != nil {
			return nil, err
		}
		if _, twice := c.feeds[name]; twice {
			c.twice = append(c.twice, name)
		}
		c.feeds[name] = f.GetTensor()
	}
	for _, f := range req.GetFetch() {
		name, err := fullName(f)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.fetches[name], f) {
			c.fetches[name] = append(c.fetches[name], f)
		}
	}
	return c, nil
}

// fullName returns "x:0" for "x" too.
func fullName(tensor string) (string, error) {
	node, k, err := tf.ParseTensorName(tensor)
	return fmt.Sprintf("%s:%d", node, k), err
}

// signature says what the step needs; its order does not depend on that of the
// request.
func (c *call) signature() pass.Signature {
	return pass.Signature{
		Feeds:   append(slices.Sorted(maps.Keys(c.feeds)), c.twice...),
		Fetches: slices.Sorted(maps.Keys(c.fetches)),
		Targets: slices.Compact(slices.Sorted(slices.Values(c.req.GetTarget()))),
	}
}
