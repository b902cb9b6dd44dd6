package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// alone starts a server that is a cluster by itself and returns its address.
func alone(t *testing.T) string {
	t.Helper()
	lis := listen(t)
	c := cluster.Local(lis.Addr().String())
	c.Listener = lis
	return strings.TrimPrefix(serve(t, c).Target(), "grpc://")
}

// A raw session is one that speaks to a master without a client in between.
type rawSession struct {
	t      *testing.T
	master *rpc.MasterClient
	handle string
}

func openRaw(t *testing.T, address string, g *tf.Graph, cfg *pb.ConfigProto) *rawSession {
	t.Helper()
	conn, err := rpc.Dial(address, rpc.DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	s := &rawSession{t: t, master: rpc.NewMasterClient(conn)}
	resp, err := s.master.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: def, Config: cfg, Target: "grpc://" + address})
	if err != nil {
		t.Fatal(err)
	}
	s.handle = resp.GetSessionHandle()
	return s
}

func (s *rawSession) run(fetch string, targets ...string) (float32, error) {
	req := &pb.RunStepRequest{SessionHandle: s.handle, Target: targets, RequestId: requestid.New()}
	if fetch != "" {
		req.Fetch = []string{fetch}
	}
	resp, err := s.master.RunStep(s.t.Context(), req)
	if err != nil || fetch == "" {
		return 0, err
	}
	x, err := core.TensorFromProto(resp.GetTensor()[0].GetTensor())
	if err != nil {
		s.t.Fatal(err)
	}
	return core.Data[float32](x)[0], nil
}

// floats runs a step that fetches vectors.
func (s *rawSession) floats(ctx context.Context, fetches ...string) (out [][]float32, err error) {
	resp, err := s.master.RunStep(ctx, &pb.RunStepRequest{SessionHandle: s.handle, Fetch: fetches, RequestId: requestid.New()})
	for _, x := range resp.GetTensor() {
		v, err := core.TensorFromProto(x.GetTensor())
		if err != nil {
			return nil, err
		}
		out = append(out, core.Data[float32](v))
	}
	return out, err
}

func (s *rawSession) close() {
	s.t.Helper()
	if _, err := s.master.CloseSession(s.t.Context(), &pb.CloseSessionRequest{SessionHandle: s.handle}); err != nil {
		s.t.Error(err)
	}
}

// Servers that know nothing of each other are made one cluster by a session,
// under names of its own. Its variables are its own, unless it shares them.
func TestSessionsBringTheirCluster(t *testing.T) {
	a, b := alone(t), alone(t)
	def := &pb.ClusterDef{Job: []*pb.JobDef{{Name: "trainer", Tasks: map[int32]string{0: b, 4: a}}}}
	g := tf.NewGraph(tf.Strict())
	var v *tf.Variable
	g.Device("/job:trainer/task:0", func() {
		v = tf.NewVariable(ops.Scalar[float32](g, 5), tf.VariableOptions{Name: "v"})
	})
	g.Device("/job:trainer/task:4", func() { ops.AddV2(v.Value(), ops.Scalar[float32](g, 1), tf.Name("more")) })
	for _, share := range []bool{false, true} {
		cfg := &pb.ConfigProto{ClusterDef: def, Experimental: &pb.ConfigProto_Experimental{ShareSessionStateInClusterspecPropagation: share}}
		one, other := openRaw(t, a, g, cfg), openRaw(t, a, g, cfg)
		if _, err := one.run("", "v/Assign"); err != nil {
			t.Fatal(err)
		}
		if got, err := one.run("more:0"); err != nil || got != 6 {
			t.Errorf("v + 1 = %v, %v; want 6", got, err)
		}
		if got, err := other.run("more:0"); share != (err == nil && got == 6) {
			t.Errorf("v + 1 in another session = %v, %v; variables are shared: %v", got, err, share)
		}
		list, err := one.master.ListDevices(t.Context(), &pb.ListDevicesRequest{SessionHandle: one.handle})
		if err != nil || len(list.GetLocalDevice()) != 1 || list.GetLocalDevice()[0].GetName() != "/job:trainer/replica:0/task:4/device:CPU:0" {
			t.Errorf("the session's devices are %v, %v", list, err)
		}
		one.close()
		other.close()
	}
}

// adding builds, on each task of trainer, the sum over the given ones of what they
// have, its parts under the names that it returns.
func adding(length, scale, size int, tasks ...int) (g *tf.Graph, fetches []string) {
	g = tf.NewGraph(tf.Strict())
	for _, task := range tasks {
		g.Device(fmt.Sprintf("/job:trainer/task:%d/device:CPU:0", task), func() {
			x := ops.Const(g, slices.Repeat([]float32{float32(scale * (task + 1))}, length))
			y := collective.Reduce(x, collective.Group{Size: size, Key: 1, Instance: 1}, "Add", "Id", tf.Name(fmt.Sprint("sum", task)))
			fetches = append(fetches, y.Name())
		})
	}
	return g, fetches
}

// trainers is a cluster of some servers that were started alone.
func trainers(addresses ...string) *pb.ConfigProto {
	tasks := map[int32]string{}
	for i, a := range addresses {
		tasks[int32(i)] = a
	}
	return &pb.ConfigProto{ClusterDef: &pb.ClusterDef{Job: []*pb.JobDef{{Name: "trainer", Tasks: tasks}}}}
}

// Devices of the cluster that a session brings along do things together, each
// session's for itself: sessions use the same group for different devices, sizes
// and lengths at once. A leader that servers were started with is none of theirs.
func TestSessionsReduceInTheirCluster(t *testing.T) {
	a, b := alone(t), alone(t)
	lis := listen(t)
	led := cluster.Config{Cluster: cluster.Spec{"x": {lis.Addr().String(), "127.0.0.1:1"}}, Job: "x", Listener: lis, CollectiveLeader: "/job:x/task:1", CacheResponses: true}
	c := strings.TrimPrefix(serve(t, led).Target(), "grpc://")
	var all sync.WaitGroup
	for i, addresses := range [][]string{{a, b, c}, {c, b, a}, {a, b}, {a, b, c}} {
		all.Go(func() {
			n, length := len(addresses), 10*i+1
			tasks := []int{0, 1, 2}[:n]
			g, fetches := adding(length, i+1, n, tasks...)
			s := openRaw(t, addresses[i%n], g, trainers(addresses...))
			defer s.close()
			want := slices.Repeat([]float32{float32((i + 1) * n * (n + 1) / 2)}, length)
			for range 3 {
				got, err := s.floats(t.Context(), fetches...)
				if err != nil || len(got) != n || !slices.Equal(got[0], want) || !slices.Equal(got[n-1], want) {
					t.Errorf("session %d: %v, %v; want %v on %d devices", i, got, err, want, n)
				}
			}
		})
	}
	all.Wait()
}

// A master that comes back at another address ends the sessions of its earlier life:
// it has the same name in the clusters that both bring along.
func TestMasterComesBackElsewhere(t *testing.T) {
	before, after, w := alone(t), alone(t), alone(t)
	g := tf.NewGraph(tf.Strict())
	x := ops.Identity(ops.Const(g, []float32{1}), tf.OnDevice("/job:trainer/task:1"), tf.Name("x"))
	s := openRaw(t, before, g, trainers(before, w))
	if _, err := s.floats(t.Context(), x.Name()); err != nil {
		t.Fatal(err)
	}
	next := openRaw(t, after, g, trainers(after, w))
	defer next.close()
	if _, err := next.floats(t.Context(), x.Name()); err != nil {
		t.Error(err)
	}
	if _, err := s.floats(t.Context(), x.Name()); tf.CodeOf(err) != tf.Aborted {
		t.Errorf("a step of the old session: %v, want Aborted", err)
	}
}

// TestSessionsWaitInTheirCluster: a wait for a device that never comes is an error
// when its time is over, and then the session is closed as any other.
func TestSessionsWaitInTheirCluster(t *testing.T) {
	a, b := alone(t), alone(t)
	g, fetches := adding(1, 1, 3, 0, 1)
	for _, master := range []string{a, b} {
		s := openRaw(t, master, g, trainers(a, b))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := s.floats(ctx, fetches...); tf.CodeOf(err) != tf.DeadlineExceeded && tf.CodeOf(err) != tf.Canceled {
			t.Errorf("a sum over three devices of which two come: %v, want DeadlineExceeded or Canceled", err)
		}
		cancel()
		s.close()
	}
}

// TestConfigBringsACluster: a program does the same by its session's Config.
func TestConfigBringsACluster(t *testing.T) {
	a, b := alone(t), alone(t)
	g := tf.NewGraph()
	var v *tf.Variable
	g.Device("/job:trainer/task:0", func() { v = tf.NewVariable(ops.Scalar[float32](g, 5), tf.VariableOptions{}) })
	var more tf.Output
	g.Device("/job:trainer/task:4", func() { more = v.Value().Add(ops.Scalar[float32](g, 1)) })
	open := func(c cluster.Spec) (*session.Session, error) {
		return session.New(g, session.Target("grpc://"+a), session.With(session.Config{Cluster: c}))
	}
	s, err := open(cluster.Spec{"trainer": {b, "", "", "", a}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), nil, more)
	if err != nil || tf.Data[float32](out[0])[0] != 6 {
		t.Errorf("v + 1 = %v, %v; want 6", out, err)
	}
	for want, c := range map[string]cluster.Spec{
		"at least one job":   {},
		"the form host:port": {"trainer": {"nowhere"}},
		"letters, digits":    {"a b": {a}},
	} {
		if _, err := open(c); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
