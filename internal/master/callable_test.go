package master_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func (c *client) makeCallable(o *pb.CallableOptions) (int64, error) {
	resp, err := c.m.MakeCallable(c.t.Context(), &pb.MakeCallableRequest{SessionHandle: c.handle, Options: o, RequestId: requestid.New()})
	return resp.GetHandle(), err
}

func (c *client) runCallable(handle int64, feeds ...*core.Tensor) (*pb.RunCallableResponse, error) {
	req := &pb.RunCallableRequest{SessionHandle: c.handle, Handle: handle, RequestId: requestid.New()}
	for _, f := range feeds {
		req.Feed = append(req.Feed, core.TensorProto(f))
	}
	return c.m.RunCallable(c.t.Context(), req)
}

func floats(t *testing.T, protos []*pb.TensorProto) []float32 {
	t.Helper()
	var out []float32
	for _, p := range protos {
		x, err := core.TensorFromProto(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, core.Data[float32](x)...)
	}
	return out
}

func TestCallables(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), counter(), nil)
	s.must("v/Assign")
	both, err := s.makeCallable(&pb.CallableOptions{Feed: []string{"x:0"}, Fetch: []string{"sum:0", "v/Read/ReadVariableOp:0", "sum"}})
	if err != nil {
		t.Fatal(err)
	}
	add, err := s.makeCallable(&pb.CallableOptions{Feed: []string{"x"}, Target: []string{"add"}, RunOptions: &pb.RunOptions{OutputPartitionGraphs: true}})
	if err != nil || add == both {
		t.Fatalf("the handles are %d and %d, %v", both, add, err)
	}
	wired, err := s.makeCallable(&pb.CallableOptions{Fetch: []string{"sum:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "v/Read/ReadVariableOp:0", ToTensor: "x:0"}}})
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := s.runCallable(wired); err != nil || floats(t, resp.GetFetch())[0] != 20 {
		t.Errorf("x + v where x is v = %v, %v; want 20", resp.GetFetch(), err)
	}
	for i := range 3 {
		two := core.Scalar[float32](2)
		resp, err := s.runCallable(both, two)
		if err != nil {
			t.Fatal(err)
		}
		v := float32(10 + 2*i)
		if got := floats(t, resp.GetFetch()); len(got) != 3 || got[0] != v+2 || got[1] != v || got[2] != v+2 {
			t.Errorf("x + v, v, x + v = %v with v = %v, x = 2", got, v)
		}
		if resp, err = s.runCallable(add, two); err != nil || len(resp.GetFetch()) != 0 || len(resp.GetMetadata().GetPartitionGraphs()) != 2 {
			t.Fatalf("adding to v on another task = %v, %v; want its two parts", resp, err)
		}
	}
}

func TestCallablesRefuse(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), counter(), nil)
	s.must("v/Assign")
	for name, c := range map[string]struct {
		o    *pb.CallableOptions
		code core.Code
		text string
	}{
		"no fetch":     {&pb.CallableOptions{Feed: []string{"x:0"}}, core.InvalidArgument, "Must specify at least one target"},
		"unknown":      {&pb.CallableOptions{Fetch: []string{"q:0"}}, core.NotFound, "q:0: not found"},
		"malformed":    {&pb.CallableOptions{Fetch: []string{"x:y"}}, core.NotFound, "FetchOutputs node x:y: not found"},
		"feed twice":   {&pb.CallableOptions{Feed: []string{"x:0", "x"}, Fetch: []string{"sum:0"}}, core.InvalidArgument, "fed more than once"},
		"feed device":  {&pb.CallableOptions{Fetch: []string{"sum:0"}, FeedDevices: map[string]string{"x:0": ps0}}, core.Unimplemented, "feed_devices and CallableOptions::fetch_devices"},
		"fetch device": {&pb.CallableOptions{Fetch: []string{"sum:0"}, FetchDevices: map[string]string{"sum:0": ps0}}, core.Unimplemented, "fetch_devices"},
		"a connection": {&pb.CallableOptions{Fetch: []string{"sum:0"}, TensorConnection: []*pb.TensorConnection{{}}}, core.InvalidArgument, "connection from unknown node"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.makeCallable(c.o)
			check(t, "MakeCallable", err, c.code, c.text)
		})
	}
	sum, err := s.makeCallable(&pb.CallableOptions{Feed: []string{"x:0"}, Fetch: []string{"sum:0"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.runCallable(sum)
	check(t, "a call without its feed", err, core.InvalidArgument, "Expected 1 feed tensors, but got 0")
	_, err = s.runCallable(sum + 1)
	check(t, "a handle to come", err, core.InvalidArgument, "No such callable handle: 1")
	for range 2 {
		if _, err := s.m.ReleaseCallable(t.Context(), &pb.ReleaseCallableRequest{SessionHandle: s.handle, Handle: sum}); err != nil {
			t.Errorf("ReleaseCallable = %v", err)
		}
	}
	_, err = s.runCallable(sum, core.Scalar[float32](1))
	check(t, "a released handle", err, core.InvalidArgument, "Attempted to run callable after handle was released: 0")
	req := &pb.MakeCallableRequest{SessionHandle: s.handle, RequestId: 7, Options: &pb.CallableOptions{Fetch: []string{"v/Read/ReadVariableOp:0"}}}
	if _, err := s.m.MakeCallable(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	_, err = s.m.MakeCallable(t.Context(), req)
	check(t, "the same request", err, core.Aborted, "The same MakeCallable (Master) request was received twice.")
}
