// Package collective has the ops by which the nodes of several devices, of one
// task or of many, do things together: reduce, gather, exchange and broadcast
// tensors. Each device has a node of its own; those of one group and instance
// belong together.
package collective

import (
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	reduced   = "T: {bfloat16, float, float16, float64, int32, int64}"
	gathered  = "T: {float, float16, float64, int32, int64}"
	broadcast = "T: {bool, float, float16, float64, int32, int64}"
	merging   = "; merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}"
	keys      = "; group_size: int; group_key: int; instance_key: int"
	hints     = "; communication_hint: string = 'auto'; timeout_seconds: float = 0"
)

func init() {
	register("CollectiveReduce", core.GroupInstance, "input: T", reduced+keys+merging+"; subdiv_offsets: list(int); wait_for: list(int) = []"+hints, core.UnchangedShape, reduceKernel)
	register("CollectiveGather", core.GroupInstance, "input: T", gathered+keys+"; shape: shape"+hints, gatherShape, gatherKernel)
	register("CollectiveBcastSend", core.GroupInstance, "input: T", broadcast+keys+"; shape: shape"+hints, declaredShape, sendKernel)
	register("CollectiveBcastRecv", core.GroupInstance, "", broadcast+keys+"; shape: shape"+hints, declaredShape, receiveKernel)
}

// register declares an op whose one output is what a group has computed.
func register(name string, traits core.Traits, in, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, Traits: traits, In: in, Out: "data: T", Attrs: attrs, Stateful: true,
		Shape: shape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(k),
	})
}

// A Group names what devices do together: all nodes, one on each device, that
// name the same group and instance. Size is how many devices there are.
type Group struct {
	Size, Key, Instance int
	// TimeoutSeconds bounds how long a node waits for the others, and how long
	// the rest takes; 0: nothing does.
	TimeoutSeconds float32
}

// Apply sets the attributes.
func (g Group) Apply(s *tf.Spec) {
	s.Set("group_size", g.Size)
	s.Set("group_key", g.Key)
	s.Set("instance_key", g.Instance)
	s.Set("timeout_seconds", g.TimeoutSeconds)
}

// Reduce merges x with those of the other devices, element by element: merge
// is "Add", "Mul", "Min" or "Max". All devices get the result, divided by
// their number if final is "Div", as it is if that is "Id". Shapes must be
// equal. The types are bfloat16, float16, float32, float64, int32 and int64;
// the result has the shape of x. A group size that is not positive is refused
// with INVALID_ARGUMENT in the step. Its options are [Group].
func Reduce(x tf.Output, g Group, merge, final string, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, g, tf.Attr("merge_op", merge), tf.Attr("final_op", final), tf.Attr("subdiv_offsets", []int{0}))
	return tf.Apply(nil, "CollectiveReduce", []tf.Output{x}, opts...).Output(0)
}

// Gather puts x, which has at least one dimension, and those of the other
// devices one after the other. The devices' names say in which order. Shapes
// must be equal. The types are float16, float32, float64, int32 and int64; the
// result has as many rows as all devices have together. A scalar is refused
// with INVALID_ARGUMENT, when the graph is built if its shape is known, else
// in the step. Its options are [Group].
func Gather(x tf.Output, g Group, opts ...tf.Option) tf.Output {
	shape := x.Shape().Clone()
	if len(shape) > 0 && shape[0] >= 0 {
		shape[0] *= g.Size
	}
	opts = tf.Join(opts, g, tf.Attr("shape", shape))
	return tf.Apply(nil, "CollectiveGather", []tf.Output{x}, opts...).Output(0)
}

// BcastSend gives x, whose shape must be known, to the other devices, and
// returns it. The types are bool, float16, float32, float64, int32 and int64.
// A shape that is not known is refused with INVALID_ARGUMENT in the step, an x
// of another shape with INTERNAL. Its options are [Group].
func BcastSend(x tf.Output, g Group, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, g, tf.Attr("shape", x.Shape()))
	return tf.Apply(nil, "CollectiveBcastSend", []tf.Output{x}, opts...).Output(0)
}

// BcastRecv returns what one of the other devices gives by BcastSend, of the
// given type and shape. The types are those of BcastSend. A shape that is not
// fully known is refused with INVALID_ARGUMENT in the step.
// Its options are [Group].
func BcastRecv(g *tf.Graph, d tf.DType, shape tf.Shape, group Group, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, group, tf.Attr("T", d), tf.Attr("shape", shape))
	return tf.Apply(g, "CollectiveBcastRecv", nil, opts...).Output(0)
}

// gatherShape has as many rows as all members together.
func gatherShape(c *core.Infer) error {
	s, err := withRows(c)
	if err != nil || s == nil {
		return err
	}
	if s[0] >= 0 {
		s[0] *= c.Node.Int("group_size")
	}
	c.Set(0, s)
	return nil
}

// withRows returns a copy of the shape of what is gathered, or scattered.
func withRows(c *core.Infer) (tf.Shape, error) {
	s := c.In(0)
	if s != nil && len(s) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0")
	}
	return s.Clone(), nil
}

func declaredShape(c *core.Infer) error {
	c.Set(0, c.Node.ShapeAttr("shape"))
	return nil
}

// run does a node's part without keeping the caller.
func run(c *core.OpContext, p *core.Collective, done func(error)) {
	if c.Step == nil || c.Collectives == nil {
		done(tf.Errorf(tf.Internal, "Failed to get CollectiveExecutor from OpKernelContext for Op %s", p.Name))
		return
	}
	c.Apart(func() error { return c.Collectives.Do(c, p) }, done)
}

// seconds is a timeout as nodes give it.
func seconds(v float32) time.Duration {
	if v <= 0 {
		return 0
	}
	return time.Duration(float64(v) * float64(time.Second))
}

// opName is what messages call an op that merges.
func opName(merge string) string {
	switch merge {
	case "Max":
		return "Maximum"
	case "Min":
		return "Minimum"
	}
	return merge
}
