package data

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// FuzzUnpack reads any bytes as a packed element. What is one is packed again as
// one that has the same tensors.
func FuzzUnpack(f *testing.F) {
	strs := core.NewTensor(tf.String, tf.Shape{2})
	core.Data[string](strs)[1] = "abcabcabcabcabcabcabcabc"
	p, err := pack([]*core.Tensor{core.Scalar(int64(7)), strs, core.NewTensor(tf.Float32, tf.Shape{0, 3}), core.NewTensor(tf.Bool, tf.Shape{5})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(p.message))
	f.Add([]byte(p.message[:len(p.message)/2]))
	f.Add([]byte("\x18\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := (&packed{string(b)}).unpack()
		if err != nil {
			return
		}
		again, err := pack(e)
		if err != nil {
			return // variants that nobody here knows
		}
		got, err := again.unpack()
		if err != nil || len(got) != len(e) {
			t.Fatalf("%d tensors come back as %d (%v)", len(e), len(got), err)
		}
		for i := range e {
			if e[i].DType() != got[i].DType() || !e[i].Shape().Equal(got[i].Shape()) {
				t.Errorf("%v comes back as %v", e[i], got[i])
			}
		}
	})
}

// FuzzFromGraph reads any bytes as the graph of a dataset.
func FuzzFromGraph(f *testing.F) {
	n, err := core.NewNode("r", "RangeDataset", core.Attrs{"output_types": []tf.DType{tf.Int64}, "output_shapes": []tf.Shape{{}}})
	if err != nil {
		f.Fatal(err)
	}
	r, err := compute(&core.Step{}, n, []*core.Tensor{core.Scalar(int64(0)), core.Scalar(int64(3)), core.Scalar(int64(1))})
	if err != nil {
		f.Fatal(err)
	}
	def, err := graphOf(r[0], policyFail, nil)
	if err != nil {
		f.Fatal(err)
	}
	b, err := proto.Marshal(def)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte("\x0a\x05\x0a\x01a\x1a\x00"))
	read, err := core.NewNode("g", "DatasetFromGraph", core.Attrs{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !harmlessGraph(b) {
			return // graphs may have any op, which would be run
		}
		out, err := compute(&core.Step{}, read, []*core.Tensor{core.Scalar(string(b))})
		if err == nil && out[0] == nil {
			t.Error("there is neither a dataset nor an error")
		}
		if err == nil {
			_, _ = dataset.Of(out[0])
		}
	})
}

func harmlessGraph(b []byte) bool {
	def := &pb.GraphDef{}
	if proto.Unmarshal(b, def) != nil {
		return true
	}
	for _, n := range def.GetNode() {
		switch n.GetOp() {
		case "Const", "RangeDataset", "Pack", "_Retval", "":
		default:
			return false
		}
	}
	return true
}

// FuzzOptions looks for numbers in any bytes.
func FuzzOptions(f *testing.F) {
	f.Add([]byte("\x12\x02\x08\x02\x08\x01"))
	f.Add([]byte("\x12\x7f\x08"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := numberIn(b, []protowire.Number{optionDistribute, distributeAutoShard})
		if !ok && v != 0 {
			t.Errorf("a number, %d, that is not there", v)
		}
	})
}
