package interop

import (
	"math"
	"math/rand/v2"
	"net"
	"testing"

	_ "github.com/gorge-tf/gorge/internal/device/fake"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const equalSteps = 20

// TestSameBitsEverywhere trains one network in every way that there is. All
// have to give the same losses, bit for bit.
func TestSameBitsEverywhere(t *testing.T) {
	want := newNetwork("", "").trainWith(t, session.Config{}, equalSteps)
	if want[equalSteps-1] >= want[0] {
		t.Fatalf("the network does not learn: %v", want)
	}
	for name, losses := range map[string]func() []float32{
		"two CPUs": func() []float32 {
			return newNetwork("/device:CPU:1", "/device:CPU:0").trainWith(t, session.Config{Devices: map[string]int{"CPU": 2}}, equalSteps)
		},
		"variables on FAKE": func() []float32 {
			return newNetwork("/device:FAKE:0", "/device:CPU:0").trainWith(t, session.Config{Devices: map[string]int{"FAKE": 1}}, equalSteps)
		},
		"all on FAKE": func() []float32 {
			return newNetwork("/device:FAKE:0", "/device:FAKE:0").trainWith(t, session.Config{Devices: map[string]int{"FAKE": 1}}, equalSteps)
		},
		"as written": func() []float32 {
			return newNetwork("", "").trainWith(t, session.Config{DisabledPasses: []string{"all"}}, equalSteps)
		},
		"one thread":    func() []float32 { return newNetwork("", "").trainWith(t, session.Config{Threads: 1}, equalSteps) },
		"eagerly":       func() []float32 { return eagerLosses(t, equalSteps) },
		"cluster":       func() []float32 { return clusterLosses(t, "grpc") },
		"cluster, RDMA": func() []float32 { return clusterLosses(t, "grpc+verbs") },
	} {
		t.Run(name, func(t *testing.T) { sameBits(t, losses(), want) })
	}
}

func sameBits(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("the loss of step %d is %v, want %v", i+1, got[i], want[i])
		}
	}
}

// clusterLosses trains on a parameter server and a worker of this process,
// which exchange tensors by the given protocol.
func clusterLosses(t *testing.T, protocol string) []float32 {
	t.Helper()
	ports := map[string]net.Listener{}
	spec := cluster.Spec{}
	for _, job := range []string{"ps", "worker"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports[job], spec[job] = l, []string{l.Addr().String()}
	}
	target := ""
	for _, job := range []string{"ps", "worker"} {
		s, err := cluster.NewServer(cluster.Config{Cluster: spec, Job: job, Listener: ports[job], Protocol: protocol})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Stop() })
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		target = s.Target()
	}
	return newNetwork("/job:ps/task:0", "/job:worker/task:0").trainWith(t, session.Config{Target: target}, equalSteps)
}

// eagerLosses is train without a session.
func eagerLosses(t *testing.T, steps int) (losses []float32) {
	t.Helper()
	n := &network{g: eager.New()}
	type layer struct{ w, b *tf.Variable }
	layers := make([]layer, 2)
	for i, size := range [][2]int{{784, 64}, {64, 10}} {
		w := initialWeights(size[0], size[1])
		layers[i].w = tf.NewVariable(ops.Const(n.g, w, size[0], size[1]), tf.VariableOptions{})
		layers[i].b = tf.NewVariable(ops.Const(n.g, make([]float32, size[1])), tf.VariableOptions{})
	}
	apply := func(l layer, x tf.Output) tf.Output { return ops.AddV2(ops.MatMul(x, l.w.Value()), l.b.Value()) }
	opt := train.Adam{LearningRate: 1e-3}
	r := rand.New(rand.NewPCG(1, 2))
	for range steps {
		x, y := batch(t, r, 32)
		var loss tf.Output
		tape := eager.Record(n.g, func() {
			logits := apply(layers[1], ops.Relu(apply(layers[0], ops.ConstTensor(n.g, x))))
			loss = ops.Mean(ops.SparseSoftmaxCrossEntropyWithLogits(ops.ConstTensor(n.g, y), logits), ops.Const(n.g, []int32{0}))
		})
		grads, err := train.TapeGradients(tape, loss)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := opt.ApplyGradients(grads); err != nil {
			t.Fatal(err)
		}
		v, err := loss.Value()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, tf.Data[float32](v)[0])
	}
	return losses
}
