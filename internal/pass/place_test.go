package pass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

func device(t testing.TB, name string, local bool) DeviceInfo {
	t.Helper()
	d, err := core.ParseDevice(name)
	if err != nil {
		t.Fatal(err)
	}
	return DeviceInfo{Spec: d, Incarnation: 1, Local: local}
}

// cpus are the devices of one task.
func cpus(t testing.TB, task string, n int, local bool) (out []DeviceInfo) {
	for i := range n {
		out = append(out, device(t, fmt.Sprintf("%s/device:CPU:%d", task, i), local))
	}
	return out
}

// placed lists nodes and the short names of their devices.
func placed(g *graph.Graph, err error) string {
	if err != nil {
		return core.AsError(err).Message()
	}
	var b strings.Builder
	for _, n := range g.Nodes {
		_, dev, _ := strings.Cut(n.Device, "/device:")
		fmt.Fprintf(&b, "%s %s\n", n.Name, dev)
	}
	return b.String()
}

// TestPlaceAsTensorFlow holds placements against those of the real one.
func TestPlaceAsTensorFlow(t *testing.T) {
	for _, c := range append(readCases(t, "placement.txt"), readCases(t, "identity.txt")...) {
		t.Run(c.name, func(t *testing.T) {
			g := parse(t, c.sections[0])
			p := Placer{Devices: cpus(t, "/job:localhost/replica:0/task:0", 3, true), Soft: strings.HasSuffix(c.name, "soft")}
			same(t, placed(g, p.Place(g)), c.sections[1])
		})
	}
}

// TestPlaceInCluster: a node without a device goes to the client's task.
func TestPlaceInCluster(t *testing.T) {
	devices := append(cpus(t, "/job:ps/replica:0/task:0", 1, false), cpus(t, "/job:worker/replica:0/task:1", 2, true)...)
	g := parse(t, `
		v = VarHandleOp[dtype=float32, shape=[]] @/job:ps
		one = Const[dtype=float32, value=float32[]{1}]
		init = AssignVariableOp[dtype=float32](v, one)
		x = Placeholder[dtype=float32, shape=[]] @/job:worker/device:CPU:1
		r = ReadVariableOp[dtype=float32](v)
		y = AddV2(r, x)`)
	if err := (&Placer{Devices: devices}).Place(g); err != nil {
		t.Fatal(err)
	}
	const ps, worker = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:"
	want := map[string]string{"v": ps, "one": ps, "init": ps, "r": ps, "x": worker + "1", "y": worker + "0"}
	for name, dev := range want {
		if got := g.Node(name).Device; got != dev {
			t.Errorf("%s is on %s, want %s", name, got, dev)
		}
	}
}

func TestPlaceErrors(t *testing.T) {
	const available = "but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0, /job:localhost/replica:0/task:0/device:CPU:1 ]. Make sure the device specification refers to a valid device."
	const a = "a = Const[dtype=float32, value=float32[]{1}] @"
	for _, c := range []struct{ name, graph, want, soft string }{
		{"missing", a + "/device:CPU:7", "Cannot assign a device for operation a: {{node a}} was explicitly assigned to /device:CPU:7 " + available, ""},
		{"missing type", a + "/device:GPU:0", "Cannot assign a device for operation a: {{node a}} was explicitly assigned to /device:GPU:0 " + available, ""},
		{"missing task", a + "/job:ps/task:1", "Cannot assign a device for operation a: {{node a}} was explicitly assigned to /job:ps/task:1 " + available,
			"Cannot assign a device for operation a: {{node a}} was explicitly assigned to /job:ps/task:1 " + available},
		{"classes", a + "/device:CPU:1\nb = Identity[_class=(\"loc:@a\")](a) @/device:CPU:0",
			"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge devices with incompatible ids: '/device:CPU:0' and '/device:CPU:1'", ""},
		{"class types", a + "/device:CPU:1\nb = Identity[_class=(\"loc:@a\")](a) @/device:GPU:1",
			"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge devices with incompatible types: '/device:GPU:1' and '/device:CPU:1'", ""},
		{"class jobs", a + "/job:localhost/device:CPU:1\nb = Identity[_class=(\"loc:@a\")](a) @/job:ps",
			"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge devices with incompatible jobs: '/job:ps' and '/job:localhost/device:CPU:1'",
			"Cannot assign a device for operation b: {{node b}} was explicitly assigned to /job:ps " + available},
		{"class tasks", a + "/task:0\nb = Identity[_class=(\"loc:@a\")](a) @/task:1",
			"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge devices with incompatible tasks: '/task:1' and '/task:0'",
			"Cannot assign a device for operation b: {{node b}} was explicitly assigned to /task:1 " + available},
		{"class replicas", a + "/replica:1\nb = Identity[_class=(\"loc:@a\")](a) @/replica:0",
			"Cannot colocate nodes {{colocation_node b}} and {{colocation_node a}}: Cannot merge devices with incompatible replicas: '/replica:0' and '/replica:1'",
			"Cannot assign a device for operation a: {{node a}} was explicitly assigned to /replica:1 " + available},
		{"two resources", "v = VarHandleOp[dtype=float32, shape=[]] @/device:CPU:0\nw = VarHandleOp[dtype=float32, shape=[]] @/device:CPU:1\n" +
			a + "\napply = ResourceApplyMomentum[T=float32](v, w, a, a, a)",
			"Cannot place the graph because a reference or resource edge connects colocation groups with incompatible resource devices: /device:CPU:1 vs /device:CPU:0. The edge src node is name='w' (op='VarHandleOp'), and the dst node is name='apply' (op='ResourceApplyMomentum').",
			"Cannot place the graph because a reference or resource edge connects colocation groups with incompatible resource devices: /device:CPU:1 vs /device:CPU:0. The edge src node is name='w' (op='VarHandleOp'), and the dst node is name='apply' (op='ResourceApplyMomentum')."},
	} {
		for soft, want := range map[bool]string{false: c.want, true: c.soft} {
			g := parse(t, c.graph)
			p := Placer{Devices: cpus(t, "/job:localhost/replica:0/task:0", 2, true), Soft: soft}
			err := p.Place(g)
			if want != "" {
				want = "INVALID_ARGUMENT: " + want
			}
			if got := message(err); got != want {
				t.Errorf("%s, soft %v: got\n%s\nwant\n%s", c.name, soft, got, want)
			}
		}
	}
}

func TestPlacePinned(t *testing.T) {
	g := parse(t, `v = VarHandleOp[dtype=float32, shape=[]]
		r = ReadVariableOp[dtype=float32](v)`)
	const where = "/job:localhost/replica:0/task:0/device:CPU:1"
	p := Placer{Devices: cpus(t, "/job:localhost/replica:0/task:0", 2, true), Pinned: map[string]string{"v": where}}
	if err := p.Place(g); err != nil {
		t.Fatal(err)
	}
	if got := g.Node("r").Device; got != where {
		t.Errorf("r is on %s, its variable was pinned to %s", got, where)
	}
}

func init() {
	core.RegisterDeviceType("NOTHING", func(n *core.Node) (core.NewKernel, error) {
		return nil, core.Errorf(core.NotFound, "No OpKernel was registered to support Op '%s'", n.OpName())
	})
}

func TestPlaceWithoutKernel(t *testing.T) {
	g := parse(t, "a = NoOp @/device:NOTHING:0")
	p := Placer{Devices: append(cpus(t, "/job:localhost/replica:0/task:0", 1, true), device(t, "/job:localhost/replica:0/task:0/device:NOTHING:0", true))}
	if got, want := message(p.Place(g)), "INVALID_ARGUMENT: No OpKernel was registered to support Op 'NoOp'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	g = parse(t, "a = NoOp @/device:NOTHING:0")
	p.Soft = true
	if err := p.Place(g); err != nil || !strings.HasSuffix(g.Nodes[0].Device, "CPU:0") {
		t.Errorf("soft placement: %v, on %s", err, g.Nodes[0].Device)
	}
}
