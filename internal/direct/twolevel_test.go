package direct

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestLoopsOverTasks splits graphs twice, as a master and its workers do: by
// task, over the wire, and by device.
func TestLoopsOverTasks(t *testing.T) {
	for _, name := range []string{"sumto", "nested", "condloop", "grow"} {
		for seed := range uint64(5) {
			g := imported(t, name)
			r := rand.New(rand.NewPCG(seed, 3))
			for _, op := range g.Operations() {
				op.Device = fmt.Sprintf("/job:w/replica:0/task:%d/device:CPU:%d", r.IntN(2), r.IntN(2))
			}
			got := runOverTasks(t, g, 5)
			s := open(t, imported(t, name), 1)
			want, err := fetch(t.Context(), s, map[tf.Output]*core.Tensor{s.graphs.source.Operation("x").Output(0): core.Scalar[float32](5)}, s.graphs.source.Operation("y").Output(0))
			if err != nil {
				t.Fatal(err)
			}
			if !core.TensorsEqual(got, want[0]) {
				t.Errorf("%s, seed %d: got %v, want %v", name, seed, got, want[0])
			}
		}
	}
}

// runOverTasks feeds x and returns y.
func runOverTasks(t *testing.T, built *tf.Graph, x float32) *core.Tensor {
	t.Helper()
	const client = "/job:w/replica:0/task:0/device:CPU:0"
	full := source.Graph(built.Operations(), nil, 0)
	g, err := pass.ClientGraph(full, pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}}, pass.Terminals{ClientDevice: client})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := pass.Partition(g, pass.PartitionOptions{
		NodeToLoc:   func(n *graph.Node) string { return n.Device[:len("/job:w/replica:0/task:0")] },
		NewName:     pass.Names("S"),
		Incarnation: func(string) uint64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	table := rendezvous.NewLocal(nil)
	key := func(edge string) string { return rendezvous.Key{Src: client, Dst: client, Edge: edge}.String() }
	if err := table.Send(key("x:0"), core.Scalar(x), false); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for task := range 2 {
		part := parts[fmt.Sprintf("/job:w/replica:0/task:%d", task)]
		if part != nil {
			w := worker(t, task, part)
			group.Go(func() {
				if err := w.Run(t.Context(), step.Args{ID: 3, Rendezvous: table}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	var y *core.Tensor
	table.Recv(t.Context(), key("y:0"), func(v *core.Tensor, dead bool, err error) {
		if err != nil || dead {
			t.Errorf("y is dead: %v, error %v", dead, err)
		}
		y = v
	})
	return y
}

// worker builds what a task runs of a graph that it has got over the wire.
func worker(t *testing.T, task int, part *graph.Graph) *step.Graph {
	t.Helper()
	def, err := part.Proto()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromProto(def)
	if err != nil {
		t.Fatal(err)
	}
	rt := &step.Runtime{Devices: device.CPUs("w", task, 2), Pool: memory.NewPool(1 << 20)}
	built, err := rt.Build(g, step.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return built
}
