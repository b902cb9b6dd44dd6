package estimator_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/train"
)

// failing is an input whose batches after n are replaced by then.
func failing(n int, then func() ([]*tf.Tensor, error)) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		shapes := []tf.Shape{{-1, 1}, {-1, 1}}
		d := data.FromGenerator([]tf.DType{tf.Float32, tf.Float32}, shapes, func() iter.Seq2[[]*tf.Tensor, error] {
			return func(yield func([]*tf.Tensor, error) bool) {
				for i := 0; i <= n+100; i++ {
					batch, err := ones(1)
					if i >= n {
						batch, err = then()
					}
					if !yield(batch, err) {
						return
					}
				}
			}
		})
		return &estimator.Input{Data: d, Keys: []string{"x", "y"}, Labels: []string{"y"}}, nil
	}
}

func ones(v float32) ([]*tf.Tensor, error) {
	x, err := tf.FromSlice([]float32{v}, 1, 1)
	return []*tf.Tensor{x, x}, err
}

// TestFaultsOfInputs: errors of an input, losses that are not numbers and the end
// of a context end training with their own errors, and leave a model that goes on.
func TestFaultsOfInputs(t *testing.T) {
	e := newLine(t, t.TempDir())
	broken := errors.New("the disk is gone")
	if err := e.Train(t.Context(), failing(3, func() ([]*tf.Tensor, error) { return nil, broken }), estimator.TrainOptions{}); !errors.Is(err, broken) {
		t.Errorf("a broken input: got %v", err)
	}
	nan := func() ([]*tf.Tensor, error) { return ones(float32(math.NaN())) }
	if err := e.Train(t.Context(), failing(3, nan), estimator.TrainOptions{}); !errors.Is(err, train.ErrNanLoss) {
		t.Errorf("not a number: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := func() ([]*tf.Tensor, error) { cancel(); return ones(1) }
	if err := e.Train(ctx, failing(3, stop), estimator.TrainOptions{}); tf.CodeOf(err) != tf.Canceled && !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: got %v", err)
	}
	if err := e.Train(t.Context(), points(5), estimator.TrainOptions{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	n := 0
	for _, err := range e.Predict(t.Context(), failing(3, func() ([]*tf.Tensor, error) { return nil, broken }), estimator.PredictOptions{}) {
		if n++; (n > 3) != errors.Is(err, broken) || n > 4 {
			t.Errorf("prediction %d: %v", n, err)
		}
	}
	if n != 4 {
		t.Errorf("%d predictions", n)
	}
	if _, err := e.Evaluate(t.Context(), points(0), estimator.EvalOptions{}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("an empty evaluation: got %v", err)
	}
}

// TestAtOnce evaluates, predicts and exports while training goes on.
func TestAtOnce(t *testing.T) {
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), SaveCheckpointsSteps: 20, KeepCheckpointMax: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), points(1), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	var all sync.WaitGroup
	all.Go(func() {
		if err := e.Train(t.Context(), points(200), estimator.TrainOptions{}); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		all.Go(func() {
			if _, err := e.Evaluate(t.Context(), points(2), estimator.EvalOptions{}); err != nil {
				t.Error(err)
			}
			for _, err := range e.Predict(t.Context(), points(2), estimator.PredictOptions{Batches: true}) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		if _, err := e.ExportSavedModel(t.Context(), base, serveX, estimator.ExportOptions{}); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
}

// TestExportsAtOnce: exports of the same second each get a directory of their own.
func TestExportsAtOnce(t *testing.T) {
	e := newLine(t, t.TempDir())
	if err := e.Train(t.Context(), points(1), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := e.ExportSavedModel(t.Context(), base, serveX, estimator.ExportOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if dirs, err := os.ReadDir(base); len(dirs) != 8 || err != nil {
		t.Errorf("%d directories, %v", len(dirs), err)
	}
}
