package interop

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestGoOnTensorFlow: what Go programs do with sessions, on servers of
// TensorFlow.
func TestGoOnTensorFlow(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 3)
	spec := "ps|" + addr[0] + ",worker|" + addr[1] + ";" + addr[2]
	var wg sync.WaitGroup
	for i, task := range []string{"ps", "worker", "worker"} {
		wg.Go(func() { serve(t, ofTensorFlow, spec, task, max(0, i-1)) })
	}
	wg.Wait()
	targets := []string{"grpc://" + addr[1], "grpc://" + addr[2]}
	for name, f := range map[string]func(*testing.T, []string){
		"replicas": goReplicas, "pieces": goPieces, "metadata": goMetadata, "devices": goDevices,
		"limits": goLimits, "containers": goContainers, "many sessions": goMany, "large tensors": goLarge,
	} {
		t.Run(name, func(t *testing.T) { f(t, targets) })
	}
}

func openOn(t *testing.T, g *tf.Graph, target string, edit ...func(*session.Config)) *session.Session {
	t.Helper()
	cfg := session.Config{Target: target, Timeout: 5 * time.Minute}
	for _, f := range edit {
		f(&cfg)
	}
	s, err := session.New(g, session.With(cfg))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A replica is a network with convolutions, batch normalization and embeddings.
type replica struct {
	g                           *tf.Graph
	images, words, labels, loss tf.Output
	step                        []tf.Fetchable
	s                           *session.Session
}

func newReplica(t *testing.T, task int, target string) *replica {
	t.Helper()
	r := &replica{g: tf.NewGraph(tf.Strict())}
	r.g.SetSeed(11)
	servers := 1
	if target == "" {
		servers = 0
	}
	spread := train.ReplicaDevices{PSTasks: servers, Worker: fmt.Sprintf("/job:worker/task:%d", task)}
	r.g.DeviceFunc(spread.Setter(), func() {
		r.model()
		step := train.Minimize(train.Adam{LearningRate: 0.01}, r.loss, train.Options{GlobalStep: train.GlobalStep(r.g)})
		r.step = []tf.Fetchable{r.loss, step, layers.Updates(r.g)}
	})
	r.s = openOn(t, r.g, target)
	if task == 0 {
		if _, err := r.s.Run(t.Context(), nil, tf.InitializeAll(r.g)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *replica) model() {
	r.images = ops.Placeholder(r.g, tf.Float32, tf.Shape{8, 10, 10, 1})
	r.words = ops.Placeholder(r.g, tf.Int32, tf.Shape{8, 4})
	r.labels = ops.Placeholder(r.g, tf.Int32, tf.Shape{8})
	y := layers.Conv2D(r.images, 4, 3, layers.ConvOpts{Padding: "SAME"})
	y = ops.Relu(layers.BatchNorm(y, true, layers.BatchNormOpts{Momentum: 0.9}))
	y = layers.Flatten(layers.MaxPool2D(y, 2, 2, "SAME"))
	table := tf.NewVariable(ops.Const(r.g, initialWeights(50, 6), 50, 6), tf.VariableOptions{Name: "table"})
	meaning := ops.Mean(ops.ResourceGather(table.Handle(), r.words, tf.Float32), ops.Const(r.g, []int32{1}))
	logits := layers.Dense(ops.ConcatV2([]tf.Output{y, meaning}, ops.Scalar(r.g, int32(1))), 5)
	r.loss = ops.Mean(ops.SparseSoftmaxCrossEntropyWithLogits(r.labels, logits), ops.Const(r.g, []int32{0}))
}

// learn runs a step on a batch that its number decides.
func (r *replica) learn(t *testing.T, n int) float64 {
	t.Helper()
	images, words, labels := (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{8, 10, 10, 1})), (*tf.Tensor)(core.NewTensor(tf.Int32, tf.Shape{8, 4})), (*tf.Tensor)(core.NewTensor(tf.Int32, tf.Shape{8}))
	for i := range tf.Data[int32](labels) {
		tf.Data[int32](labels)[i] = int32((i*7 + n) % 5)
	}
	for i := range tf.Data[float32](images) {
		label := tf.Data[int32](labels)[i/100]
		tf.Data[float32](images)[i] = float32(label)*0.1 + 0.5*float32(math.Sin(float64(i*(n+1))))
	}
	for i := range tf.Data[int32](words) {
		tf.Data[int32](words)[i] = int32((i*i + 3*n) % 50)
	}
	v, err := r.s.Run(t.Context(), session.Feeds{r.images: images, r.words: words, r.labels: labels}, r.step...)
	if err != nil {
		t.Fatal(err)
	}
	return asFloat(v[0])
}

// Two replicas that take turns train as one does in this process.
func goReplicas(t *testing.T, targets []string) {
	alone := newReplica(t, 0, "")
	var both []*replica
	for task, target := range targets {
		both = append(both, newReplica(t, task, target))
	}
	for n := range 30 {
		if want, got := alone.learn(t, n), both[n%2].learn(t, n); !(math.Abs(got-want) <= tolerance) {
			t.Fatalf("loss before step %d = %v on the cluster, %v in one process", n, got, want)
		}
	}
}

const onPS, onWorker = "/job:ps/task:0", "/job:worker/task:0"

// chain is (a + b) * c, computed on two tasks.
func chain(g *tf.Graph) (a, b, c, sum, product tf.Output) {
	in := func() tf.Output { return ops.Placeholder(g, tf.Float32, tf.Shape{}) }
	a, b, c = in(), in(), in()
	sum = ops.AddV2(a, b, tf.OnDevice(onPS), tf.Name("sum"))
	return a, b, c, sum, ops.Mul(sum, c, tf.OnDevice(onWorker), tf.Name("product"))
}

func scalarOf(t *testing.T, v []*tf.Tensor, err error) float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return asFloat(v[0])
}

// Partial runs and callables.
func goPieces(t *testing.T, targets []string) {
	g := tf.NewGraph(tf.Strict())
	a, b, c, sum, product := chain(g)
	s := openOn(t, g, targets[0])
	one, two, five := tf.Scalar[float32](1), tf.Scalar[float32](2), tf.Scalar[float32](5)
	p, err := s.PartialRun(t.Context(), []tf.Output{a, b, c}, sum, product)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), session.Feeds{a: one}, product); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("fetching what cannot be computed yet: %v, want InvalidArgument", err)
	}
	v, err := p.Run(t.Context(), session.Feeds{a: one, b: two}, sum)
	if got := scalarOf(t, v, err); got != 3 {
		t.Errorf("1 + 2 = %v", got)
	}
	v, err = p.Run(t.Context(), session.Feeds{c: five}, product)
	if got := scalarOf(t, v, err); got != 15 {
		t.Errorf("3 * 5 = %v", got)
	}
	f, err := s.MakeCallable([]tf.Output{c, a, b}, product)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		v, err := f.Run(t.Context(), tf.Scalar(float32(k)), one, two)
		if got := scalarOf(t, v, err); got != float64(3*k) {
			t.Errorf("(1 + 2) * %d = %v", k, got)
		}
	}
}

// A traced step tells of both tasks.
func goMetadata(t *testing.T, targets []string) {
	g := tf.NewGraph(tf.Strict())
	a, b, c, _, product := chain(g)
	one := tf.Scalar[float32](1)
	_, m, err := openOn(t, g, targets[0]).RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace, PartitionGraphs: true}, session.Feeds{a: one, b: one, c: one}, product)
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]string{}
	for _, d := range m.GetStepStats().GetDevStats() {
		for _, n := range d.GetNodeStats() {
			nodes[n.GetNodeName()] = d.GetDevice()
		}
	}
	for node, task := range map[string]string{"sum": "/job:ps/replica:0/task:0", "product": "/job:worker/replica:0/task:0"} {
		if !strings.HasPrefix(nodes[node], task) {
			t.Errorf("%s ran on %q, want on %s", node, nodes[node], task)
		}
	}
	if n := len(m.GetPartitionGraphs()); n != 2 {
		t.Errorf("%d graphs were run, want 2", n)
	}
}

func goDevices(t *testing.T, targets []string) {
	list, err := cluster.ListDevices(t.Context(), targets[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Name)
	}
	want := []string{"/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("devices (-want +got):\n%s", d)
	}
}

// A step that waits for what does not come ends at its limit, and with its
// session.
func goLimits(t *testing.T, targets []string) {
	g := tf.NewGraph(tf.Strict())
	var taken tf.Output
	g.Device(onPS, func() {
		q := queue.FIFOQueueV2(g, []tf.DType{tf.Float32})
		taken = ops.Identity(queue.QueueDequeueV2(q, []tf.DType{tf.Float32})[0], tf.OnDevice(onWorker))
	})
	s := openOn(t, g, targets[0])
	_, _, err := s.RunWithOptions(t.Context(), session.RunOptions{Timeout: 300 * time.Millisecond}, nil, taken)
	if tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("the step's limit: %v, want DeadlineExceeded", err)
	}
	ended := make(chan error, 1)
	go func() { _, err := s.Run(t.Context(), nil, taken); ended <- err }()
	other := openOn(t, g, targets[0])
	if _, err := other.Run(t.Context(), nil, ops.Scalar[float32](g, 1)); err != nil {
		t.Error(err)
	}
	s.Close() // whether the step has begun or not
	if err := <-ended; tf.CodeOf(err) != tf.Canceled && tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("closing meanwhile: %v, want Canceled, or FailedPrecondition before the step has begun", err)
	}
}

// Sessions share variables, isolated ones do not.
func goContainers(t *testing.T, targets []string) {
	g := tf.NewGraph(tf.Strict())
	v := tf.NewVariable(ops.Scalar[float32](g, 4), tf.VariableOptions{Name: "shared", Device: onPS})
	first, second := openOn(t, g, targets[0]), openOn(t, g, targets[1])
	alone := openOn(t, g, targets[0], func(c *session.Config) { c.Isolate = true })
	if _, err := first.Run(t.Context(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	got, err := second.Run(t.Context(), nil, v.Value())
	if x := scalarOf(t, got, err); x != 4 {
		t.Errorf("another master's session reads %v, want 4", x)
	}
	if _, err := alone.Run(t.Context(), nil, v.Value()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("an isolated session reads: %v, want FailedPrecondition", err)
	}
}

func goMany(t *testing.T, targets []string) {
	g := tf.NewGraph(tf.Strict())
	a, b, c, _, product := chain(g)
	var wg sync.WaitGroup
	for k := range 20 {
		s := openOn(t, g, targets[k%2])
		wg.Go(func() {
			for n := range 5 {
				feeds := session.Feeds{a: tf.Scalar(float32(k)), b: tf.Scalar(float32(n)), c: tf.Scalar[float32](2)}
				got, err := session.Fetch[float32](t.Context(), s, feeds, product)
				if err != nil || got[0] != float32(2*(k+n)) {
					t.Errorf("session %d: (%d + %d) * 2 = %v, %v", k, k, n, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func goLarge(t *testing.T, targets []string) {
	elements := megabytes << 18
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	back := ops.AddV2(ops.Identity(x, tf.OnDevice(onPS)), ops.Scalar[float32](g, 1), tf.OnDevice(onWorker))
	in := (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{elements}))
	for i := range tf.Data[float32](in) {
		tf.Data[float32](in)[i] = float32(i % 1000)
	}
	got, err := session.Fetch[float32](t.Context(), openOn(t, g, targets[0]), session.Feeds{x: in}, back)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tf.Data[float32](in) {
		tf.Data[float32](in)[i]++
	}
	if !slices.Equal(got, tf.Data[float32](in)) {
		t.Errorf("%d numbers came back changed", elements)
	}
}
