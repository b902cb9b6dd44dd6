package master

import (
	"context"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A callable is a step whose feeds and fetches are settled ahead: later calls
// give and get tensors by position.
type callable struct {
	feeds, fetches []string // in their full form
	form           call     // the step without values
	prepared       *prepared
}

// MakeCallable prepares a step with fixed feeds and fetches.
func (m *Master) MakeCallable(ctx context.Context, req *pb.MakeCallableRequest) (*pb.MakeCallableResponse, error) {
	if err := m.recent.Track(req.GetRequestId(), "MakeCallable (Master)"); err != nil {
		return nil, err
	}
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	return during(ctx, s, req.GetOptions().GetRunOptions(), func(ctx context.Context) (*pb.MakeCallableResponse, error) {
		handle, err := s.makeCallable(ctx, req.GetOptions())
		return &pb.MakeCallableResponse{Handle: handle}, err
	})
}

func (s *session) makeCallable(ctx context.Context, o *pb.CallableOptions) (handle int64, err error) {
	if err := checkCallable(o); err != nil {
		return 0, err
	}
	c, err := newCallable(o)
	if err != nil {
		return 0, err
	}
	if c.prepared, err = s.prepareOwn(ctx, c.form.signature(), c.form.options.GetExperimental().GetCollectiveGraphKey()); err != nil {
		return 0, err
	}
	return s.callables.add(c), nil
}

func newCallable(o *pb.CallableOptions) (*callable, error) {
	c := &callable{form: call{feeds: map[string]*pb.TensorProto{}, fetches: map[string][]string{}, targets: o.GetTarget(), options: o.GetRunOptions()}}
	var err error
	if c.feeds, err = fullNames(o.GetFeed(), feedName); err != nil {
		return nil, err
	}
	if c.fetches, err = fullNames(o.GetFetch(), fetchName); err != nil {
		return nil, err
	}
	for _, name := range c.feeds {
		c.form.take(name, nil)
	}
	for i, name := range c.fetches {
		c.form.want(name, o.GetFetch()[i])
	}
	for _, x := range o.GetTensorConnection() {
		c.form.connections = append(c.form.connections, pass.Connection{From: x.GetFromTensor(), To: x.GetToTensor()})
	}
	return c, nil
}

func fullNames(tensors []string, full func(string) (string, error)) ([]string, error) {
	out := make([]string, len(tensors))
	for i, t := range tensors {
		var err error
		if out[i], err = full(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkCallable refuses what only makes sense in one process.
func checkCallable(o *pb.CallableOptions) error {
	if len(o.GetFeedDevices()) > 0 || len(o.GetFetchDevices()) > 0 {
		return core.Errorf(core.Unimplemented, "CallableOptions::feed_devices and CallableOptions::fetch_devices to configure feeding/fetching tensors to/from device memory is not yet supported when using a remote session.")
	}
	return nil
}

// call is the step with the values that feeds have in it.
func (c *callable) call(values []*pb.TensorProto) (*call, error) {
	if len(values) != len(c.feeds) {
		return nil, core.Errorf(core.InvalidArgument, "Expected %d feed tensors, but got %d", len(c.feeds), len(values))
	}
	out := c.form
	out.feeds = make(map[string]*pb.TensorProto, len(values))
	for i, name := range c.feeds {
		out.feeds[name] = values[i]
	}
	return &out, nil
}

// RunCallable runs what MakeCallable has prepared.
func (m *Master) RunCallable(ctx context.Context, req *pb.RunCallableRequest) (*pb.RunCallableResponse, error) {
	if err := m.recent.Track(req.GetRequestId(), "RunCallable (Master)"); err != nil {
		return nil, err
	}
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	if err := m.admit(); err != nil {
		return nil, err
	}
	c, err := s.callables.use(req.GetHandle())
	if err != nil {
		return nil, err
	}
	defer c.prepared.uses.Done()
	return during(ctx, s, c.form.options, func(ctx context.Context) (*pb.RunCallableResponse, error) {
		return s.runCallable(ctx, c, req.GetFeed())
	})
}

func (s *session) runCallable(ctx context.Context, c *callable, feeds []*pb.TensorProto) (*pb.RunCallableResponse, error) {
	step, err := c.call(feeds)
	if err != nil {
		return nil, err
	}
	r := s.newRun(c.prepared, step)
	answers, err := r.whole(ctx)
	if err != nil {
		return nil, err
	}
	return r.positional(c.fetches, answers)
}

// positional puts the fetches into the order that the callable was made with.
func (r *stepRun) positional(names []string, answers []*pb.RunGraphResponse) (*pb.RunCallableResponse, error) {
	got, err := r.fetched(answers)
	if err != nil {
		return nil, err
	}
	resp := &pb.RunCallableResponse{Metadata: r.metadata(answers)}
	for _, name := range names {
		resp.Fetch = append(resp.Fetch, got[name])
	}
	return resp, nil
}

// ReleaseCallable gives up what MakeCallable has prepared, here and at the workers,
// when the last step with it has ended. A handle that is not known is no error: the
// answer to an earlier call may have been lost.
func (m *Master) ReleaseCallable(_ context.Context, req *pb.ReleaseCallableRequest) (*pb.ReleaseCallableResponse, error) {
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	c := s.callables.release(req.GetHandle())
	if c == nil || s.begin() != nil { // a session that ends takes all with it
		return &pb.ReleaseCallableResponse{}, nil
	}
	defer s.done()
	s.forget(c.prepared)
	return &pb.ReleaseCallableResponse{}, nil
}
