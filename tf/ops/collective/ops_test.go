package collective_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func TestMain(m *testing.M) { leaktest.Main(m) }

// The judge's samples have one device, which does all together with itself; those
// of several devices are in session_test.go.
func init() {
	add := func(op, name string, fails bool, f func(g *tf.Graph, in []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Fails: fails})
	}
	one := func(y tf.Output) []tf.Output { return []tf.Output{y} }
	instance := 0
	group := func() collective.Group { instance++; return collective.Group{Size: 1, Key: 1, Instance: instance} }
	for _, merge := range []string{"Add", "Mul", "Min", "Max"} {
		for _, final := range []string{"Id", "Div"} {
			g := group()
			add("CollectiveReduce", merge+" "+final, false, func(_ *tf.Graph, in []tf.Output) []tf.Output {
				return one(collective.Reduce(in[0], g, merge, final))
			}, optest.Seq(2, 3))
		}
	}
	g := group()
	add("CollectiveReduce", "scalar", false, func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return one(collective.Reduce(in[0], g, "Add", "Id"))
	}, core.Scalar(float32(3)))
	g = group()
	add("CollectiveGather", "", false, func(_ *tf.Graph, in []tf.Output) []tf.Output { return one(collective.Gather(in[0], g)) }, optest.Seq(2, 3))
	add("CollectiveGather", "scalar", true, func(_ *tf.Graph, in []tf.Output) []tf.Output { return one(collective.Gather(in[0], g)) }, core.Scalar(float32(3)))
	dynamic := func(op string, more ...tf.Option) {
		instance++
		number := int32(instance)
		f := func(size, key int32) func(g *tf.Graph, in []tf.Output) []tf.Output {
			return func(g *tf.Graph, in []tf.Output) []tf.Output {
				return one(tf.Apply(nil, op, []tf.Output{in[0], ops.Scalar(g, size), ops.Scalar(g, key), ops.Scalar(g, number)}, more...).Output(0))
			}
		}
		add(op, "", false, f(1, 2), optest.Seq(1, 3))
		add(op, "no size", true, f(0, 2), optest.Seq(1, 3))
		add(op, "vector", true, func(g *tf.Graph, in []tf.Output) []tf.Output {
			return one(tf.Apply(nil, op, []tf.Output{in[0], ops.Scalar(g, int32(1)), ops.Const(g, []int32{2}), ops.Scalar(g, number)}, more...).Output(0))
		}, optest.Seq(1, 3))
	}
	dynamic("CollectiveReduceV2", tf.Attr("merge_op", "Add"), tf.Attr("final_op", "Div"))
	dynamic("CollectiveGatherV2")
	for _, c := range []struct {
		name         string
		device, base int32
		fails        bool
		rows         *core.Tensor
	}{
		{"", 2, 1, false, optest.Mat[int32](2, 0, 1, 2, 3)}, {"first", 1, 7, false, optest.Mat[int32](2, 0, 1, 2, 3)}, {"wraps", 3, -3, false, optest.Mat[int32](2, 0, 1, 2, 3)},
		{"nowhere", 5, 1, true, optest.Mat[int32](2, 0, 1, 2, 3)}, {"reserved", 2, -1, true, optest.Mat[int32](2, 0, 1, 2, 3)}, {"out of range", 1, 1, true, optest.Mat[int32](2, 0, 4, 2, 1)},
		{"vector", 1, 1, true, optest.Vec[int32](0, 1)},
	} {
		optest.Add(optest.Sample{Op: "CollectiveAssignGroupV2", Name: c.name, Fails: c.fails, In: []*core.Tensor{c.rows, core.Scalar(c.device), core.Scalar(c.base)}, F: optest.Applied("CollectiveAssignGroupV2"), Types: optest.OnlyOwn})
	}
	for _, op := range []string{"CollectiveBcastSend", "CollectiveBcastRecv", "CollectiveBcastSendV2", "CollectiveBcastRecvV2"} {
		optest.Unsampled(op, "wants another device")
	}
	optest.Unsampled("CollectiveAllToAllV2", "TensorFlow's sessions do not know it for a collective")
	optest.Unsampled("CollectiveReduceScatterV2", "TensorFlow has no kernel for CPUs")
	for _, op := range []string{"CollectiveInitializeCommunicator", "CollectiveReduceV3", "CollectiveAllToAllV3"} {
		optest.Unsampled(op, "TensorFlow's sessions have no collectives unless there are others in the graph")
	}
}
