// Package stepstats gathers what a traced step reports of itself: when each
// node ran on each device, what it made and how much memory that took, and what
// crossed between tasks. The executors tell it as [tf.Tracer]; sessions, workers
// and masters merge and hand out the result.
package stepstats

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Collector gathers the statistics of one step. Its methods may be called
// from any goroutine.
type Collector struct {
	mu          sync.Mutex
	devices     map[string][]*pb.NodeExecStats
	allocations map[*memory.Buffer]int64 // number of what was last made in a buffer
	made        int64
}

// New returns an empty collector.
func New() *Collector {
	return &Collector{devices: map[string][]*pb.NodeExecStats{}, allocations: map[*memory.Buffer]int64{}}
}

// Ran records a node that has been run. It is [tf.Tracer]'s.
func (c *Collector) Ran(ctx *core.OpContext, label string, t core.NodeTimes) {
	if ctx.Node.Role().Transfers() {
		// As in TensorFlow: what they wait for is no work of theirs, and readers of
		// a trace find the producer by the consumer's label.
		return
	}
	s := times(t, time.Now())
	s.NodeName = ctx.Node.Name
	device := ctx.Device.Spec().String()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.describe(s, ctx)
	s.TimelineLabel = memoryLabel(s.GetMemory()) + label
	c.devices[device] = append(c.devices[device], s)
}

// times fills in when a node ran. All but the first two are relative to the
// start.
func times(t core.NodeTimes, end time.Time) *pb.NodeExecStats {
	if t.KernelStart.IsZero() {
		t.KernelStart, t.KernelEnd = t.Start, t.Start
	}
	since := func(x time.Time) (micros, nanos int64) {
		d := max(0, x.Sub(t.Start))
		return d.Microseconds(), d.Nanoseconds()
	}
	s := &pb.NodeExecStats{
		AllStartMicros: t.Start.UnixMicro(), AllStartNanos: t.Start.UnixNano(),
		ScheduledMicros: t.Ready.UnixMicro(), ScheduledNanos: t.Ready.UnixNano(),
		MemoryStats: &pb.MemoryStats{},
	}
	s.OpStartRelMicros, s.OpStartRelNanos = since(t.KernelStart)
	s.OpEndRelMicros, s.OpEndRelNanos = since(t.KernelEnd)
	s.AllEndRelMicros, s.AllEndRelNanos = since(end)
	return s
}

// Add takes in what another task reports of the same step.
func (c *Collector) Add(s *pb.StepStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range s.GetDevStats() {
		c.devices[d.GetDevice()] = append(c.devices[d.GetDevice()], d.GetNodeStats()...)
	}
}

// Proto returns what has been gathered, devices by name and nodes by time. The
// collector must not be used any more.
func (c *Collector) Proto() *pb.StepStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := &pb.StepStats{}
	for _, name := range slices.Sorted(maps.Keys(c.devices)) {
		nodes := c.devices[name]
		slices.SortStableFunc(nodes, func(a, b *pb.NodeExecStats) int { return cmp.Compare(start(a), start(b)) })
		assignThreads(nodes)
		out.DevStats = append(out.DevStats, &pb.DeviceStepStats{Device: name, NodeStats: nodes})
	}
	return out
}

// start is when a node began, in nanoseconds; old peers count in microseconds.
func start(s *pb.NodeExecStats) int64 {
	return cmp.Or(s.GetAllStartNanos(), s.GetAllStartMicros()*1000)
}

func end(s *pb.NodeExecStats) int64 {
	return start(s) + cmp.Or(s.GetAllEndRelNanos(), s.GetAllEndRelMicros()*1000)
}

// assignThreads numbers what ran at the same time. Goroutines have no numbers
// that would mean anything, so each node, taken in order of their starts, gets
// the lowest number that is free.
func assignThreads(nodes []*pb.NodeExecStats) {
	var until []int64 // by number: when it is free again
	for _, s := range nodes {
		k := slices.IndexFunc(until, func(t int64) bool { return t <= start(s) })
		if k < 0 {
			k = len(until)
			until = append(until, 0)
		}
		until[k] = end(s)
		s.ThreadId = uint32(k)
	}
}
