package cluster_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
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
	x, err := tf.TensorFromProto(resp.GetTensor()[0].GetTensor())
	if err != nil {
		s.t.Fatal(err)
	}
	return tf.Data[float32](x)[0], nil
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
