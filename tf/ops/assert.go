package ops

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Assert", In: "condition: bool; data: T", Attrs: "T: list(type) >= 1; summarize: int = 3",
		Stateful: true, Shape: noOutputs, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(assert),
	})
}

// AssertOpts are the optional attributes of Assert: how many elements of each
// tensor the message shows, 3 if 0 and all if negative.
type AssertOpts struct{ Summarize int }

// Apply sets the attributes.
func (o AssertOpts) Apply(s *tf.Spec) {
	if o.Summarize != 0 {
		s.Set("summarize", o.Summarize)
	}
}

// Assert fails with InvalidArgument unless condition, a scalar, is true. The
// message shows the tensors in data. Operations that rely on the condition have
// to run after it. There is at least one tensor in data, of any type. A vector
// of one bool counts as a scalar; another shape fails the step with
// InvalidArgument as well. Its options are [AssertOpts].
func Assert(condition tf.Output, data []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "Assert", append([]tf.Output{condition}, data...), opts...)
}

func assert(n *core.Node) (core.Kernel, error) {
	most := n.Int("summarize")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() > 1 || x.Len() != 1 {
			return tf.Errorf(tf.InvalidArgument, "In[0] should be a scalar: %s", x.Shape().String())
		}
		if core.Data[bool](x)[0] {
			return nil
		}
		return tf.Errorf(tf.InvalidArgument, "assertion failed: %s", strings.Join(summaries(c, most), " "))
	}), nil
}

// summaries formats all inputs but the first, in brackets.
func summaries(c *core.OpContext, most int) []string {
	out := make([]string, c.Inputs()-1)
	for i := range out {
		out[i] = "[" + summarize(c.Input(i+1), most) + "]"
	}
	return out
}
