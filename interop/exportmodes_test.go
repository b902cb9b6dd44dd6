package interop

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// lines is the data of exportmodes.py.
func lines(context.Context) (*estimator.Input, error) {
	x, err := tf.FromSlice([]float32{1, 2, 3}, 3, 1)
	if err != nil {
		return nil, err
	}
	y, err := tf.FromSlice([]float32{2, 4, 7})
	return &estimator.Input{Data: data.FromTensors(x, y).Repeat(3), Keys: []string{"x", "y"}, Labels: []string{"y"}}, err
}

// TestExportModes: TensorFlow evaluates what an estimator has exported, and trains it
// further as Gorge does.
func TestExportModes(t *testing.T) {
	needTensorFlow(t)
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), lines, estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	receive, err := estimator.SupervisedReceiver(t.Context(), lines)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := e.ExportAllSavedModels(t.Context(), t.TempDir(), map[estimator.Mode]estimator.ReceiverFn{estimator.Train: receive, estimator.Eval: receive}, estimator.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trainExport(t, dir), script(t, "exportmodes.py", dir)); diff != "" {
		t.Error(diff)
	}
}

// trainExport does what exportmodes.py does.
func trainExport(t *testing.T, dir string) (losses []string) {
	t.Helper()
	for _, tag := range []string{savedmodel.Eval, savedmodel.Train} {
		m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{Tags: []string{tag}})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		values := map[string]any{"x": [][]float32{{1}, {2}, {3}}, "y": []float32{2, 4, 7}}
		loss := func() {
			out, err := m.Signature(tag).Run(t.Context(), values)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, fmt.Sprintf("%.5f", tf.Data[float32](out["loss"])[0]))
		}
		if loss(); tag == savedmodel.Eval {
			continue
		}
		feeds := session.Feeds{}
		for _, in := range m.Signature(tag).Inputs() {
			x, err := m.Graph().Output(in.Name)
			if err != nil {
				t.Fatal(err)
			}
			if feeds[x], err = tf.TensorOf(values[in.Key]); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if _, err := m.Session().Run(t.Context(), feeds, m.TrainOp()); err != nil {
				t.Fatal(err)
			}
		}
		loss()
	}
	return losses
}
