package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// arrayKinds are the ops of a version, in the order of arrayVersions.
const (
	makeArray = iota
	gradArray
	writeArray
	readArray
	gatherArray
	scatterArray
	concatArray
	splitArray
	sizeArray
	closeArray
)

var arrayVersions = map[string]string{
	"1": "TensorArray TensorArrayGrad TensorArrayWrite TensorArrayRead TensorArrayGather TensorArrayScatter TensorArrayConcat TensorArraySplit TensorArraySize TensorArrayClose",
	"2": "TensorArrayV2 TensorArrayGradV2 TensorArrayWriteV2 TensorArrayReadV2 TensorArrayGatherV2 TensorArrayScatterV2 TensorArrayConcatV2 TensorArraySplitV2 TensorArraySizeV2 TensorArrayCloseV2",
	"3": "TensorArrayV3 TensorArrayGradV3 TensorArrayWriteV3 TensorArrayReadV3 TensorArrayGatherV3 TensorArrayScatterV3 TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3 TensorArrayCloseV3",
}

// arrayUse is an array of three rows, made and used by the ops of one version.
type arrayUse struct {
	g   *tf.Graph
	ops []string
}

func (u arrayUse) apply(kind int, in ...tf.Output) *tf.Operation {
	return tf.Apply(u.g, u.ops[kind], in, tf.Attr("dtype", tf.Float64))
}

// put applies an op that writes, which has no attribute for the type of elements.
func (u arrayUse) put(kind int, in ...tf.Output) tf.Output {
	return tf.Apply(u.g, u.ops[kind], in).Output(0)
}

// array returns a handle, and the flow of what has not been written.
func (u arrayUse) array(size int32) (handle, flow tf.Output) {
	a := tf.Apply(u.g, u.ops[makeArray], []tf.Output{ops.Scalar(u.g, size)}, tf.Attr("dtype", tf.Float64), tf.Attr("clear_after_read", false))
	return a.Output(0), u.flowOf(a)
}

// flowOf returns the flow that an op of the third version gives, else one that says
// nothing.
func (u arrayUse) flowOf(a *tf.Operation) tf.Output {
	if a.NumOutputs() > 1 {
		return a.Output(1)
	}
	return ops.Scalar(u.g, float32(0))
}

// TestTensorArrayVersions: the ops of the three versions compute the same.
func TestTensorArrayVersions(t *testing.T) {
	for v, names := range arrayVersions {
		t.Run(v, func(t *testing.T) {
			g := tf.NewGraph()
			u := arrayUse{g, strings.Fields(names)}
			rows, all := ops.Const(g, []float64{1, 2, 3, 4, 5, 6}, 3, 2), ops.Const(g, []int32{0, 1, 2})
			h, flow := u.array(3)
			flow = u.put(scatterArray, h, all, rows, flow)
			read := u.apply(readArray, h, ops.Scalar(g, int32(1)), flow).Output(0)
			gathered := u.apply(gatherArray, h, ops.Const(g, []int32{2, 0}), flow).Output(0)
			joined := u.apply(concatArray, h, flow)
			size := tf.Apply(g, u.ops[sizeArray], []tf.Output{h, flow}).Output(0)

			grad := tf.Apply(g, u.ops[gradArray], []tf.Output{h, flow}, tf.Attr("source", "gradients"))
			gh := grad.Output(0)
			once := u.put(writeArray, gh, ops.Scalar(g, int32(2)), ops.Const(g, []float64{7, 8}), u.flowOf(grad))
			twice := u.put(writeArray, gh, ops.Scalar(g, int32(2)), ops.Const(g, []float64{1, 1}), once)
			sum := u.apply(readArray, gh, ops.Scalar(g, int32(2)), twice).Output(0)

			b, empty := u.array(2)
			split := u.put(splitArray, b, ops.Const(g, []float64{9, 8, 7}), ops.Const(g, []int64{1, 2}), empty)
			part := u.apply(readArray, b, ops.Scalar(g, int32(1)), split).Output(0)
			end := tf.Apply(g, u.ops[closeArray], []tf.Output{b}, tf.After(part.Operation()))

			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			out, err := s.Run(t.Context(), nil, read, gathered, joined.Output(0), joined.Output(1), size, sum, part, end)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range [][]float64{{3, 4}, {5, 6, 1, 2}, {1, 2, 3, 4, 5, 6}, nil, nil, {8, 9}, {8, 7}} {
				if want != nil && !slices.Equal(tf.Data[float64](out[i]), want) {
					t.Errorf("result %d: %v, want %v", i, out[i], want)
				}
			}
			if !slices.Equal(tf.Data[int64](out[3]), []int64{2, 2, 2}) || out[4].At(0) != int32(3) {
				t.Error(out[3], out[4])
			}
		})
	}
}
