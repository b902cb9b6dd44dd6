package worker

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// silent is a task that hears everything and answers registrations at most.
type silent struct{ registers bool }

func (p silent) RegisterGraph(ctx context.Context, _ *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	if p.registers {
		return &pb.RegisterGraphResponse{GraphHandle: "1"}, nil
	}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (silent) RunGraph(ctx context.Context, _ *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (silent) CleanupGraph(ctx context.Context, _ *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// identity returns a library with a function of one number, and its name.
func identity(t *testing.T) (*core.Library, string) {
	t.Helper()
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	tf.NewFunction(g, "f", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return in }).Call([]tf.Output{x})
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := core.NewLibrary(def.GetLibrary())
	if err != nil {
		t.Fatal(err)
	}
	return l, def.GetLibrary().GetFunction()[0].GetSignature().GetName()
}

// TestRemoteCallOfASilentTask: a call ends with its step, and the session's end does not
// wait for the other task, in whatever phase of the call that falls silent.
func TestRemoteCallOfASilentTask(t *testing.T) {
	l, f := identity(t)
	for _, p := range []silent{{}, {registers: true}} {
		synctest.Test(t, func(t *testing.T) {
			s := &session{handle: "s"}
			s.ctx, s.cancel = context.WithCancelCause(context.Background())
			c := &remoteCalls{s: s, peer: func(string) (Peer, error) { return p, nil }}
			call := func(ctx context.Context) <-chan error {
				over := make(chan error, 1)
				if err := s.begin(); err != nil {
					t.Fatal(err)
				}
				go func() {
					defer s.steps.Done()
					_, err := c.CallRemote(ctx, "/job:ps/replica:0/task:0/device:CPU:0", l, core.Func{Name: f}, []*core.Tensor{core.Scalar[float32](1)})
					over <- err
				}()
				return over
			}
			first, give := context.WithCancel(s.ctx)
			one, other := call(first), call(s.ctx)
			synctest.Wait()
			give()
			if err := <-one; err == nil {
				t.Error("a call that was given up has succeeded")
			}
			synctest.Wait()
			select {
			case err := <-other:
				t.Errorf("another step's call ended with the first one's: %v", err)
			default:
			}
			ended := make(chan struct{})
			go func() {
				s.cancel(core.Errorf(core.Aborted, "the end of the session"))
				s.steps.Wait()
				close(ended)
			}()
			<-ended
			<-other
		})
	}
}

// movedPeer is a task that counts calls and answers none.
type movedPeer struct {
	collective.Peer
	registered, ran, asked int
}

func (p *movedPeer) RegisterGraph(context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	p.registered++
	return &pb.RegisterGraphResponse{GraphHandle: "1"}, nil
}

func (p *movedPeer) RunGraph(context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	p.ran++
	return nil, core.Errorf(core.Unavailable, "not now")
}

func (p *movedPeer) CleanupGraph(context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return &pb.CleanupGraphResponse{}, nil
}

func (p *movedPeer) CompleteGroup(context.Context, *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	p.asked++
	return nil, core.Errorf(core.Unavailable, "not now")
}

// TestMovedSession: functions and groups of a session that has been given another cluster
// find their tasks there: the channels of the cluster before the last are closed.
func TestMovedSession(t *testing.T) {
	var clusters []*movedPeer
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), Connect: func(*pb.ClusterDef, string) (Cluster, error) {
		c := &movedPeer{}
		clusters = append(clusters, c)
		return Cluster{Leave: func() {}, Peer: func(string) (Peer, error) { return c, nil }, Member: func(string) (collective.Peer, error) { return c, nil }}, nil
	}})
	t.Cleanup(w.Close)
	def := &pb.ServerDef{JobName: "worker", Cluster: &pb.ClusterDef{Job: []*pb.JobDef{{Name: "ps", Tasks: map[int32]string{0: "a:1"}}, {Name: "worker", Tasks: map[int32]string{0: "b:1"}}}}}
	o, err := w.OpenSession(&pb.CreateWorkerSessionRequest{SessionHandle: "s", ServerDef: def})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close(nil)
	l, f := identity(t)
	other := "/job:ps/replica:0/task:0"
	for i := range 3 {
		if i > 0 {
			if err := o.Move(def); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			end, err := o.Begin()
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.Runtime().Remote.CallRemote(t.Context(), other+"/device:CPU:0", l, core.Func{Name: f}, []*core.Tensor{core.Scalar[float32](1)})
			if core.CodeOf(err) != core.Unavailable {
				t.Error(err)
			}
			end()
		}
		if _, err := o.s.collectives.CompleteGroup(t.Context(), &pb.CompleteGroupRequest{GroupKey: 1, GroupSize: 2, DeviceAttributes: &pb.DeviceAttributes{Name: cpu}}); core.CodeOf(err) != core.Unavailable {
			t.Error(err)
		}
		for k, c := range clusters {
			if *c != (movedPeer{registered: 1, ran: 2, asked: 1}) {
				t.Errorf("after %d moves the tasks of cluster %d have heard %+v", i, k, *c)
			}
		}
	}
}
