package remote

import (
	"context"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// growing is a master that extends a graph, and whose answers are lost as lost says.
type growing struct {
	Master
	version int64
	nodes   []string
	lost    []error // of the first attempts
}

func (m *growing) ExtendSession(_ context.Context, req *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error) {
	if req.GetCurrentGraphVersion() != m.version {
		return nil, tf.Errorf(tf.Aborted, "Current version is %d but caller expected %d.", m.version, req.GetCurrentGraphVersion())
	}
	for _, n := range req.GetGraphDef().GetNode() {
		m.nodes = append(m.nodes, n.GetName())
	}
	m.version++
	if len(m.lost) > 0 {
		err := m.lost[0]
		m.lost = m.lost[1:]
		return nil, err
	}
	return &pb.ExtendSessionResponse{NewGraphVersion: m.version}, nil
}

// TestLostExtension: a session goes on when the master has extended its graph, but the
// answer was lost, with the connection or with the step that was given up meanwhile.
func TestLostExtension(t *testing.T) {
	for name, lost := range map[string]error{
		"given up":   tf.Errorf(tf.Canceled, "context canceled"),
		"too late":   tf.Errorf(tf.DeadlineExceeded, "Deadline Exceeded"),
		"connection": tf.Errorf(tf.Unavailable, "connection reset by peer"),
	} {
		g := tf.NewGraph()
		ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("a"))
		m := &growing{lost: []error{lost}}
		r := &remote{g: g, master: m, turn: make(chan struct{}, 1), handle: "s"}
		_, err := r.update(t.Context())
		if code := tf.CodeOf(err); code != tf.CodeOf(lost) && code != tf.OK { // a lost connection is tried again at once
			t.Errorf("%s: the step that adds a: %v", name, err)
		}
		ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("b"))
		if _, err := r.update(t.Context()); err != nil {
			t.Errorf("%s: the step that adds b: %v", name, err)
		}
		if want := []string{"a", "b"}; !slices.Equal(m.nodes, want) || r.version != m.version {
			t.Errorf("%s: the master has %v in version %d, the session believes in %d", name, m.nodes, m.version, r.version)
		}
	}
}
