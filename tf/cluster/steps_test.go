package cluster_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// spread is sum = a + b on one task and product = sum * c on another.
func spread(t *testing.T) (g *tf.Graph, a, b, c, sum, product tf.Output) {
	t.Helper()
	g = tf.NewGraph(tf.Strict())
	g.Device("/job:ps", func() {
		a = ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("a"))
		b = ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("b"))
		sum = ops.AddV2(a, b, tf.Name("sum"))
	})
	g.Device("/job:worker", func() {
		c = ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("c"))
		product = ops.Mul(sum, c, tf.Name("product"))
	})
	return g, a, b, c, sum, product
}

func value(t *testing.T, x *core.Tensor) float32 {
	t.Helper()
	v, err := core.Values[float32](x)
	if err != nil || len(v) != 1 {
		t.Fatal(v, err)
	}
	return v[0]
}

func TestCallable(t *testing.T) {
	g, a, b, c, sum, product := spread(t)
	s := open(t, g, start(t, map[string]int{"ps": 1, "worker": 1}).servers["worker:0"].Target())
	f, err := s.MakeCallable([]tf.Output{c, a, b}, product, sum, product.Operation())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		x := float32(i)
		got, err := f.Run(t.Context(), tf.Scalar(x), tf.Scalar[float32](1), tf.Scalar[float32](2))
		if err != nil {
			t.Fatal(err)
		}
		if p, q := value(t, (*core.Tensor)(got[0])), value(t, (*core.Tensor)(got[1])); p != 3*x || q != 3 || got[2] != nil {
			t.Errorf("(1 + 2) * %v, 1 + 2 = %v, %v", x, p, q)
		}
	}
	late := ops.Square(product)
	if f, err = s.MakeCallable([]tf.Output{sum, c}, late); err != nil {
		t.Fatal(err)
	}
	got, err := f.Run(t.Context(), tf.Scalar[float32](2), tf.Scalar[float32](3))
	if err != nil || value(t, (*core.Tensor)(got[0])) != 36 {
		t.Errorf("(2 * 3)² = %v, %v", got, err)
	}
}

func TestPartialRun(t *testing.T) {
	g, a, b, c, sum, product := spread(t)
	s := open(t, g, start(t, map[string]int{"ps": 1, "worker": 1}).servers["worker:0"].Target())
	p, err := s.PartialRun(t.Context(), []tf.Output{a, b, c}, sum, product)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(t.Context(), session.Feeds{a: tf.Scalar[float32](1)}, sum)
	if tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("fetching before all is fed = %v, want InvalidArgument", err)
	}
	first, err := p.Run(t.Context(), session.Feeds{a: tf.Scalar[float32](1), b: tf.Scalar[float32](2)}, sum)
	if err != nil || value(t, (*core.Tensor)(first[0])) != 3 {
		t.Fatalf("1 + 2 = %v, %v", first, err)
	}
	rest, err := p.Run(t.Context(), session.Feeds{c: tf.Scalar[float32](5)}, product)
	if err != nil || value(t, (*core.Tensor)(rest[0])) != 15 {
		t.Errorf("3 * 5 = %v, %v", rest, err)
	}
}

func TestRunMetadata(t *testing.T) {
	g, a, b, c, _, product := spread(t)
	s := open(t, g, start(t, map[string]int{"ps": 1, "worker": 1}).servers["worker:0"].Target())
	one := tf.Scalar[float32](1)
	_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace, PartitionGraphs: true}, session.Feeds{a: one, b: one, c: one}, product)
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]string{}
	for _, d := range m.GetStepStats().GetDevStats() {
		for _, n := range d.GetNodeStats() {
			nodes[n.GetNodeName()] = d.GetDevice()
		}
	}
	if nodes["sum"] != "/job:ps/replica:0/task:0/device:CPU:0" || nodes["product"] != "/job:worker/replica:0/task:0/device:CPU:0" || nodes["RecvTensor"] == "" {
		t.Errorf("the nodes that ran, by device: %v", nodes)
	}
	if n := len(m.GetPartitionGraphs()); n != 2 {
		t.Errorf("%d graphs were run, want 2", n)
	}
}
