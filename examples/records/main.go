// Command records keeps handwritten digits in a TFRecord file and trains a
// network that reads them from there, through a pipeline of package data.
//
//	go run ./examples/records
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/examples/internal/program"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const batch, epochs, classes = 50, 3, 10

func main() {
	program.Main("records", func(ctx context.Context, out io.Writer) error {
		dir, err := os.MkdirTemp("", "records")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		_, err = run(ctx, dir, out)
		return err
	})
}

// write makes a file of tf.Examples with an image and its label each.
func write(name string, set *digits.Set) error {
	w, err := record.Create(name, record.GZIP)
	if err != nil {
		return err
	}
	pixels := set.Size * set.Size
	for i, label := range set.Labels {
		e := example.Example{"image": example.Floats(set.Pixels[i*pixels : (i+1)*pixels]...), "label": example.Ints(int64(label))}
		if err := w.Write(e.Marshal()); err != nil {
			return err
		}
	}
	return w.Close()
}

// parse makes an image and its label of a record.
func parse(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
	e, err := example.Unmarshal([]byte(tf.Data[string](in[0])[0]))
	if err != nil {
		return nil, err
	}
	if len(e["label"].Ints) != 1 {
		return nil, fmt.Errorf("an example must have one label, got %d", len(e["label"].Ints))
	}
	image, err := tf.FromSlice(e["image"].Floats)
	return []*tf.Tensor{image, tf.Scalar(int32(e["label"].Ints[0]))}, err
}

// pipeline reads a file of examples in batches.
func pipeline(name string) *data.Dataset {
	return data.TFRecord([]string{name}, "GZIP").
		ParallelMap(parse, []tf.DType{tf.Float32, tf.Int32}, nil, -1, true)
}

// run trains, with files in dir, and returns the share of test images that were
// read rightly.
func run(ctx context.Context, dir string, out io.Writer) (float64, error) {
	training, test, err := digits.Load("")
	if err != nil {
		return 0, err
	}
	files := map[string]*digits.Set{filepath.Join(dir, "train"): training, filepath.Join(dir, "test"): test}
	for name, set := range files {
		if err := write(name, set); err != nil {
			return 0, err
		}
	}
	m, err := newModel(ctx, training.Size*training.Size)
	if err != nil {
		return 0, err
	}
	defer m.session.Close()
	d := pipeline(filepath.Join(dir, "train")).Shuffle(1000, 1, 2).Batch(batch, true).Repeat(epochs).Prefetch(2)
	for e, err := range d.All(ctx) {
		if err != nil {
			return 0, err
		}
		if _, err := m.session.Run(ctx, session.Feeds{m.x: e[0], m.y: e[1]}, m.step); err != nil {
			return 0, err
		}
	}
	share, err := m.accuracy(ctx, pipeline(filepath.Join(dir, "test")).Batch(batch, false))
	if err == nil {
		fmt.Fprintf(out, "%d images in records, test accuracy %.1f%%\n", training.N(), 100*share)
	}
	return share, err
}

// model is a network with one hidden layer.
type model struct {
	session     *session.Session
	x, y, guess tf.Output
	step        *tf.Operation
}

func newModel(ctx context.Context, pixels int) (*model, error) {
	g := tf.NewGraph()
	g.SetSeed(1)
	m := &model{x: ops.Placeholder(g, tf.Float32, tf.Shape{-1, pixels}), y: ops.Placeholder(g, tf.Int32, tf.Shape{-1})}
	hidden := layers.NewDense(g, pixels, 100, layers.Relu)
	logits := layers.NewDense(g, 100, classes, nil).Apply(hidden.Apply(m.x))
	m.step = train.Adam{LearningRate: 0.002}.Minimize(losses.SparseSoftmaxCrossEntropy(m.y, logits))
	m.guess = ops.ArgMax(logits, ops.Scalar(g, int32(1)))
	s, err := session.New(g)
	if err != nil {
		return nil, err
	}
	m.session = s
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		return nil, err
	}
	return m, nil
}

// accuracy returns the share of images that are read rightly.
func (m *model) accuracy(ctx context.Context, d *data.Dataset) (float64, error) {
	right, n := 0, 0
	for e, err := range d.All(ctx) {
		if err != nil {
			return 0, err
		}
		got, err := session.Fetch[int64](ctx, m.session, session.Feeds{m.x: e[0]}, m.guess)
		if err != nil {
			return 0, err
		}
		for i, label := range tf.Data[int32](e[1]) {
			if n++; got[i] == int64(label) {
				right++
			}
		}
	}
	return float64(right) / float64(n), nil
}
