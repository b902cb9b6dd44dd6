package session_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// sound is a graph with something of each kind: state, a loop and a conditional
// in the graph and by functions, devices, colocation, string and control edges.
func sound(t *testing.T) *pb.GraphDef {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	r := tf.NewVariable(ops.Const(g, []float32{3, 4}), tf.VariableOptions{Name: "r", Reference: true})
	less := func(x []tf.Output) tf.Output { return ops.Less(x[0], ops.Scalar(g, int32(3))) }
	next := func(x []tf.Output) []tf.Output {
		return []tf.Output{ops.AddV2(x[0], ops.Scalar(g, int32(1))), ops.Mul(x[1], v.Value())}
	}
	vars := []tf.Output{ops.Scalar(g, int32(0)), r.Value()}
	loop := tf.While(vars, less, next)[1]
	var elsewhere tf.Output
	g.Device("/device:CPU:1", func() { elsewhere = ops.Neg(loop) })
	branch := tf.Cond(ops.Greater(ops.Sum(elsewhere, ops.Const(g, []int32{0})), ops.Scalar[float32](g, 0)),
		func() []tf.Output { return []tf.Output{ops.Square(elsewhere)} }, func() []tf.Output { return []tf.Output{loop} })[0]
	cond := tf.NewFunction(g, "cond", tf.SpecOf(vars...), func(x []tf.Output) []tf.Output { return []tf.Output{less(x)} })
	body := tf.NewFunction(g, "body", tf.SpecOf(vars...), next)
	functional := ops.While(vars, cond, body)[1]
	ops.ConcatV2([]tf.Output{branch, functional}, ops.Scalar(g, int32(0)), tf.Name("all"))
	ops.Identity(ops.Scalar(g, "text"), tf.After(v.AssignAdd(branch)))
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// mutant changes a graph at random.
type mutant struct {
	*rand.Rand
	def *pb.GraphDef
}

func (m *mutant) node() *pb.NodeDef {
	ns := m.nodes()
	return ns[m.IntN(len(ns))]
}

// nodes are those of the graph or of a function.
func (m *mutant) nodes() []*pb.NodeDef {
	fs := m.def.GetLibrary().GetFunction()
	if len(fs) > 0 && m.IntN(4) == 0 {
		if n := fs[m.IntN(len(fs))].GetNodeDef(); len(n) > 0 {
			return n
		}
	}
	return m.def.GetNode()
}

// harmless ops may take the place of any.
var harmless = []string{"Identity", "Add", "Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "NoOp", "MatMul", "Reshape",
	"VarHandleOp", "VariableV2", "Assign", "ReadVariableOp", "PartitionedCall", "While", "StatelessIf", "TensorListPushBack", "StackPushV2", "_Arg", "_Retval", "_Recv", "Nonsense"}

func (m *mutant) mutate() {
	n := m.node()
	switch m.IntN(8) {
	case 0: // another input
		other := m.node().GetName()
		n.Input = append(n.Input, []string{other, other + ":1", "^" + other, other + ":-1", "", "^"}[m.IntN(6)])
	case 1:
		if len(n.Input) > 0 {
			n.Input[m.IntN(len(n.Input))] = m.node().GetName()
		}
	case 2:
		if len(n.Input) > 0 {
			n.Input = n.Input[1:]
		}
	case 3:
		n.Op = harmless[m.IntN(len(harmless))]
	case 4:
		m.attribute(n)
	case 5:
		n.Device = []string{"/device:CPU:1", "/device:CPU:9", "/job:ps", "nonsense", "/device:GPU:*"}[m.IntN(5)]
	case 6:
		n.Name = m.node().GetName()
	default:
		ns := m.def.Node
		k := m.IntN(len(ns))
		m.def.Node = append(ns[:k:k], ns[k+1:]...)
	}
}

// attribute takes an attribute away or gives it another's value.
func (m *mutant) attribute(n *pb.NodeDef) {
	if len(n.Attr) == 0 {
		return
	}
	name := m.key(n.Attr)
	if m.IntN(2) == 0 {
		delete(n.Attr, name)
	} else if other := m.node(); len(other.Attr) > 0 {
		n.Attr[name] = proto.CloneOf(other.Attr[m.key(other.Attr)])
	}
}

// key draws an attribute, the same one for the same seed.
func (m *mutant) key(attrs map[string]*pb.AttrValue) string {
	names := slices.Sorted(maps.Keys(attrs))
	return names[m.IntN(len(names))]
}

// TestMutatedGraphs: graphs that are wrong in some way end in an error or work.
// Nothing panics, and what would run for ever ends with its context.
func TestMutatedGraphs(t *testing.T) {
	def, ran := sound(t), 0
	const graphs = 300
	for seed := range uint64(graphs) {
		m := mutant{rand.New(rand.NewPCG(seed, 7)), proto.CloneOf(def)}
		for range 1 + m.IntN(3) {
			m.mutate()
		}
		g := tf.NewGraph()
		if err := g.ImportProto(m.def, tf.ImportOptions{}); err != nil {
			continue
		}
		ran++
		runAll(t, g)
	}
	if ran < graphs/10 {
		t.Errorf("only %d of %d graphs were imported: too little was tried", ran, graphs)
	}
}

// runAll runs every operation of g, a step each.
func runAll(t *testing.T, g *tf.Graph) {
	t.Helper()
	s, err := session.New(g, session.With(session.Config{Devices: map[string]int{"CPU": 2}, Threads: 2}))
	if err != nil {
		return
	}
	// What runs for ever is the rest's business as well: one such is enough.
	for _, op := range g.Operations() {
		if err := runFor(t, s, op, 100*time.Millisecond); tf.CodeOf(err) == tf.DeadlineExceeded {
			break
		}
	}
	s.Close()
}

// runFor runs op for a while. It is fatal if the step outlives its context.
func runFor(t *testing.T, s *session.Session, op *tf.Operation, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	over := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, nil, op)
		over <- err
	}()
	select {
	case err := <-over:
		return err
	case <-time.After(1000 * d):
		text, _ := s.Graph().MarshalGraphDefText()
		panic(fmt.Sprintf("the step for %s does not end:\n%s", op.Name, text)) // a Fatal would wait for the session
	}
}
