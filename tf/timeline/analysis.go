package timeline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gorge-tf/gorge/tf/pb"
)

// analysis is a timeline that is being drawn.
type analysis struct {
	Options
	devices []*device
	trace   trace
	pids    int
	flows   int

	allocators int // pid
	tensors    map[string]*tensor
	order      []string // of tensors, as they were first made
	maximums   map[string]Maximum
}

// device is a row of rows: the ops of one device.
type device struct {
	name         string
	pid, tensors int
	ops          []*op
}

// op is one execution of a node.
type op struct {
	*pb.NodeExecStats
	start, end int64 // in microseconds
	lane       int
}

func newAnalysis(s *pb.StepStats, o Options) *analysis {
	a := &analysis{Options: o, tensors: map[string]*tensor{}, maximums: map[string]Maximum{}}
	for _, d := range s.GetDevStats() {
		dev := &device{name: d.GetDevice()}
		for _, n := range d.GetNodeStats() {
			dev.ops = append(dev.ops, &op{NodeExecStats: n, start: n.GetAllStartMicros(), end: n.GetAllStartMicros() + n.GetAllEndRelMicros()})
		}
		a.devices = append(a.devices, dev)
	}
	if o.OpTime != Schedule {
		a.takeKernelTimes()
	}
	return a
}

// takeKernelTimes makes ops that had kernels on a GPU last as long as those.
func (a *analysis) takeKernelTimes() {
	type span struct{ start, end int64 }
	kernels := map[string]span{}
	for _, d := range a.devices {
		if !strings.Contains(d.name, "/stream:all") {
			continue
		}
		for _, k := range d.ops {
			name, _ := kernelLabel(k.GetTimelineLabel(), k.GetNodeName())
			s, known := kernels[name]
			if !known {
				s = span{k.start, k.end}
			}
			kernels[name] = span{min(s.start, k.start), max(s.end, k.end)}
		}
	}
	for _, d := range a.devices {
		if strings.Contains(d.name, "/stream:all") || !strings.Contains(d.name, "/job") {
			continue
		}
		for _, x := range d.ops {
			s, known := kernels[x.GetNodeName()]
			if !known {
				continue
			}
			x.end = max(s.end, x.end)
			if a.OpTime == GPU {
				x.start = s.start
			}
		}
	}
}

func (a *analysis) newPid() int {
	a.pids++
	return a.pids - 1
}

func (a *analysis) nameProcesses() {
	a.allocators = a.newPid()
	a.trace.process("Allocators", a.allocators)
	for _, d := range a.devices {
		d.pid, d.tensors = a.newPid(), a.newPid()
		a.trace.process(d.name+" Compute", d.pid)
		a.trace.process(d.name+" Tensors", d.tensors)
	}
}

// assignLanes gives ops that run at the same time different rows.
func (a *analysis) assignLanes() {
	for _, d := range a.devices {
		lanes := []int64{0} // by lane: when its last op ends
		for _, x := range d.ops {
			x.lane = len(lanes)
			for k, until := range lanes {
				if x.start > until {
					x.lane = k
					break
				}
			}
			if x.lane == len(lanes) {
				lanes = append(lanes, 0)
			}
			lanes[x.lane] = x.end
		}
	}
}

// fromGPU reports whether a device stands for what a GPU's tracer saw.
func (d *device) fromGPU() bool {
	return strings.Contains(d.name, "/stream:") || strings.Contains(d.name, "/memcpy")
}

// received is the name of nodes that stand for tensors from other tasks.
const received = "RecvTensor"

// showOps draws each op, and arrows from the producers of its inputs.
func (a *analysis) showOps() {
	for _, d := range a.devices {
		for _, x := range d.ops {
			name, typ, inputs := d.describe(x)
			args := map[string]any{"name": name, "op": typ}
			for i, in := range inputs {
				args[fmt.Sprintf("input%d", i)] = in
			}
			a.trace.region(typ, place{d.pid, x.lane, x.start}, x.end-x.start, args)
			for _, in := range inputs {
				a.consume(d, x, in)
			}
		}
	}
}

// describe takes apart the label of x.
func (d *device) describe(x *op) (name, typ string, inputs []string) {
	switch {
	case d.fromGPU():
		name, typ = kernelLabel(x.GetTimelineLabel(), x.GetNodeName())
		return name, typ, nil
	case x.GetNodeName() == received:
		return received, received, nil
	}
	typ, inputs = opLabel(x.GetTimelineLabel())
	return x.GetNodeName(), typ, inputs
}

var labelForm = regexp.MustCompile(`^(.*) = (.*)\((.*)\)`)

// opLabel takes apart "name = Op(input, input)".
func opLabel(label string) (typ string, inputs []string) {
	m := labelForm.FindStringSubmatch(label)
	if m == nil {
		return "unknown", nil
	}
	if m[3] != "" {
		inputs = strings.Split(m[3], ", ")
	}
	return m[2], inputs
}

// kernelLabel finds the node that a kernel belongs to: it is annotated as
// "@@name:op#", or its own name has that form.
func kernelLabel(label, node string) (name, typ string) {
	start, end := strings.Index(label, "@@"), strings.Index(label, "#")
	if start >= 0 && start+2 < end {
		node = label[start+2 : end]
	}
	fields := append(strings.Split(node, ":"), "unknown")
	return fields[0], fields[1]
}
