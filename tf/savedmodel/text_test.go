package savedmodel_test

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/ops/tftext" // registers
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestTensorFlowText runs a model that reads text by operations of TensorFlow Text, as
// its tutorial on translation and as BERT's models do: testdata/text/make.py.
func TestTensorFlowText(t *testing.T) {
	data, err := os.ReadFile("testdata/text/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Texts []string
		Want  map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader("testdata/text/model.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	m, err := savedmodel.LoadFS(t.Context(), z, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for name, want := range w.Want {
		got, err := m.Signature(name).Run(t.Context(), map[string]any{"text": w.Texts})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got) != len(want) {
			t.Errorf("%s has %d outputs, want %d", name, len(got), len(want))
		}
		for k, w := range want {
			if g := asJSON(t, got, k); !equalJSON(t, g, w) {
				t.Errorf("%s: %s is %s, want %s", name, k, g, w)
			}
		}
	}
}

// asJSON writes a vector of strings or a matrix of int64.
func asJSON(t *testing.T, got map[string]*tf.Tensor, key string) []byte {
	t.Helper()
	var v any
	if got[key] != nil && got[key].DType() == tf.String {
		v = tf.Data[string](got[key])
	} else {
		all, err := savedmodel.Values[int64](got, key)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([][]int64, got[key].Shape()[0])
		for i := range rows {
			n := got[key].Shape()[1]
			rows[i] = all[i*n : (i+1)*n]
		}
		v = rows
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func equalJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
