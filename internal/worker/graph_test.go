package worker

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestPassesAreSwitchedOff: the options that come with a graph decide by which
// passes it is rewritten.
func TestPassesAreSwitchedOff(t *testing.T) {
	w := newWorker(t)
	open := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	g := tf.NewGraph(tf.Strict())
	one := tf.Apply(g, "Const", nil, tf.Attr("value", core.Scalar[float32](1)), tf.Attr("dtype", core.Float32)).Output(0)
	tf.Apply(g, "AddV2", []tf.Output{one, one}, tf.Name("two"))
	def := definition(t, w, g, pass.Signature{Fetches: []string{"two:0"}})
	off := pb.RewriterConfig_OFF
	for name, c := range map[string]struct {
		o     *pb.GraphOptions
		folds bool
	}{
		"default": {nil, true},
		"toggle":  {&pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{ConstantFolding: off}}, false},
		"level":   {&pb.GraphOptions{OptimizerOptions: &pb.OptimizerOptions{OptLevel: pb.OptimizerOptions_L0}}, false},
	} {
		s, err := w.find(true, open.handle)
		if err != nil {
			t.Fatal(err)
		}
		built, err := s.build(nil, &pb.RegisterGraphRequest{GraphDef: def, GraphOptions: c.o})
		if err != nil {
			t.Fatal(err)
		}
		var ops []string
		for _, p := range built.Partitions() {
			for _, n := range p.Nodes {
				ops = append(ops, n.OpName())
			}
		}
		if folded := !slices.Contains(ops, "AddV2"); folded != c.folds {
			t.Errorf("%s: folded is %v, the graph has %v", name, folded, ops)
		}
	}
}
