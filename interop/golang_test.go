package interop

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A network with one hidden layer, its variables on a device of their own.
type network struct {
	g          *tf.Graph
	x, y, loss tf.Output
	step, init *tf.Operation
}

func newNetwork(variables, work string) *network {
	n := &network{g: tf.NewGraph(tf.Strict())}
	n.g.Device(work, func() {
		n.x = ops.Placeholder(n.g, tf.Float32, tf.Shape{-1, 784}, tf.Name("x"))
		n.y = ops.Placeholder(n.g, tf.Int32, tf.Shape{-1}, tf.Name("y"))
		h := ops.Relu(n.dense(n.x, "hidden", 784, 64, variables))
		logits := n.dense(h, "out", 64, 10, variables)
		n.loss = ops.Mean(ops.SparseSoftmaxCrossEntropyWithLogits(n.y, logits), ops.Const(n.g, []int32{0}))
	})
	n.step = train.Adam{LearningRate: 1e-3}.Minimize(n.loss)
	n.init = tf.InitializeAll(n.g)
	return n
}

func (n *network) dense(x tf.Output, name string, in, out int, variables string) tf.Output {
	initial := ops.Const(n.g, initialWeights(in, out), in, out)
	weights := tf.NewVariable(initial, tf.VariableOptions{Name: name + "/w", Device: variables})
	bias := tf.NewVariable(ops.Const(n.g, make([]float32, out)), tf.VariableOptions{Name: name + "/b", Device: variables})
	return ops.AddV2(ops.MatMul(x, weights.Value()), bias.Value())
}

func initialWeights(in, out int) []float32 {
	r := rand.New(rand.NewPCG(uint64(in), uint64(out)))
	w := make([]float32, in*out)
	for i := range w {
		w[i] = float32((2*r.Float64() - 1) / math.Sqrt(float64(in)))
	}
	return w
}

// train returns the loss before each step.
func (n *network) train(t *testing.T, target string, steps int) []float32 {
	t.Helper()
	return n.trainWith(t, session.Config{Target: target}, steps)
}

func (n *network) trainWith(t *testing.T, cfg session.Config, steps int) []float32 {
	t.Helper()
	cfg.Timeout = time.Minute
	s, err := session.New(n.g, session.With(cfg))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background(), nil, n.init); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var losses []float32
	for range steps {
		images, labels := batch(t, r, 32)
		l, err := session.Fetch[float32](context.Background(), s, session.Feeds{n.x: images, n.y: labels}, n.loss, n.step)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, l[0])
	}
	return losses
}

func batch(t *testing.T, r *rand.Rand, n int) (images, labels *tf.Tensor) {
	t.Helper()
	pixels, digits := make([]float32, n*784), make([]int32, n)
	for i := range pixels {
		pixels[i] = r.Float32()
	}
	for i := range digits {
		digits[i] = int32(pixels[i*784] * 10)
	}
	images, err := tf.FromSlice(pixels, n, 784)
	if err != nil {
		t.Fatal(err)
	}
	labels, err = tf.FromSlice(digits)
	if err != nil {
		t.Fatal(err)
	}
	return images, labels
}

// A Go program trains on servers of TensorFlow, with a master of either kind,
// as it does in its own process.
func TestGoTrainsOnTensorFlow(t *testing.T) {
	needTensorFlow(t)
	const steps = 100
	want := newNetwork("", "").train(t, "", steps)
	for _, worker := range []string{ofTensorFlow, ofGorge} {
		t.Run("worker "+worker, func(t *testing.T) {
			addr := ports(t, 2)
			cluster := "ps|" + addr[0] + ",worker|" + addr[1]
			both(func() { serve(t, ofTensorFlow, cluster, "ps", 0) }, func() { serve(t, worker, cluster, "worker", 0) })
			got := newNetwork("/job:ps", "/job:worker").train(t, "grpc://"+addr[1], steps)
			for i := range want {
				if !(math.Abs(float64(got[i]-want[i])) <= tolerance) {
					t.Fatalf("loss before step %d = %v on the cluster, %v in one process", i, got[i], want[i])
				}
			}
		})
	}
}

// An error from a server of TensorFlow names the node and the program's line.
func TestGoReadsTensorFlowErrors(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 1)
	serve(t, ofTensorFlow, "worker|"+addr[0], "worker", 0)
	g := tf.NewGraph(tf.Strict())
	v := tf.NewVariable(ops.Const(g, []float32{1}), tf.VariableOptions{Name: "v"})
	s, err := session.New(g, session.Target("grpc://"+addr[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Run(t.Context(), nil, v.Value())
	var e *tf.Error
	if !errors.As(err, &e) || e.Code != tf.FailedPrecondition || e.Node != "v/Read/ReadVariableOp" || e.Pos == "" {
		t.Errorf("reading an uninitialized variable: %v, want FailedPrecondition at node v/Read/ReadVariableOp and a line of this file", err)
	}
}
