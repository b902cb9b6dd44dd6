package master

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

const (
	ps     = "/job:ps/replica:0/task:0"
	work0  = "/job:worker/replica:0/task:0"
	work1  = "/job:worker/replica:0/task:1"
	client = work0 + "/device:CPU:0"
)

// testLayout is a cluster of three tasks, the second of which is the master's.
func testLayout(t *testing.T) *layout {
	t.Helper()
	var members []member
	for i, task := range []string{ps, work0, work1} {
		d := &pb.DeviceAttributes{Name: task + "/device:CPU:0", DeviceType: "CPU", Incarnation: uint64(0xa0 + i)}
		members = append(members, member{task: task, devices: []*pb.DeviceAttributes{d}})
	}
	l, err := newLayout(members, client)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// text lists parts, their nodes and what they take, for comparison.
func text(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%s\n", p.task)
		for _, n := range p.graph.Nodes {
			fmt.Fprintf(&b, "  %s = %s(%s)%s\n", n.Name, n.OpName(), inputs(n), transfer(n))
		}
		for _, f := range p.feeds {
			fmt.Fprintf(&b, "  feed %s\n", f.tensor)
		}
		for _, f := range p.fetches {
			fmt.Fprintf(&b, "  fetch %s\n", f.tensor)
		}
	}
	return b.String()
}

func inputs(n *graph.Node) string {
	var in []string
	for _, e := range n.In {
		in = append(in, e.Name())
	}
	for _, c := range n.Control {
		in = append(in, "^"+c.Name)
	}
	return strings.Join(in, ", ")
}

func transfer(n *graph.Node) string {
	if n.Attr("tensor_name") == nil {
		return ""
	}
	return fmt.Sprintf(" %s: %s#%x -> %s", n.Str("tensor_name"), short(n.Str("send_device")), n.Int("send_device_incarnation"), short(n.Str("recv_device")))
}

func short(device string) string {
	return strings.NewReplacer("/replica:0", "", "/job:", "", "/task:", "", "/device:CPU:0", "").Replace(device)
}

func TestSplit(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	var w tf.Output
	g.Device("/job:ps", func() { w = ops.Scalar[float32](g, 3, tf.Name("w")) })
	y := ops.Mul(x, w, tf.Name("y"), tf.OnDevice("/job:worker/task:1"))
	ops.Add(y, w, tf.Name("z"))
	ops.NoOp(g, tf.Name("after"), tf.After(y.Operation()), tf.OnDevice("/job:ps"))
	ops.Scalar[float32](g, 1, tf.Name("unused"))

	for _, c := range []struct {
		name string
		sig  pass.Signature
		want string
	}{
		{"one task", pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"w:0"}}, `
/job:ps/replica:0/task:0
  w = Const()
  w_S0 = _Send(w:0) edge_0_w: ps0#a0 -> worker0
/job:worker/replica:0/task:0
  _send_w_0 = _Send(w_S1:0) w:0: worker0#a1 -> worker0
  w_S1 = _Recv() edge_0_w: ps0#a0 -> worker0
  fetch w:0
`},
		{"three tasks, each tensor sent once to each", pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"z:0"}}, `
/job:ps/replica:0/task:0
  w = Const()
  w_S2 = _Send(w:0) edge_1_w: ps0#a0 -> worker1
  w_S6 = _Send(w:0) edge_3_w: ps0#a0 -> worker0
/job:worker/replica:0/task:0
  _recv_x_0 = _Recv() x:0: worker0#a1 -> worker0
  z = AddV2(y_S5:0, w_S7:0)
  _send_z_0 = _Send(z:0) z:0: worker0#a1 -> worker0
  _recv_x_0_S0 = _Send(_recv_x_0:0) edge_0__recv_x_0: worker0#a1 -> worker1
  y_S5 = _Recv() edge_2_y: worker1#a2 -> worker0
  w_S7 = _Recv() edge_3_w: ps0#a0 -> worker0
  feed x:0
  fetch z:0
/job:worker/replica:0/task:1
  y = Mul(_recv_x_0_S1:0, w_S3:0)
  _recv_x_0_S1 = _Recv() edge_0__recv_x_0: worker0#a1 -> worker1
  w_S3 = _Recv() edge_1_w: ps0#a0 -> worker1
  y_S4 = _Send(y:0) edge_2_y: worker1#a2 -> worker0
`},
		{"a control edge", pass.Signature{Feeds: []string{"x:0"}, Targets: []string{"after"}}, `
/job:ps/replica:0/task:0
  w = Const()
  after = NoOp(^y_S7)
  w_S2 = _Send(w:0) edge_1_w: ps0#a0 -> worker1
  y_S6 = _Recv() edge_2_y: worker1#a2 -> ps0
  y_S7 = Identity(y_S6:0)
/job:worker/replica:0/task:0
  _recv_x_0 = _Recv() x:0: worker0#a1 -> worker0
  _recv_x_0_S0 = _Send(_recv_x_0:0) edge_0__recv_x_0: worker0#a1 -> worker1
  feed x:0
/job:worker/replica:0/task:1
  y = Mul(_recv_x_0_S1:0, w_S3:0)
  _recv_x_0_S1 = _Recv() edge_0__recv_x_0: worker0#a1 -> worker1
  w_S3 = _Recv() edge_1_w: ps0#a0 -> worker1
  y/ctrl_S4 = Const(^y)
  y_S5 = _Send(y/ctrl_S4:0) edge_2_y: worker1#a2 -> ps0
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := testLayout(t)
			placed := source.Graph(g.Operations(), nil, core.ProducerVersion)
			if err := l.place(placed, false, map[string]string{}); err != nil {
				t.Fatal(err)
			}
			parts, err := l.split(placed, c.sig, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.TrimSpace(c.want), strings.TrimSpace(text(parts))); d != "" {
				t.Errorf("parts (-want +got):\n%s", d)
			}
		})
	}
}
