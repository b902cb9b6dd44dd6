package stepstats

import (
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

var epoch = time.Unix(1_600_000_000, 0)

func at(micros int) time.Time { return epoch.Add(time.Duration(micros) * time.Microsecond) }

// ran tells c of a node of an op with the given inputs and outputs.
func ran(t *testing.T, c *Collector, name, op string, attrs core.Attrs, in, out []core.Slot) {
	t.Helper()
	n, err := core.NewNode(name, op, attrs)
	if err != nil {
		t.Fatal(err)
	}
	step := core.Step{Device: device.NewCPU(core.DeviceSpec{Job: "localhost", Type: "CPU"})}
	c.Ran(&core.OpContext{Step: &step, Node: n, In: in, Out: out}, name+" = "+op+"()", core.NodeTimes{
		Ready: at(1), Start: at(2), KernelStart: at(4), KernelEnd: at(9),
	})
}

func slot(t *core.Tensor) []core.Slot { return []core.Slot{{T: t}} }

func TestNodes(t *testing.T) {
	c := New()
	small, big := core.NewTensor(core.Float32, core.Shape{2, 3}), core.NewTensor(core.Float32, core.Shape{1 << 18})
	f := core.Attrs{"T": core.Float32}
	ran(t, c, "neg", "Neg", f, slot(small.Clone()), slot(small))
	ran(t, c, "id", "Identity", f, slot(small), slot(small))
	ran(t, c, "big", "Neg", f, slot(small), slot(big))
	var v core.Ref
	v.Store(core.NewTensor(core.Float32, core.Shape{5}))
	ran(t, c, "v", "VariableV2", core.Attrs{"dtype": core.Float32, "shape": core.Shape{5}}, nil, []core.Slot{{Ref: &v}})
	ran(t, c, "dead", "Switch", f, nil, []core.Slot{{}, {T: small}})
	ran(t, c, "send", "_Send", core.Attrs{"T": core.Float32, "tensor_name": "x", "send_device": "a", "recv_device": "b", "send_device_incarnation": int64(1)}, slot(small), nil)
	s := c.Proto()
	if len(s.GetDevStats()) != 1 || s.GetDevStats()[0].GetDevice() != "/job:localhost/replica:0/task:0/device:CPU:0" {
		t.Fatalf("devices %v", s)
	}
	nodes := s.GetDevStats()[0].GetNodeStats()
	if len(nodes) != 5 {
		t.Fatalf("%d nodes, want all but the send", len(nodes))
	}
	for i, want := range []struct {
		name, label        string
		outputs            int
		fresh, id, persist int64
	}{
		{"neg", "neg = Neg()", 1, 24, 1, 0},
		{"id", "id = Identity()", 1, 0, 1, 0},
		{"big", "[cpu 1.0MB 1.0MB] big = Neg()", 1, 1 << 20, 2, 0},
		{"v", "v = VariableV2()", 1, 0, 3, 20},
		{"dead", "dead = Switch()", 1, 24, 4, 0},
	} {
		n := nodes[i]
		o := n.GetOutput()
		fresh := int64(0)
		if len(n.GetMemory()) > 0 {
			fresh = n.GetMemory()[0].GetTotalBytes()
		}
		if n.GetNodeName() != want.name || n.GetTimelineLabel() != want.label || len(o) != want.outputs || fresh != want.fresh ||
			o[0].GetTensorDescription().GetAllocationDescription().GetAllocationId() != want.id || n.GetMemoryStats().GetPersistentMemorySize() != want.persist {
			t.Errorf("%d: got %v, want %+v", i, n, want)
		}
	}
	if got := nodes[4].GetOutput()[0].GetSlot(); got != 1 {
		t.Errorf("the live output is %d", got)
	}
	n := nodes[0]
	if n.GetScheduledMicros() != at(1).UnixMicro() || n.GetAllStartMicros() != at(2).UnixMicro() || n.GetOpStartRelMicros() != 2 ||
		n.GetOpEndRelMicros() != 7 || n.GetAllEndRelMicros() < 7 || n.GetOpEndRelNanos() != 7000 {
		t.Errorf("times %v", n)
	}
}

// TestThreads: what runs at the same time is on different threads, in order of
// the starts, whoever told of it first.
func TestThreads(t *testing.T) {
	c := New()
	for _, span := range [][2]int64{{30, 5}, {0, 20}, {10, 10}, {20, 1}, {21, 20}} {
		c.Add(&pb.StepStats{DevStats: []*pb.DeviceStepStats{{Device: "d", NodeStats: []*pb.NodeExecStats{
			{AllStartMicros: 1 + span[0], AllEndRelMicros: span[1]},
		}}}})
	}
	var got []uint32
	for _, n := range c.Proto().GetDevStats()[0].GetNodeStats() {
		got = append(got, n.GetThreadId())
	}
	for i, want := range []uint32{0, 1, 0, 0, 1} {
		if got[i] != want {
			t.Fatalf("threads %v", got)
		}
	}
}

func TestReceived(t *testing.T) {
	c := New()
	c.Received(Transfer{Tensor: "edge_1_w", Src: "/job:ps/replica:0/task:0/device:CPU:0", Dst: "b", Start: at(0), End: at(100), Bytes: 1000})
	c.Received(Transfer{Tensor: "w", Src: "a", Dst: "b", Start: at(200), End: at(1200), Bytes: 1 << 20})
	c.Received(Transfer{Tensor: "w", Src: "a", Dst: "b", Start: at(300), End: at(299)})
	nodes := c.Proto().GetDevStats()[0].GetNodeStats()
	for i, want := range []string{
		"[1000B] [80.000000Mb/s] edge_1_w from /job:ps/replica:0/task:0/device:CPU:0 to b",
		"[1.0MB] [8.4Gb/s] w from a to b",
		"[0B] [0.000000Mb/s] w from a to b",
	} {
		if nodes[i].GetTimelineLabel() != want || nodes[i].GetNodeName() != "RecvTensor" {
			t.Errorf("got %v, want %q", nodes[i], want)
		}
	}
	if nodes[0].GetAllEndRelMicros() != 100 || nodes[2].GetAllEndRelMicros() != 0 {
		t.Errorf("times %v", nodes)
	}
}

const text = `
x = Const[dtype=float32, value=float32[2]{1, 2}]
p = Const[dtype=bool, value=bool[]{true}]
s = Switch(x, p)
y = Neg(s:1)
i = Identity(y, ^x)
`

func TestLabelAndCosts(t *testing.T) {
	g, err := graphtext.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"s": "s = Switch(x, p)", "y": "y = Neg(s:1)", "i": "i = Identity(y, ^x)", "p": "p = Const()"} {
		if got := Label(g.Node(name)); got != want {
			t.Errorf("label %q, want %q", got, want)
		}
	}
	c := New()
	v := core.NewTensor(core.Float32, core.Shape{2})
	for range 2 { // as in a loop
		ran(t, c, "y", "Neg", core.Attrs{"T": core.Float32}, nil, slot(v))
	}
	ran(t, c, "i", "Identity", core.Attrs{"T": core.Float32}, slot(v), slot(v))
	costs := CostGraph([]*graph.Graph{g}, c.Proto())
	byName := map[string]*pb.CostGraphDef_Node{}
	for _, n := range costs.GetNode() {
		byName[n.GetName()] = n
	}
	y, i := byName["y"], byName["i"]
	if y.GetComputeCost() != 10 || y.GetOutputInfo()[0].GetSize() != 8 || y.GetOutputInfo()[0].GetAliasInputPort() != -1 ||
		y.GetInputInfo()[0].GetPrecedingNode() != byName["s"].GetId() || y.GetInputInfo()[0].GetPrecedingPort() != 1 {
		t.Errorf("y: %v", y)
	}
	if i.GetComputeCost() != 5 || i.GetOutputInfo()[0].GetAliasInputPort() != 0 || len(i.GetControlInput()) != 1 || i.GetControlInput()[0] != byName["x"].GetId() {
		t.Errorf("i: %v", i)
	}
	if x := byName["x"]; x.GetOutputInfo()[0].GetSize() != -1 || x.GetComputeCost() != 0 || strings.Contains(x.String(), "NaN") {
		t.Errorf("what was not run: %v", x)
	}
}
