package savedmodel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// A model of one's own: a graph with a signature, whose second input need not be
// given, and a file that the graph reads.
func ExampleBuilder() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	words := filepath.Join(dir, "words.txt")
	if err := os.WriteFile(words, []byte("a\nb\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	ctx, g := context.Background(), tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	scale := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("scale"))
	w := tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "w"})
	file := ops.Scalar(g, "")
	text := tf.NewVariable(ops.Scalar(g, ""), tf.VariableOptions{Name: "text"})
	spec := savedmodel.SignatureSpec{
		Inputs:   map[string]tf.Output{"x": x, "scale": scale},
		Outputs:  map[string]tf.Output{"y": x.Mul(w.Value()).Mul(scale), "text": text.Value()},
		Defaults: map[string]*tf.Tensor{"scale": tf.Scalar[float32](1)},
	}
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	_, err = s.Run(ctx, nil, tf.InitializeAll(g))
	var b savedmodel.Builder
	b.Add(savedmodel.MetaGraph{
		Session:    s,
		Signatures: map[string]savedmodel.SignatureSpec{savedmodel.DefaultSignature: spec},
		Assets:     []savedmodel.Asset{{Tensor: file, File: words}},
		Init:       text.Assign(io.ReadFile(file)), // run when the model is loaded
	})
	if err == nil {
		err = b.Save(ctx, filepath.Join(dir, "saved"))
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	var m *savedmodel.Model
	if m, err = savedmodel.Load(ctx, filepath.Join(dir, "saved"), savedmodel.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	out, err := m.Signature(savedmodel.DefaultSignature).Run(ctx, map[string]any{"x": []float32{1, 2}})
	fmt.Println(out["y"], out["text"], err)
	// Output: float32[2]{3, 6} string[]{"a\nb\n"} <nil>
}

// A signature says what it takes and gives.
func ExampleSignature() {
	ctx := context.Background()
	m, err := savedmodel.Load(ctx, "../../examples/predict/model", savedmodel.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	var s *savedmodel.Signature = m.Signature("serving_default")
	describe := func(t savedmodel.TensorSpec) string { return fmt.Sprint(t.Key, " ", t.DType, t.Shape) }
	for _, t := range append(s.Inputs(), s.Outputs()...) {
		fmt.Println(describe(t))
	}
	// Output:
	// image string [?]
	// digit int64 [?]
	// probability float32 [?]
}
