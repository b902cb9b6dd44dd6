package data

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// kernelOf returns the kernel of a node that computes at once, without a graph.
func kernelOf(n *core.Node) (core.Compute, error) {
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	kernel, err := find(n)
	if err != nil {
		return nil, err
	}
	compute, ok := kernel.(core.Compute)
	if !ok {
		return nil, tf.Errorf(tf.Unimplemented, "the op %s has to be in a graph to be computed", n.OpName())
	}
	return compute, nil
}

// compute runs a node outside of a graph.
func compute(s *core.Step, n *core.Node, in []*core.Tensor) ([]*core.Tensor, error) {
	kernel, err := kernelOf(n)
	if err != nil {
		return nil, err
	}
	c := &core.OpContext{Step: s, Node: n, In: make([]core.Slot, len(in)), Out: make([]core.Slot, len(n.OutTypes))}
	for i, t := range in {
		c.In[i].T = t
	}
	if err := kernel(c); err != nil {
		return nil, err
	}
	out := make([]*core.Tensor, len(c.Out))
	for i := range out {
		out[i] = c.Out[i].T
	}
	return out, nil
}

// remade makes a dataset as another was made, of other inputs.
func remade(o *dataset.Origin, in []*core.Tensor) (*core.Tensor, error) {
	out, err := compute(&core.Step{Functions: o.Functions, Resources: o.Resources}, o.Node, in)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// onTop makes a dataset that an op derives from that of a tensor, with elements
// of the same types.
func onTop(op string, of *core.Tensor, more []*core.Tensor, attrs core.Attrs) (*core.Tensor, error) {
	d, err := dataset.Of(of)
	if err != nil {
		return nil, err
	}
	all := core.Attrs{"output_types": d.Spec().Types, "output_shapes": d.Spec().Shapes}
	for k, v := range attrs {
		all[k] = v
	}
	n, err := core.NewNode(op, op, all)
	if err != nil {
		return nil, err
	}
	out, err := compute(&core.Step{}, n, append([]*core.Tensor{of}, more...))
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// first returns o's inputs with another first one.
func first(o *dataset.Origin, t *core.Tensor) []*core.Tensor {
	return append([]*core.Tensor{t}, o.In[1:]...)
}

// is reports whether a name is that of an op or of a later version of it:
// "PrefetchDatasetV2" is "PrefetchDataset".
func is(name, op string) bool {
	rest, ok := strings.CutPrefix(name, op)
	if !ok {
		return false
	}
	return rest == "" || rest[0] == 'V' && len(rest) > 1 && strings.Trim(rest[1:], "0123456789") == ""
}

// isAny is [is] for one of several ops.
func isAny(o *dataset.Origin, ops []string) bool {
	return slices.ContainsFunc(ops, func(op string) bool { return is(o.Node.OpName(), op) })
}
