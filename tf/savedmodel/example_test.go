package savedmodel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// A model that TensorFlow has trained reads a handwritten digit.
func Example() {
	ctx := context.Background()
	m, err := savedmodel.Load(ctx, "../../examples/predict/model", savedmodel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	image, err := os.ReadFile("../../examples/predict/digit0.png")
	if err != nil {
		log.Fatal(err)
	}
	out, err := m.Signature("serving_default").Run(ctx, map[string]any{"image": []string{string(image)}})
	if err != nil {
		log.Fatal(err)
	}
	digits, err := savedmodel.Values[int64](out, "digit")
	fmt.Println(digits, err)
	// Output: [6] <nil>
}

// A trained graph becomes one without variables, a file for converters and for programs of TensorFlow.
func ExampleFreezeSession() {
	ctx := context.Background()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	w := tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "w"})
	y := ops.Mul(x, w.Value(), tf.Name("y"))
	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		log.Fatal(err)
	}
	def, err := savedmodel.FreezeSession(ctx, s, y)
	for _, n := range def.GetNode() {
		fmt.Println(n.GetOp(), n.GetName())
	}
	fmt.Println(err)
	// Output:
	// Placeholder x
	// Const w
	// Identity w/Read/ReadVariableOp
	// Mul y
	// <nil>
}

// A graph and its variables are saved, so that TensorFlow, too, can run them.
func ExampleSimpleSave() {
	ctx := context.Background()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	w := tf.NewVariable(ops.Scalar[float32](g, 3), tf.VariableOptions{Name: "w"})
	y := ops.Mul(x, w.Value())
	s, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		log.Fatal(err)
	}
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "model")
	if err := savedmodel.SimpleSave(ctx, s, dir, map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}); err != nil {
		log.Fatal(err)
	}
	m, err := savedmodel.Load(ctx, dir, savedmodel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	out, err := m.Signature("serving_default").Run(ctx, map[string]any{"x": []float32{1, 2}})
	fmt.Println(out["y"], err)
	// Output: float32[2]{3, 6} <nil>
}
