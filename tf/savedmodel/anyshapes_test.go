package savedmodel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestAnyShapes: values of other shapes than the model says are computed as they are, also
// where the shape is computed with; Run refuses them.
func TestAnyShapes(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	m := ops.Placeholder(g, tf.Float32, tf.Shape{1, 2})
	v := tf.NewVariable(ops.Const(g, []float32{1, 1}, 2, 1), tf.VariableOptions{Name: "v"})
	outs := map[string]tf.Output{"y": x.Mul(2).Add(1), "size": ops.Size(x.Neg()), "product": ops.MatMul(m, v.Value())}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "m")
	if err := savedmodel.SimpleSave(t.Context(), s, dir, map[string]tf.Output{"x": x, "m": m}, outs); err != nil {
		t.Fatal(err)
	}
	model, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	sig := model.Signature(savedmodel.DefaultSignature)
	scalar, vector, row, rows := tf.Scalar(float32(3)), must(tf.FromSlice([]float32{1, 2})), must(tf.FromSlice([]float32{1, 2}, 1, 2)), must(tf.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
	for _, c := range []struct {
		name    string
		x, m    *tf.Tensor
		y, size string // "": the step fails
		product string
	}{
		{"as the model says", scalar, row, "float32[]{7}", "int32[]{1}", "float32[1,1]{3}"},
		{"a vector for a scalar", vector, row, "float32[2]{3, 5}", "int32[]{2}", "float32[1,1]{3}"},
		{"more rows", scalar, rows, "float32[]{7}", "int32[]{1}", "float32[2,1]{3, 7}"},
		{"what cannot be multiplied", scalar, vector, "", "", ""},
		{"another type", must(tf.FromSlice([]int32{1, 2})), row, "", "", ""},
	} {
		in := map[string]*tf.Tensor{"x": c.x, "m": c.m}
		got, err := sig.RunAnyShapes(t.Context(), in)
		if c.y == "" {
			if tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || got["y"].String() != c.y || got["size"].String() != c.size || got["product"].String() != c.product {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if _, err := sig.RunTensors(t.Context(), in); (err == nil) != (c.x == scalar && c.m == row) || err != nil && !strings.Contains(err.Error(), "must have shape") {
			t.Errorf("%s: RunTensors: %v", c.name, err)
		}
	}
}
