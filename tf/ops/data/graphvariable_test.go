package data_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestVariablesOfWrittenDatasets: a dataset that is written down has variables of
// its own, with the values of that time.
func TestVariablesOfWrittenDatasets(t *testing.T) {
	g := tf.NewGraph()
	v := ops.VarHandleOp(g, tf.Int64, tf.Shape{}, ops.VarHandleOpts{SharedName: "counter"})
	set := func(n int64) *tf.Operation { return ops.AssignVariableOp(v, ops.Scalar(g, n)) }
	ten, fifty := set(10), set(50)
	p := numbers(g, 4)
	f := p.function("count", func(x []tf.Output) []tf.Output {
		added := tf.Apply(nil, "AssignAddVariableOp", []tf.Output{v, ops.Scalar(x[0].Graph(), int64(1))}, tf.Attr("dtype", tf.Int64))
		return []tf.Output{ops.ReadVariableOp(v, tf.Int64, tf.After(added))}
	})
	p = p.calling("MapDataset", function1("f", f), nil, nil)
	written := p.written("DatasetToGraphV2")
	text := ops.Placeholder(g, tf.String, tf.Shape{})
	read, now := p.read(text).all()[0], ops.ReadVariableOp(v, tf.Int64)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, written); err == nil {
		t.Error("a dataset was written down with a variable that has no value")
	}
	if _, err := s.Run(t.Context(), nil, ten); err != nil {
		t.Fatal(err)
	}
	def, err := s.Run(t.Context(), nil, written)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, fifty); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := s.Run(t.Context(), session.Feeds{text: def[0]}, read, now)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(tf.Data[int64](got[0]), tf.Data[int64](got[1])); text != "[11 12 13 14] [50]" {
			t.Errorf("%s, want the numbers after 10, and 50", text)
		}
	}
}
