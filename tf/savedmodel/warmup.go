package savedmodel

import (
	"context"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// WarmUp does what Prepare does and runs the signature once with a row of zeros, see
// [TensorSpec.Zeros], so that the memory of a run is there and what is planned by
// shapes is planned. It runs nothing if that could change or draw on the model's state
// (variables that are written, random numbers, queues), or if sizes beside the first are
// not known. Strings that the model parses as a tf.Example or decodes as an image are
// such as it can read, with all features; others are empty. That the model refuses such a
// row is no error.
func (s *Signature) WarmUp(ctx context.Context) error {
	if err := core.NeedContext(ctx, "WarmUp"); err != nil {
		return err
	}
	if err := s.Prepare(ctx); err != nil || !s.pure {
		return err
	}
	in := make(map[string]any, len(s.ins))
	for key, spec := range s.ins {
		t, ok := spec.Zeros()
		if !ok {
			return nil
		}
		if text, ok := s.samples[key]; ok {
			for i := range core.Data[string]((*core.Tensor)(t)) {
				core.Data[string]((*core.Tensor)(t))[i] = text
			}
		}
		in[key] = t
	}
	_, err := s.Run(ctx, in)
	if ctx.Err() != nil {
		return err
	}
	return nil
}

// Zeros returns a tensor as s describes it: one row if the size of dimension 0 is not
// known, of zeros, false or empty strings. It reports whether there is one: all other
// sizes must be known, there must be memory for it, and the type must be of numbers, bool
// or string.
func (s *TensorSpec) Zeros() (*tf.Tensor, bool) {
	d := s.DType
	if s.Shape == nil || !d.IsFloat() && !d.IsInteger() && !d.IsComplex() && d != tf.Bool && d != tf.String {
		return nil, false
	}
	shape := s.Shape.Clone()
	if len(shape) > 0 && shape[0] < 0 {
		shape[0] = 1
	}
	if slices.ContainsFunc(shape, func(n int) bool { return n < 0 }) {
		return nil, false
	}
	t, err := core.AllocTensor(d, shape)
	return (*tf.Tensor)(t), err == nil
}

// pure reports whether to run a signature leaves the model as it is and gives the same
// again.
func (n *needs) pure(def *pb.SignatureDef) bool {
	seen := map[string]bool{} // functions
	var left []*pb.NodeDef
	for name := range n.reach(signatureNodes(def)...) {
		left = append(left, n.nodes[name])
	}
	for len(left) > 0 {
		d := left[len(left)-1]
		left = left[:len(left)-1]
		called, ok := n.pureNode(d)
		if !ok {
			return false
		}
		for _, name := range called {
			if seen[name] {
				continue
			}
			seen[name] = true
			f := n.library.Find(name)
			if f == nil {
				return false
			}
			left = append(left, f.GetNodeDef()...)
		}
	}
	return true
}

// pureNode is pure for a node, if the functions that it calls are.
func (n *needs) pureNode(d *pb.NodeDef) (called []string, ok bool) {
	if n.library.Find(d.GetOp()) != nil {
		return []string{d.GetOp()}, true
	}
	def := core.Lookup(d.GetOp())
	if def == nil {
		return nil, false
	}
	called = calledBy(d)
	return called, len(called) > 0 && def.Role != core.Computes || pureOp(def)
}

// calledBy returns the names of the functions in a node's attributes.
func calledBy(d *pb.NodeDef) (out []string) {
	for _, a := range d.GetAttr() {
		for _, f := range append(slices.Clone(a.GetList().GetFunc()), a.GetFunc()) {
			if f != nil {
				out = append(out, f.GetName())
			}
		}
	}
	return out
}

// pureOp reports whether an op has no effect that outlives a step: it has no state,
// reads that of others, or only finds an object, as a variable.
func pureOp(def *core.OpDef) bool {
	isRef := func(a core.ArgDef) bool { return a.Ref }
	isObject := func(a core.ArgDef) bool { return a.Ref || a.Type == core.Resource }
	switch {
	case def.Has(core.ReadsState | core.Awaited), strings.HasPrefix(def.Name, "LookupTableFind"), strings.HasPrefix(def.Name, "TensorArray"):
		return true
	case len(def.Inputs) == 0 && slices.ContainsFunc(def.Outputs, isObject):
		return true
	}
	return !def.Stateful && !slices.ContainsFunc(def.Inputs, isRef)
}
