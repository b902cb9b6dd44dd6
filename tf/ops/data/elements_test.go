package data_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

// unpacked is what becomes of tensors that are packed.
func unpacked(in []tf.Output, types []tf.DType) []tf.Output {
	var own []tf.DType
	shapes := make([]tf.Shape, len(types))
	for _, x := range in {
		own = append(own, x.DType())
	}
	p := tf.Apply(nil, "CompressElement", in, tf.Attr("input_types", own)).Output(0)
	o := tf.Apply(nil, "UncompressElement", []tf.Output{p}, tf.Attr("output_types", types), tf.Attr("output_shapes", shapes))
	out := make([]tf.Output, len(types))
	for i := range out {
		out[i] = o.Output(i)
	}
	return out
}

func init() {
	for _, op := range []string{"CompressElement", "UncompressElement"} {
		optest.Add(optest.Sample{Op: op, In: []*core.Tensor{optest.Vec[int64](5, 3), optest.Vec("a", "", "longer"), optest.Vec[float32](), core.Scalar(true)}, Types: optest.OnlyOwn,
			F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
				return unpacked(in, []tf.DType{tf.Int64, tf.String, tf.Float32, tf.Bool})
			}})
	}
	row := []tf.ArgSpec{{DType: tf.Int64, Shape: tf.Shape{2}}}
	rows := func(name string, shape tf.Shape, body func(x []tf.Output) []tf.Output) optest.Sample {
		return optest.Sample{Op: "MapDefun", Name: name, In: []*core.Tensor{optest.Mat[int64](2, 1, 2, 3, 4, 5, 6)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			f := tf.NewFunction(g, "row", row, body)
			o := author.CallLater("MapDefun", []tf.Output{ops.Identity(in[0])}, []author.Callee{{Attr: "f", F: f}}, nil, tf.Attr("Targuments", []tf.DType{tf.Int64}), tf.Attr("output_types", []tf.DType{tf.Int64}), tf.Attr("output_shapes", []tf.Shape{shape}))
			return []tf.Output{o.Output(0)}
		}}
	}
	double := func(x []tf.Output) []tf.Output { return []tf.Output{ops.Add(x[0], x[0])} }
	wrong := rows("shape", tf.Shape{3}, double)
	wrong.Fails = true
	optest.Add(rows("", tf.Shape{2}, double), rows("open", nil, double), wrong,
		optest.Failing("UncompressElement", "number", func(_ *tf.Graph, in []tf.Output) []tf.Output { return unpacked(in, []tf.DType{tf.Int64, tf.Int64}) }, optest.Vec[int64](5, 3)),
		optest.Failing("UncompressElement", "type", func(_ *tf.Graph, in []tf.Output) []tf.Output { return unpacked(in, []tf.DType{tf.Int32}) }, optest.Vec[int64](5, 3)),
		made("WindowOp", "", func(_ *tf.Graph, x tf.Output) pipe {
			p := pipe{types: []tf.DType{tf.Int64}, shapes: []tf.Shape{{-1}}}
			p.d = tf.Apply(nil, "WindowOp", []tf.Output{x, ops.Add(x, x)}, append(p.about(), tf.Attr("Tinputs", []tf.DType{tf.Int64, tf.Int64}))...).Output(0)
			return p
		}),
	)
	optest.Unsampled("DummyIterationCounter", "a handle of nothing")
}

// TestPackedAcrossProcesses: a packed element is what TensorFlow makes of it.
func TestPackedDatasets(t *testing.T) {
	g := tf.NewGraph()
	p := slices(ops.Const(g, []int64{7, 8}))
	packed := tf.Apply(nil, "CompressElement", []tf.Output{p.d}, tf.Attr("input_types", []tf.DType{tf.Variant}))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, packed); err == nil {
		t.Error("a dataset, which cannot leave its process, is packed")
	}
}
