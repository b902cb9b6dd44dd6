package savedmodel

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// FreezeSession returns a graph that computes outputs, with constants in place of the variables of a session:
// tf.graph_util.convert_variables_to_constants. Nodes keep their names, but not their devices. What the outputs do not
// depend on is left out, functions are taken apart, and tables are treated as [Model.Freeze] does, whose errors these
// are. The session may go on training; each result has the variables as they are in one step.
func FreezeSession(ctx context.Context, s *session.Session, outputs ...tf.Output) (*pb.GraphDef, error) {
	g := s.Graph()
	if len(outputs) == 0 {
		return nil, author.Called(tf.Errorf(tf.InvalidArgument, "freezing takes what outputs depend on, none is given"))
	}
	nodes := make([]string, len(outputs))
	for i, y := range outputs {
		if y.IsZero() {
			return nil, author.Called(tf.Errorf(tf.InvalidArgument, "outputs must belong to the session's graph, output %d of %d is no output of any", i, len(outputs)))
		}
		if err := y.Err(); err != nil {
			return nil, err
		}
		if y.Graph() != g {
			return nil, author.Called(tf.Errorf(tf.InvalidArgument, "outputs must belong to the session's graph, %s does not", y.Name()))
		}
		nodes[i] = y.Operation().Name
	}
	m := &Model{graph: g, s: s, additions: readsIn(g)}
	def, err := m.frozen(ctx, nodes, nil)
	for _, n := range def.GetNode() {
		n.Device = ""
	}
	return def, err
}

// readsIn finds operations that only read variables of the new kind, which variables have. The graph need not grow by
// others then, and may be one that must not.
func readsIn(g *tf.Graph) map[string]*tf.Operation {
	reads := map[string]*tf.Operation{}
	for _, op := range g.Operations() {
		if core.HasTrait(op.OpName(), core.ReadsVariable) && len(op.ControlInputs()) == 0 {
			if holder := op.Input(0).Operation(); core.HasTrait(holder.OpName(), core.HoldsVariable) {
				reads[additionKey("read", holder.Name)] = op
			}
		}
	}
	return reads
}
