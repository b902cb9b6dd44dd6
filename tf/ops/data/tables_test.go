package data_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

func init() {
	optest.Add(made("GeneratorDataset", "", func(g *tf.Graph, x tf.Output) pipe {
		p := slices(x)
		scalar := func(name string, body func(x []tf.Output) []tf.Output) *tf.Function { return p.function(name, body) }
		begin := tf.NewFunction(g, "init", nil, func([]tf.Output) []tf.Output { return []tf.Output{ops.Scalar(x.Graph(), int64(3))} })
		next := scalar("next", func(s []tf.Output) []tf.Output { return []tf.Output{ops.Mul(s[0], s[0])} })
		end := scalar("end", func(s []tf.Output) []tf.Output { return s })
		d := author.CallLater("GeneratorDataset", nil, []author.Callee{{Attr: "init_func", F: begin}, {Attr: "next_func", F: next}, {Attr: "finalize_func", F: end}}, nil, p.about()...)
		p.d = d.Output(0)
		return p.then("TakeDataset", ints(g, 2))
	}))
}

// TestTablesFromDatasets fills tables from datasets of pairs.
func TestTablesFromDatasets(t *testing.T) {
	g := tf.NewGraph()
	two := pipe{types: []tf.DType{tf.Int64, tf.String}, shapes: []tf.Shape{{}, {}}}
	in := []tf.Output{ops.Const(g, []int64{3, 5}), ops.Const(g, []string{"three", "five"})}
	two.d = tf.Apply(nil, "TensorSliceDataset", in, tf.Attr("Toutput_types", two.types), tf.Attr("output_shapes", two.shapes)).Output(0)
	fill := func(d pipe, key, value tf.DType) (tf.Output, *tf.Operation) {
		table := lookup.HashTableV2(g, key, value)
		return table, tf.Apply(nil, "InitializeTableFromDataset", []tf.Output{table, d.d})
	}
	table, filled := fill(two, tf.Int64, tf.String)
	found := lookup.LookupTableFindV2(table, ops.Const(g, []int64{5, 4}), ops.Scalar(g, "none"))
	empty, emptied := fill(two.then("TakeDataset", ints(g, 0)), tf.Int64, tf.String)
	size := lookup.LookupTableSizeV2(empty)
	_, wrong := fill(two, tf.String, tf.Int64)
	_, one := fill(numbers(g, 3), tf.Int64, tf.Int64)
	_, rows := fill(two.of(tf.Shape{-1}, tf.Shape{-1}).then("BatchDataset", ints(g, 2)), tf.Int64, tf.String)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, op := range []*tf.Operation{filled, emptied} {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	v, err := s.Run(t.Context(), nil, found, size)
	if err != nil || tf.Data[string](v[0])[0] != "five" || tf.Data[string](v[0])[1] != "none" || tf.Data[int64](v[1])[0] != 0 {
		t.Error(v, err)
	}
	for _, op := range []*tf.Operation{wrong, one, rows} {
		if _, err := s.Run(t.Context(), nil, op); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", op.Name, err)
		}
	}
}
