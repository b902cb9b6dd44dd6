package stepstats

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// CostGraph returns the parts of a graph, by device, with what their nodes cost
// in a step: time, output sizes, and memory that outlives the step.
func CostGraph(parts []*graph.Graph, s *pb.StepStats) *pb.CostGraphDef {
	c := costs{stats: map[string]*pb.NodeExecStats{}, ids: map[*graph.Node]int32{}, out: &pb.CostGraphDef{}}
	for _, d := range s.GetDevStats() {
		for _, n := range d.GetNodeStats() {
			c.add(n)
		}
	}
	for _, p := range parts {
		for _, n := range p.Nodes {
			c.ids[n] = int32(len(c.ids))
		}
	}
	for _, p := range parts {
		for _, n := range p.Nodes {
			c.out.Node = append(c.out.Node, c.node(n))
		}
	}
	return c.out
}

type costs struct {
	stats map[string]*pb.NodeExecStats // by node; times summed over the iterations of a loop
	ids   map[*graph.Node]int32
	out   *pb.CostGraphDef
}

func (c *costs) add(n *pb.NodeExecStats) {
	have := c.stats[n.GetNodeName()]
	if have == nil {
		have = &pb.NodeExecStats{}
		c.stats[n.GetNodeName()] = have
	}
	have.Output, have.MemoryStats = n.GetOutput(), n.GetMemoryStats()
	have.OpEndRelMicros += n.GetOpEndRelMicros() - n.GetOpStartRelMicros()
}

func (c *costs) node(n *graph.Node) *pb.CostGraphDef_Node {
	s := c.stats[n.Name]
	out := &pb.CostGraphDef_Node{
		Name: n.Name, Device: n.Device, Id: c.ids[n], ComputeCost: s.GetOpEndRelMicros(),
		PersistentMemorySize: s.GetMemoryStats().GetPersistentMemorySize(),
		TemporaryMemorySize:  s.GetMemoryStats().GetTempMemorySize(),
		IsFinal:              len(n.OutTypes) == 0,
	}
	for _, x := range n.In {
		out.InputInfo = append(out.InputInfo, &pb.CostGraphDef_Node_InputInfo{PrecedingNode: c.ids[x.Node], PrecedingPort: int32(x.Out)})
	}
	for _, p := range n.Control {
		out.ControlInput = append(out.ControlInput, c.ids[p])
	}
	for k := range n.OutTypes {
		out.OutputInfo = append(out.OutputInfo, c.output(n, k))
	}
	return out
}

// output describes output k of n: as it was, or, if it has not been seen, as
// far as is known.
func (c *costs) output(n *graph.Node, k int) *pb.CostGraphDef_Node_OutputInfo {
	o := &pb.CostGraphDef_Node_OutputInfo{Size: -1, AliasInputPort: -1, Shape: core.ShapeProto(n.OutShape(k)), Dtype: pb.DataType(n.OutTypes[k])}
	for _, made := range c.stats[n.Name].GetOutput() {
		if int(made.GetSlot()) != k {
			continue
		}
		d := made.GetTensorDescription()
		o.Size, o.Shape = d.GetAllocationDescription().GetRequestedBytes(), d.GetShape()
		o.AliasInputPort = c.alias(n, d.GetAllocationDescription().GetAllocationId())
	}
	return o
}

// alias returns the input whose memory an output is, -1 if it has its own.
func (c *costs) alias(n *graph.Node, id int64) int64 {
	if id == 0 {
		return -1
	}
	for k, x := range n.In {
		for _, in := range c.stats[x.Node.Name].GetOutput() {
			if int(in.GetSlot()) == x.Out && in.GetTensorDescription().GetAllocationDescription().GetAllocationId() == id {
				return int64(k)
			}
		}
	}
	return -1
}
