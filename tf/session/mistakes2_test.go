package session_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/image"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/batch"
	"github.com/gorge-tf/gorge/tf/ops/boosted"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// handle returns the handle of a variable.
func (m *maker) handle() tf.Output {
	return tf.NewVariable(m.f, tf.VariableOptions{Name: "v"}).Handle()
}

// weight returns the value of a variable.
func (m *maker) weight() tf.Output { return tf.NewVariable(m.f, tf.VariableOptions{Name: "w"}).Value() }

// moreMistakes are those with functions, gradients, training, input, steps that are
// prepared, and the less common families of ops.
var moreMistakes = []mistake{
	// Types without a kernel.
	built("a product of strings", func(m *maker) tf.Output { return ops.MatMul(m.s.Reshape(1, 1), m.s.Reshape(1, 1)) }),
	built("a product of bytes", func(m *maker) tf.Output {
		b := m.i.Cast(tf.Int8).Reshape(1, 3)
		return ops.MatMul(b, b.Reshape(3, 1))
	}),
	built("random numbers that are strings", func(m *maker) tf.Output { return ops.RandomUniform(m.g, tf.Shape{2}, tf.String) }),
	built("a random shape without a graph", func(m *maker) tf.Output { return ops.RandomUniform(nil, tf.Shape{2}, tf.Float32) }),
	built("rows of a variable's handle", func(m *maker) tf.Output { return ops.Gather(m.handle(), m.i, 0) }),
	built("a number added to a variable's handle", func(m *maker) tf.Output { return m.handle().Add(1) }),
	built("a product with a variable's handle", func(m *maker) tf.Output { return m.f.MatMul(m.handle()) }),
	built("the sum of a variable's handle", func(m *maker) tf.Output { return m.handle().Sum() }),
	built("handles joined", func(m *maker) tf.Output { return ops.Concat(0, []tf.Output{m.handle(), m.handle()}) }),
	built("a range of mixed types", func(m *maker) tf.Output { return ops.Range(m.g, m.i.At("0"), 2.5, 1) }),

	built("options of another operation", func(m *maker) tf.Output {
		return ops.MatMul(m.f, m.f.Reshape(3, 2), ops.ReduceOpts{KeepDims: true})
	}),
	built("options where there are none", func(m *maker) tf.Output { return ops.Neg(m.f, ops.ReduceOpts{KeepDims: true}) }),

	// Functions.
	built("a function called with too few arguments", func(m *maker) tf.Output {
		f := tf.NewFunction(m.g, "f", tf.SpecOf(m.f, m.f), func(x []tf.Output) []tf.Output { return []tf.Output{x[0].Add(x[1])} })
		return f.Call([]tf.Output{m.f})[0]
	}),
	built("a function called with another type", func(m *maker) tf.Output {
		f := tf.NewFunction(m.g, "f", tf.SpecOf(m.f), func(x []tf.Output) []tf.Output { return x })
		return f.Call([]tf.Output{m.i})[0]
	}),
	{"a mistake in a function", func(m *maker) error {
		return tf.NewFunction(m.g, "f", tf.SpecOf(m.f), func(x []tf.Output) []tf.Output { return []tf.Output{x[0].MatMul(x[0])} }).Err()
	}},
	{"a function without a body", func(m *maker) error { return tf.NewFunction(m.g, "f", tf.SpecOf(m.f), nil).Err() }},
	built("a tensor of a function outside of it", func(m *maker) tf.Output {
		var inner tf.Output
		tf.NewFunction(m.g, "f", tf.SpecOf(m.f), func(x []tf.Output) []tf.Output { inner = x[0].Neg(); return []tf.Output{inner} })
		return inner.Add(1)
	}),

	// Gradients.
	{"a gradient of nothing", func(m *maker) error { _, err := tf.Gradients(tf.Output{}, m.f); return err }},
	{"a gradient with respect to another graph", func(m *maker) error {
		_, err := tf.Gradients(m.f.Square(), newMaker().f)
		return err
	}},
	{"a gradient of a string", func(m *maker) error { _, err := tf.Gradients(m.s, m.s); return err }},
	{"gradients of a wrong number", func(m *maker) error {
		y := tf.CustomGradient([]tf.Output{m.f, m.f}, func(x []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
			return []tf.Output{x[0].Mul(x[1])}, func(dy []tf.Output) []tf.Output { return dy }
		})
		_, err := tf.Gradients(y[0], m.f)
		return err
	}},

	// Training.
	{"a schedule without steps", func(m *maker) error {
		return train.ExponentialDecay{LearningRate: 0.1, Decay: 0.9}.At(m.i.At("0")).Err()
	}},
	{"a schedule that begins with nothing", func(m *maker) error { return train.CosineDecay{Steps: 10}.At(m.i.At("0")).Err() }},
	{"a schedule of other lengths", func(m *maker) error {
		return train.PiecewiseConstant{Boundaries: []int64{10}, Values: []float64{1}}.At(m.i.At("0")).Err()
	}},
	{"an average without a decay", func(m *maker) error {
		w := tf.NewVariable(m.f, tf.VariableOptions{Name: "w"})
		return (&train.ExponentialMovingAverage{}).Apply(m.g, w).Err()
	}},
	{"a variable that is not trainable", func(m *maker) error {
		w := tf.NewVariable(m.f, tf.VariableOptions{Name: "w", NotTrainable: true})
		return train.Adam{}.Minimize(w.Value().Square().Sum()).Err()
	}},
	{"a variable of unknown shape", func(m *maker) error { return vars.Get(m.g, "w", tf.Shape{-1, 2}, vars.Options{}).Value().Err() }},
	{"an assignment of another shape", func(m *maker) error {
		return tf.NewVariable(m.f, tf.VariableOptions{Name: "w"}).Assign(m.f.Reshape(3, 2)).Err()
	}},

	// Steps that are prepared, and those in pieces.
	{"a callable with too few arguments", func(m *maker) error { return m.callable(nil) }},
	{"a callable with another type", func(m *maker) error { return m.callable([]*tf.Tensor{tf.Scalar("text")}) }},
	{"a callable with a nil tensor", func(m *maker) error { return m.callable([]*tf.Tensor{nil}) }},
	{"a piece that feeds what was not announced", func(m *maker) error {
		s, err := session.New(m.g)
		if err != nil {
			return err
		}
		defer s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		y := m.p.Add(1)
		r, err := s.PartialRun(ctx, []tf.Output{m.p}, y)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = r.Run(ctx, session.Feeds{m.n: tf.Scalar(int32(1))}, y)
		return err
	}},

	// Input.
	{"a file that is not there", func(*maker) error { return firstError(data.TextLine([]string{"no/such/file.txt"}, "")) }},
	{"a number in a file that is none", func(*maker) error { return csvError("1.5,2\n1.5,two\n") }},
	{"a column that is missing", func(*maker) error { return csvError("1.5,2\n1.5\n") }},
	{"a batch of nothing", func(*maker) error { return firstError(data.Range(0, 4).Batch(0, false)) }},
	{"slices of other lengths", func(*maker) error {
		a, _ := tf.FromSlice([]int32{1, 2})
		b, _ := tf.FromSlice([]int32{1, 2, 3})
		return firstError(data.FromTensorSlices(a, b))
	}},
	{"elements that do not make a batch", func(*maker) error {
		grow := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
			t, err := tf.FromSlice(make([]float32, 1+tf.Data[int64](in[0])[0]))
			return []*tf.Tensor{t}, err
		}
		return firstError(data.Range(0, 4).Map(grow, []tf.DType{tf.Float32}, nil).Batch(2, false))
	}},

	// Less common families.
	{"an element of another type for a queue", func(m *maker) error {
		q := queue.FIFOQueueV2(m.g, []tf.DType{tf.Float32})
		return m.run(nil, queue.QueueEnqueueV2(q, []tf.Output{m.i}))
	}},
	{"a key of another type", func(m *maker) error {
		table := lookup.HashTableV2(m.g, tf.String, tf.Int64)
		return m.run(nil, lookup.LookupTableFindV2(table, m.i, ops.Scalar(m.g, int64(0))))
	}},
	{"a table without values", func(m *maker) error {
		table := lookup.HashTableV2(m.g, tf.String, tf.Int64)
		return m.run(nil, lookup.LookupTableFindV2(table, m.s, ops.Scalar(m.g, int64(0))))
	}},
	{"a matrix that has no inverse", func(m *maker) error {
		return m.run(nil, linalg.MatrixInverse(ops.Constant(m.g, [][]float32{{1, 2}, {2, 4}})))
	}},
	built("an inverse of what is not square", func(m *maker) tf.Output { return linalg.MatrixInverse(m.f) }),
	{"a part of a string beyond its end", func(m *maker) error {
		return m.run(nil, text.Substr(m.s, ops.Scalar(m.g, 9), ops.Scalar(m.g, 1)))
	}},
	{"an image that is none", func(m *maker) error { return m.run(nil, image.AdjustBrightness(m.s, ops.Scalar(m.g, float32(0.1)))) }},
	{"a crop of more than all", func(m *maker) error { return image.CentralCrop(m.f.Reshape(2, 3, 1), 1.5).Err() }},

	// What is missing, and numbers that are none.
	built("parts of a negative number", func(m *maker) tf.Output { return ops.Split(m.f, -1, 0)[0] }),
	built("more parts than there can be", func(m *maker) tf.Output { return ops.Split(m.f, 1<<62, 0)[0] }),
	built("sparse parts of a negative number", func(m *maker) tf.Output {
		return sparse.SparseSplit(ops.Scalar[int64](m.g, 0), sparse.FromDense(m.f), -1)[0].Values
	}),
	built("more sparse parts than there can be", func(m *maker) tf.Output {
		return sparse.SparseSplit(ops.Scalar[int64](m.g, 0), sparse.FromDense(m.f), 1<<62)[0].Values
	}),
	built("more paths of a beam than there can be", func(m *maker) tf.Output {
		_, p := rnn.CTCBeamSearchDecoder(m.f.Reshape(1, 2, 3), m.i.At(":2"), 3, 1<<62)
		return p
	}),
	built("ragged rows of a negative rank", func(m *maker) tf.Output {
		_, v := ragged.RaggedGather(nil, m.f, m.i, -3)
		return v
	}),
	built("a variant of too many row splits", func(m *maker) tf.Output {
		_, v := ragged.RaggedTensorFromVariant(m.f, 1, 1<<62, tf.Float32)
		return v
	}),
	built("boundaries of a negative number of features", func(m *maker) tf.Output {
		return boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(m.handle(), -1)[0]
	}),
	built("an operation after nil", func(m *maker) tf.Output { return ops.Neg(m.f, tf.After(nil)) }),
	{"a group with nil", func(m *maker) error { return tf.Group(m.g, "all", m.f.Operation(), nil).Err() }},
	built("a dependency that is nil", func(m *maker) (y tf.Output) {
		m.g.ControlDependencies([]*tf.Operation{nil}, func() { y = m.f.Neg() })
		return y
	}),
	built("queues that are nil", func(m *maker) tf.Output {
		return queue.FromList(ops.Scalar(m.g, int32(0)), []*queue.Queue{nil}).Handle
	}),
	built("a batch of more shapes than tensors", func(m *maker) tf.Output {
		return train.Batch([]tf.Output{m.i}, 2, train.BatchOptions{Shapes: []tf.Shape{{3}, {3}}})[0]
	}),
	built("batches for no function", func(m *maker) tf.Output { return batch.Function(nil, []tf.Output{m.f}, batch.Opts{})[0] }),
	built("an operator that was not made", func(m *maker) tf.Output {
		x, _ := linalg.ConjugateGradient(linalg.LinearOperator{}, m.f.At("0"), 1e-5, 3)
		return x
	}),
	{"a tape of a graph for sessions", func(m *maker) error {
		_, err := eager.Record(m.g, nil).Gradients(m.f.Sum(), m.f)
		return err
	}},
	{"a tape that is nil", func(m *maker) error { _, err := (*tf.Tape)(nil).Gradients(m.f.Sum(), m.f); return err }},
	{"a learning rate that is no number", func(m *maker) error {
		return train.Adam{LearningRate: math.NaN()}.Minimize(m.weight().Square().Sum()).Err()
	}},
	{"a moment that grows", func(m *maker) error { return train.Adam{Beta1: 1.5}.Minimize(m.weight().Square().Sum()).Err() }},
	built("a negative regularizer", func(m *maker) tf.Output { return vars.L2(-1)(m.f) }),
	{"a negative prefetch", func(*maker) error { return firstError(data.Range(0, 4).Prefetch(-5)) }},

	// Eager graphs.
	{"an eager mistake", func(*maker) error {
		g := eager.New()
		_, err := ops.Const(g, []float32{1, 2}).MatMul(ops.Const(g, []float32{1, 2})).Value()
		return err
	}},
	{"an eager placeholder", func(*maker) error { _, err := ops.Placeholder(eager.New(), tf.Float32, nil).Value(); return err }},
	{"an eager tensor in a graph", func(m *maker) error { return m.f.Add(ops.Const(eager.New(), []float32{1})).Err() }},
	{"a graph's value asked for without a session", func(m *maker) error { _, err := m.f.Square().Value(); return err }},
}

// callable prepares a step that takes a float32 vector and calls it.
func (m *maker) callable(args []*tf.Tensor) error {
	s, err := session.New(m.g)
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := s.MakeCallable([]tf.Output{m.p}, m.p.Add(1))
	if err != nil {
		return err
	}
	_, err = c.Run(context.Background(), args...)
	return err
}

// firstError reads a dataset up to its first error.
func firstError(d *data.Dataset) error {
	for _, err := range d.All(context.Background()) {
		if err != nil {
			return plainPath(err)
		}
	}
	return d.Err()
}

// csvError reads a file with a float and an integer in each line.
func csvError(lines string) error {
	dir, err := os.MkdirTemp("", "mistakes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "points.csv")
	if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
		return err
	}
	required := func(d tf.DType) *tf.Tensor { return (*tf.Tensor)(core.NewTensor(d, tf.Shape{0})) }
	return firstError(data.CSV([]string{name}, []*tf.Tensor{required(tf.Float32), required(tf.Int32)}, data.CSVOptions{}))
}

// plainPath leaves of the names of temporary files what is always the same, and of a
// panic's stack its first line.
func plainPath(err error) error {
	e := *tf.AsError(err)
	text := strings.TrimPrefix(err.Error(), e.Code.String()+": ")
	if i := strings.Index(text, os.TempDir()); i >= 0 {
		if j := strings.Index(text[i:], "points.csv"); j >= 0 {
			text = text[:i] + text[i+j:]
		}
	}
	text, _, _ = strings.Cut(text, "\n")
	return tf.Errorf(e.Code, "%s", text)
}
