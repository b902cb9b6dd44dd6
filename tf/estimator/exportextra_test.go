package estimator_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestExportWithoutExtra: a model whose extra files cannot be copied is not exported.
func TestExportWithoutExtra(t *testing.T) {
	base := t.TempDir()
	missing := estimator.ExportOptions{AssetsExtra: map[string]string{"notes": filepath.Join(base, "missing")}}
	if _, err := trainedLine(t).ExportSavedModel(t.Context(), base, serveX, missing); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// TestExportOfDoubles: float64 results have no form in answers to requests for examples, so
// that such signatures are left out, as in TensorFlow.
func TestExportOfDoubles(t *testing.T) {
	dir := t.TempDir()
	e, err := estimator.New(func(c *estimator.Call) (*estimator.Spec, error) {
		s, err := double(c)
		if c.Mode == estimator.Predict {
			y := s.Predictions["y"].Cast(tf.Float64)
			s.ExportOutputs = map[string]estimator.ExportOutput{
				savedmodel.DefaultSignature: estimator.PredictOutput{Outputs: map[string]tf.Output{"y": y}},
				"double":                    estimator.RegressionOutput{Value: y},
				"large":                     estimator.ClassificationOutput{Scores: y},
			}
		}
		return s, err
	}, estimator.Options{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	learn(e, doubled)
	m, err := savedmodel.Load(context.Background(), export(e, dir), savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got := m.Signatures(); !slices.Equal(got, []string{savedmodel.DefaultSignature}) {
		t.Errorf("the signatures are %q", got)
	}
}
