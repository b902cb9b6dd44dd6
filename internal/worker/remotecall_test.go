package worker

import (
	"context"
	"testing"
	"testing/synctest"

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
