package stepstats

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// allocator is TensorFlow's name for a host's memory. Readers of traces sum by
// it.
const allocator = "cpu"

// describe fills in what a node has made. The caller holds c.mu.
func (c *Collector) describe(s *pb.NodeExecStats, ctx *core.OpContext) {
	fresh := int64(0)
	for k := range ctx.Out {
		t, ref := value(&ctx.Out[k])
		if t == nil {
			continue
		}
		a := &pb.AllocationDescription{RequestedBytes: int64(t.NumBytes()), AllocatorName: allocator}
		if b := t.Buffer(); b != nil {
			a.AllocatedBytes, a.HasSingleReference = int64(b.Len()), b.Sole()
			if !ref && !given(ctx, b) {
				fresh += int64(b.Len())
				delete(c.allocations, b) // whatever was there before
			}
			a.AllocationId = c.number(b)
		}
		s.Output = append(s.Output, &pb.NodeOutput{Slot: int32(k), TensorDescription: &pb.TensorDescription{
			Dtype: pb.DataType(t.DType()), Shape: core.ShapeProto(t.Shape()), AllocationDescription: a,
		}})
		if ref {
			s.MemoryStats.PersistentMemorySize += a.RequestedBytes
			t.Release()
		}
	}
	// Of nodes that run at once the first to end is said to have needed what all have.
	passing := ctx.Pool.Passing(stepOf(ctx))
	if fresh+passing > 0 {
		s.Memory = []*pb.AllocatorMemoryUsed{{AllocatorName: allocator, TotalBytes: fresh + passing, PeakBytes: fresh + passing, LiveBytes: fresh, AllocatorBytesInUse: ctx.Pool.InUse(),
			AllocationRecords: []*pb.AllocationRecord{{AllocMicros: s.GetAllStartMicros() + s.GetOpStartRelMicros(), AllocBytes: fresh}}}}
	}
	if ctx.Node.Role() == core.Constant && len(s.GetOutput()) == 1 {
		s.MemoryStats.PersistentMemorySize = s.Output[0].GetTensorDescription().GetAllocationDescription().GetRequestedBytes()
	}
}

func stepOf(ctx *core.OpContext) int64 {
	if ctx.Step == nil {
		return 0
	}
	return ctx.ID
}

// value returns the tensor of an output, and whether it is a variable's: then
// it must be released.
func value(o *core.Slot) (t *core.Tensor, ref bool) {
	if o.T == nil && o.Ref != nil {
		return o.Ref.Load(), true
	}
	return o.T, false
}

// given reports whether a node did not make b: it came in, or belongs to the
// step or the graph.
func given(ctx *core.OpContext, b *memory.Buffer) bool {
	if r := ctx.Node.Role(); r == core.Constant || r == core.Argument || ctx.Node.Def.Has(core.ReadsVariable) {
		return true
	}
	for k := range ctx.In {
		if t := ctx.In[k].T; t != nil && b.Within(t.Buffer()) {
			return true
		}
	}
	return false
}

// number returns the number of the allocation that b holds.
func (c *Collector) number(b *memory.Buffer) int64 {
	id, known := c.allocations[b]
	if !known {
		c.made++
		id = c.made
		c.allocations[b] = id
	}
	return id
}

const megabyte = 1 << 20

// memoryLabel begins the label of a node that took much memory.
func memoryLabel(used []*pb.AllocatorMemoryUsed) (label string) {
	for _, m := range used {
		if m.GetTotalBytes()*10 < megabyte {
			continue
		}
		label += fmt.Sprintf("[%s %.1fMB %.1fMB] ", m.GetAllocatorName(), float64(m.GetTotalBytes())/megabyte, float64(m.GetPeakBytes())/megabyte)
	}
	return label
}
