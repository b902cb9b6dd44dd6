package savedmodel_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

func tensor(t *testing.T, v any) *tf.Tensor {
	t.Helper()
	x, err := tf.TensorOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestAssign: variables of a Keras model get weights by name and by path; the next
// run computes with them.
func TestAssign(t *testing.T) {
	m := load(t, objectsModel)
	err := m.Assign(t.Context(), map[string]*tf.Tensor{
		"sequential/d/kernel": tensor(t, [][]float32{{1, 0}, {0, 1}}), "sequential/d/bias:0": tensor(t, []float32{1, 2}),
		"_layers/2/_kernel": tensor(t, [][]float32{{2, 0}, {0, 2}}), "sequential.e.bias": tensor(t, []float32{0, 0.5}),
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"inputs": [][]float32{{1, 1}}})
	if err != nil || !slices.Equal(tf.Data[float32](out["output_0"]), []float32{4, 6.5}) {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestAssignRefuses: what does not fit changes nothing, and the error says what there is.
func TestAssignRefuses(t *testing.T) {
	m := load(t, objectsModel)
	bias := tensor(t, []float32{1, 2})
	for want, values := range map[string]map[string]*tf.Tensor{
		"no variables none, sequential/x; it has": {"none": bias, "sequential/x": bias, "sequential/d/bias": bias},
		"must be float32 of shape [2,2]":          {"sequential/d/kernel": bias, "sequential/d/bias": bias},
		"must be float32 of shape [2]":            {"sequential/d/bias": tensor(t, []float64{1, 2})},
		"got <nil>":                               {"sequential/d/bias": nil},
		"name the same":                           {"sequential/d/bias": bias, "sequential/d/bias:0": bias},
	} {
		if err := m.Assign(t.Context(), values); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("%s: %v", want, err)
		}
	}
	out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"inputs": [][]float32{{1, 1}}})
	if err != nil || !slices.Equal(tf.Data[float32](out["output_0"]), []float32{40.5, 26.25}) {
		t.Errorf("got %v, %v", out, err)
	}
	if err := m.Assign(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestAssignByNode: models without objects have their variables by the names of TensorFlow 1.
func TestAssignByNode(t *testing.T) {
	m := load(t, saved(t))
	if err := m.Assign(t.Context(), map[string]*tf.Tensor{"w": tensor(t, [][]float32{{1, 1}, {2, 2}, {3, 3}}), "b": tensor(t, []float32{0, 1})}); err != nil {
		t.Fatal(err)
	}
	out, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), map[string]any{"x": []string{"two"}, "k": float32(10)})
	if err != nil || !slices.Equal(tf.Data[float32](out["y"]), []float32{30, 31}) {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestMethodsAtOnce: all methods of a model may be called by many goroutines. (Those that
// add to its graph need the race detector to show that they do so one after the other.)
func TestMethodsAtOnce(t *testing.T) {
	m := load(t, objectsModel)
	var all sync.WaitGroup
	for i := range 3 {
		dir := filepath.Join(t.TempDir(), "copy")
		for _, call := range []func() error{
			func() error { _, err := m.Freeze(t.Context()); return err },
			func() error { return m.Resave(t.Context(), dir) },
			func() error {
				return m.Assign(t.Context(), map[string]*tf.Tensor{"sequential/d/bias": tensor(t, []float32{float32(i), 2})})
			},
		} {
			all.Go(func() {
				if err := call(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// TestGraphsDoNotGrow: methods that are called again and again add to the graph once.
func TestGraphsDoNotGrow(t *testing.T) {
	for name, dir := range map[string]string{"objects": objectsModel, "tables": saved(t), "tables of functions": made(t)} {
		m := load(t, dir)
		sizes := map[string][]int{}
		for range 2 {
			values := map[string]*tf.Tensor{}
			if dir == objectsModel {
				values["sequential/d/bias"] = tensor(t, []float32{1, 2})
			}
			_, err := m.Freeze(t.Context(), "serving_default")
			for _, err := range []error{err, m.Assign(t.Context(), values), m.Resave(t.Context(), filepath.Join(t.TempDir(), "copy"))} {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			sizes[name] = append(sizes[name], len(m.Graph().Operations()))
		}
		if n := sizes[name]; n[0] != n[1] {
			t.Errorf("%s: %v operations", name, n)
		}
	}
}
