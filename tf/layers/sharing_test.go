package layers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// The names are those that TensorFlow's tf.layers gives in the same program.
func TestNamesAndReuse(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3})
	network := func(reuse vars.Reuse) {
		vars.Scope(g, "model", vars.ScopeOptions{Reuse: reuse}, func() {
			layers.Dense(layers.Dense(x, 4), 2)
			layers.Dense(x, 2, layers.DenseOpts{Name: "fc"})
		})
	}
	network(vars.Inherit)
	network(vars.Always) // makes nothing: the names inside begin anew
	layers.Dense(x, 1)
	layers.Dense(x, 1, layers.DenseOpts{Name: "fc"})
	layers.Dense(x, 1, layers.DenseOpts{Name: "fc", Reuse: vars.Always})
	object := layers.NewDense(1, layers.DenseOpts{Name: "fc", NoBias: true})
	object.Apply(x)
	object.Apply(x)
	layers.Dense(x, 1)
	want := []string{
		"model/dense/kernel", "model/dense/bias", "model/dense_1/kernel", "model/dense_1/bias", "model/fc/kernel", "model/fc/bias",
		"dense/kernel", "dense/bias", "fc/kernel", "fc/bias", "fc_1/kernel", "dense_1/kernel", "dense_1/bias",
	}
	if got := names(tf.Variables(g, tf.GlobalVariables)); !slices.Equal(got, want) || g.Err() != nil {
		t.Errorf("variables are %q (%v), want %q", got, g.Err(), want)
	}
	if object.Name() != "fc_1" || len(object.Variables()) != 1 {
		t.Errorf("the object is %q with %d variables", object.Name(), len(object.Variables()))
	}
}

func TestTakenName(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3})
	layers.Dense(x, 1, layers.DenseOpts{Name: "fc"})
	err := layers.Dense(x, 1, layers.DenseOpts{Name: "fc"}).Err()
	if err == nil || !strings.Contains(err.Error(), "fc/kernel already exists") || !strings.Contains(err.Error(), "sharing_test.go") {
		t.Error(err)
	}
}

// A partitioner of the scope cuts kernels and tables.
func TestPartitionedLayers(t *testing.T) {
	g := tf.NewGraph()
	var y, e tf.Output
	vars.Scope(g, "s", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0), Initializer: initializers.Ones}, func() {
		y = layers.Dense(ops.Const(g, []float32{1, 2, 3}, 1, 3), 2)
		e = layers.Embedding(ops.Const(g, []int32{0, 4, 2}), 5, 2, layers.EmbeddingOpts{Initializer: initializers.Constant(3)})
		layers.BatchNorm(y, true)
	})
	want := []string{
		"s/dense/kernel/part_0", "s/dense/kernel/part_1", "s/dense/bias/part_0", "s/dense/bias/part_1", "s/embedding/embeddings/part_0", "s/embedding/embeddings/part_1",
		"s/batch_normalization/gamma/part_0", "s/batch_normalization/gamma/part_1", "s/batch_normalization/beta/part_0", "s/batch_normalization/beta/part_1",
		"s/batch_normalization/moving_mean", "s/batch_normalization/moving_variance",
	}
	if got := names(tf.Variables(g, tf.GlobalVariables)); !slices.Equal(got, want) || g.Err() != nil {
		t.Fatalf("variables are %q (%v), want %q", got, g.Err(), want)
	}
	out := run(t, g, y, e)
	if got := tf.Data[float32](out[0]); !slices.Equal(got, []float32{6, 6}) {
		t.Errorf("the dense layer gives %v", got)
	}
	if got := tf.Data[float32](out[1]); !slices.Equal(got, []float32{3, 3, 3, 3, 3, 3}) {
		t.Errorf("the embedding gives %v", got)
	}
}

// run initializes the graph's variables and returns the values of fetches.
func run(t *testing.T, g *tf.Graph, fetches ...tf.Output) []*tf.Tensor {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	all := make([]tf.Fetchable, len(fetches))
	for i, f := range fetches {
		all[i] = f
	}
	out, err := s.Run(t.Context(), nil, all...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every way to train runs the updates of what it trains on, and no others.
func TestUpdatesAreTakenAlong(t *testing.T) {
	build := map[string]func(loss tf.Output) *tf.Operation{
		"Minimize": func(loss tf.Output) *tf.Operation { return train.GradientDescent{LearningRate: 0.1}.Minimize(loss) },
		"ApplyGradients": func(loss tf.Output) *tf.Operation {
			gvs, err := train.ComputeGradients(loss)
			if err != nil {
				t.Fatal(err)
			}
			op, err := train.Adam{LearningRate: 0.1}.ApplyGradients(gvs)
			if err != nil {
				t.Fatal(err)
			}
			return op
		},
		"Minimize with options": func(loss tf.Output) *tf.Operation {
			return train.Minimize(train.Momentum{LearningRate: 0.1}, loss, train.Options{})
		},
	}
	for how, step := range build {
		for _, o := range []layers.BatchNormOpts{{}, {Unfused: true}, {VirtualBatch: 2}, {Renorm: &layers.RenormOpts{}}} {
			g := tf.NewGraph()
			norm, other := layers.NewBatchNorm(o), layers.NewBatchNorm(o)
			x := ops.Const(g, []float32{0, 8, 4, 4}, 4, 1, 1, 1)
			y := norm.Apply(x, true)
			other.Apply(ops.Placeholder(g, tf.Float32, tf.Shape{4, 1, 1, 1}), true) // is not fed
			op := step(ops.Square(y.Sub(1)).Mean())
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, f := range []tf.Fetchable{tf.InitializeAll(g), op} {
				if _, err := s.Run(t.Context(), nil, f); err != nil {
					t.Fatalf("%s %+v: %v", how, o, err)
				}
			}
			mean, err := s.Run(t.Context(), nil, norm.MovingMean.Value())
			if err != nil {
				t.Fatal(err)
			}
			near(t, how, mean[0], []float64{0.04})
		}
	}
}

// An optimizer projects what has a constraint after each update.
func TestConstraints(t *testing.T) {
	for name, c := range map[string]struct {
		f    vars.Constraint
		want []float64
	}{
		"non-negative": {vars.NonNegative, []float64{2, 0, 3, 0}}, // the update is [[3 -4] [4 -3]] less ones
		"unit norm":    {vars.UnitNorm(1), []float64{2 / 5.3851648, -5 / 5.3851648, 3. / 5, -4. / 5}},
		"max norm":     {vars.MaxNorm(5, 1), []float64{2 * 5 / 5.3851648, -5 * 5 / 5.3851648, 3, -4}},
		"min-max norm": {vars.MinMaxNorm(1, 5, 1, 1), []float64{2 * 5 / 5.3851648, -5 * 5 / 5.3851648, 3, -4}},
	} {
		g := tf.NewGraph()
		l := layers.NewDense(2, layers.DenseOpts{NoBias: true, KernelConstraint: c.f, KernelInitializer: func(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output {
			return ops.Const(g, []float32{3, -4, 4, -3}, s...)
		}})
		loss := l.Apply(ops.Const(g, []float32{1, 1}, 1, 2)).Sum()
		step := train.GradientDescent{LearningRate: 1}.Minimize(loss)
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, f := range []tf.Fetchable{tf.InitializeAll(g), step} {
			if _, err := s.Run(t.Context(), nil, f); err != nil {
				t.Fatal(err)
			}
		}
		out, err := s.Run(t.Context(), nil, l.Kernel.Value())
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, out[0], c.want)
	}
}

func TestConstraintOfRows(t *testing.T) {
	g := tf.NewGraph()
	table := vars.Get(g, "table", tf.Shape{4, 2}, vars.Options{Constraint: vars.NonNegative})
	rows := ops.ResourceGather(table.Handle(), ops.Const(g, []int32{1}), tf.Float32)
	if err := (train.GradientDescent{LearningRate: 1}).Minimize(rows.Sum()).Err(); err == nil || !strings.Contains(err.Error(), "constraint function on a sparse variable") {
		t.Error(err)
	}
}

// TestOtherRanks: a layer that normalizes along the last axis does so for inputs of any
// rank, whichever it was built for.
func TestOtherRanks(t *testing.T) {
	g := tf.NewGraph()
	scales := func(g *tf.Graph, _ tf.DType, _ tf.Shape) tf.Output { return ops.Const(g, []float32{1, 2, 3}) }
	at := func(s ...int) tf.Output { return ops.Const(g, []float32{1, 2, 6, 3, 5, 1, 0, 4, 2}, s...) }
	var all []tf.Output
	for _, xs := range [][2]tf.Output{{at(3, 3), at(1, 3, 3)}, {at(1, 3, 3), at(3, 3)}, {at(3, 3), at(1, 3, 1, 3)}} {
		l := layers.NewLayerNorm(layers.LayerNormOpts{GammaInitializer: scales})
		b := layers.NewBatchNorm(layers.BatchNormOpts{GammaInitializer: scales})
		all = append(all, l.Apply(xs[0]), l.Apply(xs[1]), b.Apply(xs[0], false), b.Apply(xs[1], false))
	}
	out := run(t, g, all...)
	for i := 0; i < len(out); i += 2 {
		var want []float64
		for _, x := range tf.Data[float32](out[i]) {
			want = append(want, float64(x))
		}
		near(t, all[i+1].Name(), out[i+1], want)
	}
}

// TestPartitionedNorm: a layer whose parameters are cut can be applied again.
func TestPartitionedNorm(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2, 3, 6}, 1, 4)
	var first, again tf.Output
	vars.Scope(g, "s", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		l := layers.NewLayerNorm()
		first, again = l.Apply(x), l.Apply(x)
	})
	if err := again.Err(); err != nil {
		t.Fatal(err)
	}
	out := run(t, g, first, again)
	if a, b := tf.Data[float32](out[0]), tf.Data[float32](out[1]); !slices.Equal(a, b) {
		t.Errorf("the layer gives %v, then %v", a, b)
	}
}
