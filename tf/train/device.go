package train

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// ReplicaDevices says how the operations of a replica are spread over a
// cluster: what keeps state goes to the parameter servers, all else to the
// replica's worker.
//
//	spread := train.ReplicaDevices{PSTasks: 2, Worker: "/job:worker/task:1"}
//	g.DeviceFunc(spread.Setter(), func() { ... })
//
// Between-graph replication runs this in every worker, each with its own task
// as Worker; the same program gives the same variables to the same servers. For
// in-graph replication a graph has one scope for the variables and one for each
// replica.
type ReplicaDevices struct {
	PSTasks int    // number of parameter servers; 0: no device is chosen at all
	PS      string // "": "/job:ps"
	Worker  string // "": "/job:worker"
	// Ops names those that go to the parameter servers; nil: PSOps().
	Ops []string
	// Strategy chooses the task; nil: RoundRobin.
	Strategy PSStrategy
}

// A PSStrategy chooses the parameter server, by task, for an operation. A negative number
// stands for none: then the operation is refused with INVALID_ARGUMENT.
type PSStrategy func(n *core.Node) int

// PSOps names the operations that keep what training is about: those with the trait
// [core.Parameter], which are those of TensorFlow's list and a program's own.
func PSOps() []string {
	return slices.DeleteFunc(core.OpNames(), func(name string) bool { return !core.HasTrait(name, core.Parameter) })
}

// Setter returns the function for [tf.Graph.DeviceFunc]: TensorFlow's
// replica_device_setter. It counts what it has placed, so a graph takes one of
// its own.
func (r ReplicaDevices) Setter() func(n *core.Node) string {
	if r.PSTasks == 0 {
		return func(*core.Node) string { return "" }
	}
	if r.PS == "" {
		r.PS = "/job:ps"
	}
	if r.Worker == "" {
		r.Worker = "/job:worker"
	}
	if r.Ops == nil {
		r.Ops = PSOps()
	}
	if r.Strategy == nil {
		r.Strategy = RoundRobin(r.PSTasks)
	}
	return r.choose
}

func (r ReplicaDevices) choose(n *core.Node) string {
	switch {
	case slices.Contains(r.Ops, n.OpName()):
	case slices.ContainsFunc(n.InTypes, follows):
		return ""
	default:
		return r.Worker
	}
	ps, err := tf.ParseDevice(r.PS)
	if err != nil {
		return r.PS // the graph reports it
	}
	asked, err := tf.ParseDevice(n.Device)
	if err == nil && ps.Job != "" && (asked.Job == "" || asked.Job == ps.Job) {
		if ps.Task = r.Strategy(n); ps.Task < 0 { // the graph reports it, too
			return fmt.Sprintf("%s/task:%d (the strategy must choose one of %d parameter servers)", r.PS, ps.Task, r.PSTasks)
		}
	}
	return ps.String()
}

// follows reports whether an operation has to be where this input comes from:
// one that works on a variable asks for no device and is placed with it.
func follows(d tf.DType) bool { return d == tf.Resource || d.IsRef() }

// noServer is what a strategy without parameter servers chooses.
const noServer = -1

// RoundRobin takes the parameter servers in turn.
func RoundRobin(tasks int) PSStrategy {
	next := 0
	return func(*core.Node) int {
		if tasks <= 0 {
			return noServer
		}
		task := next
		next = (next + 1) % tasks
		return task
	}
}

// GreedyLoadBalancing gives each operation to the parameter server that has
// least so far, by what load says of it; nil stands for ByteSize.
func GreedyLoadBalancing(tasks int, load func(n *core.Node) float64) PSStrategy {
	if load == nil {
		load = ByteSize
	}
	loads := make([]float64, max(tasks, 0))
	return func(n *core.Node) int {
		if len(loads) == 0 {
			return noServer
		}
		task := slices.Index(loads, slices.Min(loads))
		if task < 0 { // a load was no number
			return noServer
		}
		loads[task] += load(n)
		return task
	}
}

// ByteSize is the load of a variable: the bytes of its elements. What has no
// static shape counts nothing.
func ByteSize(n *core.Node) float64 {
	s, ok := n.Attrs["shape"].(tf.Shape)
	d, typed := n.Attrs["dtype"].(tf.DType)
	if !ok || !typed || !s.Known() {
		return 0
	}
	return float64(s.NumElements() * d.Size())
}
