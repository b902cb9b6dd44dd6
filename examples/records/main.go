// Command records keeps handwritten digits in a TFRecord file and trains a
// network that reads them from there, through a pipeline of package data, and
// then one that has them in memory: the file costs next to nothing.
//
//	go run ./examples/records
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

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

const batch, buffer, epochs, classes = 50, 1000, 3, 10

// rounds is how often training is measured, both ways in turn: what else goes on
// in a machine then disturbs both alike, and the best time of each the least.
const rounds = 8

func main() {
	program.Main("records", func(ctx context.Context, out io.Writer) error {
		dir, err := os.MkdirTemp("", "records")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		_, err = run(ctx, dir, rounds, out)
		return err
	})
}

// write makes a file of tf.Examples with an image and its label each.
func write(name string, set *digits.Set) error {
	w, err := record.Create(name, record.None)
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

// run trains, with files in dir, several times, and returns the share of test
// images that were read rightly.
func run(ctx context.Context, dir string, rounds int, out io.Writer) (float64, error) {
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
	pixels := training.Size * training.Size
	parser, err := data.NewExampleParser(data.Feature{Key: "image", Type: tf.Float32, Shape: tf.Shape{pixels}}, data.Feature{Key: "label", Type: tf.Int64, Shape: tf.Shape{}})
	if err != nil {
		return 0, err
	}
	defer parser.Close()
	// Records are shuffled as they lie in the file, and parsed by the batch.
	unseen := data.TFRecord([]string{filepath.Join(dir, "test")}, "").Batch(batch, false).ParseExample(parser, 1)
	records := data.TFRecord([]string{filepath.Join(dir, "train")}, "").Shuffle(buffer, 1, 2).Batch(batch, true).ParseExample(parser, 1)
	inMemory, err := slices(training)
	if err != nil {
		return 0, err
	}
	inMemory = inMemory.Shuffle(buffer, 1, 2).Batch(batch, true)
	share, best, err := compare(ctx, pixels, rounds, []*data.Dataset{records, inMemory}, unseen)
	if err != nil {
		return 0, err
	}
	rate := func(took time.Duration) float64 { return float64(epochs*training.N()) / took.Seconds() }
	fmt.Fprintf(out, "%d images in records, trained at %.0f images/s, test accuracy %.1f%%\n", training.N(), rate(best[0]), 100*share[0])
	fmt.Fprintf(out, "in memory, trained at %.0f images/s: records reach %.2f of that\n", rate(best[1]), best[1].Seconds()/best[0].Seconds())
	return share[0], nil
}

// compare trains on each of several datasets, in turn, and returns how well that
// was learned, and the shortest time that it took.
func compare(ctx context.Context, pixels, rounds int, training []*data.Dataset, test *data.Dataset) (share []float64, best []time.Duration, err error) {
	share, best = make([]float64, len(training)), make([]time.Duration, len(training))
	for round := range rounds {
		for i, d := range training {
			var took time.Duration
			if share[i], took, err = learn(ctx, pixels, d, test); err != nil {
				return nil, nil, err
			}
			if round == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return share, best, nil
}

// slices is a dataset of images and labels that lie in memory.
func slices(set *digits.Set) (*data.Dataset, error) {
	pixels, err := tf.FromSlice(set.Pixels)
	if err != nil {
		return nil, err
	}
	if pixels, err = pixels.Reshape(tf.Shape{set.N(), set.Size * set.Size}); err != nil {
		return nil, err
	}
	wide := make([]int64, len(set.Labels))
	for i, label := range set.Labels {
		wide[i] = int64(label)
	}
	labels, err := tf.FromSlice(wide)
	return data.FromTensorSlices(pixels, labels), err
}

// learn trains on batches of images and labels and returns the share of test images that
// are read rightly then, and how long training took.
func learn(ctx context.Context, pixels int, training, test *data.Dataset) (share float64, took time.Duration, err error) {
	m, err := newModel(ctx, pixels)
	if err != nil {
		return 0, 0, err
	}
	defer m.session.Close()
	start := time.Now()
	for e, err := range training.Repeat(epochs).Prefetch(4).All(ctx) {
		if err != nil {
			return 0, 0, err
		}
		if _, err := m.session.Run(ctx, session.Feeds{m.x: e[0], m.y: e[1]}, m.step); err != nil {
			return 0, 0, err
		}
	}
	took = time.Since(start)
	share, err = m.accuracy(ctx, test)
	return share, took, err
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
	m := &model{x: ops.Placeholder(g, tf.Float32, tf.Shape{-1, pixels}), y: ops.Placeholder(g, tf.Int64, tf.Shape{-1})}
	hidden := layers.NewDense(100, layers.Relu)
	logits := layers.NewDense(classes).Apply(hidden.Apply(m.x))
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
		for i, label := range tf.Data[int64](e[1]) {
			if n++; got[i] == label {
				right++
			}
		}
	}
	return float64(right) / float64(n), nil
}
