package stepstats

import (
	"fmt"
	"time"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A Transfer is a tensor that came from another task.
type Transfer struct {
	Tensor     string // name of the edge
	Src, Dst   string // devices
	Start, End time.Time
	Bytes      int64
}

// Received records a tensor that came from another task, on the device that it
// was for.
func (c *Collector) Received(t Transfer) {
	d := max(0, t.End.Sub(t.Start))
	s := &pb.NodeExecStats{
		NodeName: "RecvTensor", TimelineLabel: t.label(d),
		AllStartMicros: t.Start.UnixMicro(), AllStartNanos: t.Start.UnixNano(),
		OpEndRelMicros: d.Microseconds(), OpEndRelNanos: d.Nanoseconds(),
		AllEndRelMicros: d.Microseconds(), AllEndRelNanos: d.Nanoseconds(),
		Output: []*pb.NodeOutput{{TensorDescription: &pb.TensorDescription{
			AllocationDescription: &pb.AllocationDescription{RequestedBytes: t.Bytes},
		}}},
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.devices[t.Dst] = append(c.devices[t.Dst], s)
}

// label says how much was received how fast.
func (t *Transfer) label(d time.Duration) string {
	size := fmt.Sprintf("[%dB] ", t.Bytes)
	if t.Bytes*10 >= megabyte {
		size = fmt.Sprintf("[%.1fMB] ", float64(t.Bytes)/megabyte)
	}
	rate := 8 * float64(t.Bytes) / float64(max(1, d.Microseconds())) // Mb/s
	speed := fmt.Sprintf("[%fMb/s] ", rate)
	if rate >= 1000 {
		speed = fmt.Sprintf("[%.1fGb/s] ", rate/1000)
	}
	return size + speed + t.Tensor + " from " + t.Src + " to " + t.Dst
}
