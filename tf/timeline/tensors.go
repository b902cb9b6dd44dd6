package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/pb"
)

// tensor is an output of an op: from when it is made until it is last read.
type tensor struct {
	id        int
	pid       int
	from      place // where arrows begin
	made      int64
	gone      int64
	allocator string
	bytes     int64
}

// makeTensors notes the outputs of all ops.
func (a *analysis) makeTensors() {
	for _, d := range a.devices {
		for _, x := range d.ops {
			for k, o := range x.GetOutput() {
				name := x.GetNodeName()
				if k > 0 {
					name = fmt.Sprintf("%s:%d", name, k)
				}
				a.makeTensor(d, x, name, o)
			}
		}
	}
}

func (a *analysis) makeTensor(d *device, x *op, name string, o *pb.NodeOutput) {
	alloc := o.GetTensorDescription().GetAllocationDescription()
	t := &tensor{
		id: len(a.tensors), pid: d.tensors, from: place{d.pid, x.lane, x.end}, made: x.start, gone: x.end,
		allocator: alloc.GetAllocatorName(), bytes: alloc.GetRequestedBytes(),
	}
	if a.tensors[name] == nil {
		a.order = append(a.order, name)
	}
	a.tensors[name] = t
	if !a.Memory {
		return
	}
	a.trace.object("N", name, place{t.pid, x.lane, x.start}, t.id)
	snapshot := a.trace.object("O", name, place{t.pid, x.lane, x.end - 1}, t.id)
	snapshot.Args = map[string]any{"snapshot": map[string]any{"tensor_description": text(o.GetTensorDescription())}}
}

// consume notes that x reads a tensor, and draws the arrow. Arrows within a row
// would only be in the way.
func (a *analysis) consume(d *device, x *op, name string) {
	t := a.tensors[name]
	if i := strings.LastIndex(name, "/_"); t == nil && i > 0 { // a receive stands for the producer
		name = name[:i]
		t = a.tensors[name]
	}
	if t == nil {
		return
	}
	t.gone = max(t.gone, x.end-1)
	if a.HideDataflow || t.from.pid == d.pid && t.from.tid == x.lane {
		return
	}
	a.trace.flow(name, t.from, place{d.pid, x.lane, x.start}, a.flows)
	a.flows++
}

// change is one tensor made or gone.
type change struct {
	time, bytes int64
	name        string
}

// showMemory ends the life of all tensors, and counts what each allocator had
// in use.
func (a *analysis) showMemory() {
	changes := map[string][]change{}
	var allocators []string
	for _, name := range a.order {
		t := a.tensors[name]
		a.trace.object("D", name, place{t.pid, 0, t.gone}, t.id)
		if changes[t.allocator] == nil {
			allocators = append(allocators, t.allocator)
		}
		changes[t.allocator] = append(changes[t.allocator], change{t.made, t.bytes, name}, change{t.gone, -t.bytes, name})
	}
	for _, name := range allocators {
		list := changes[name]
		slices.SortFunc(list, func(x, y change) int {
			return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.bytes, y.bytes), strings.Compare(x.name, y.name))
		})
		a.count(name, list)
	}
}

func (a *analysis) count(allocator string, list []change) {
	most, used, live := Maximum{Tensors: []string{}}, int64(0), map[string]bool{}
	for _, c := range list {
		used += c.bytes
		if c.bytes < 0 {
			delete(live, c.name)
		} else {
			live[c.name] = true
		}
		if used > most.Bytes {
			most = Maximum{Micros: c.time, Bytes: used, Tensors: slices.Sorted(maps.Keys(live))}
		}
		a.trace.counter(allocator, place{a.allocators, 0, c.time}, used)
	}
	a.maximums[allocator] = most
}
