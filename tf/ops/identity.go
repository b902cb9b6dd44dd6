package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	pass := core.OpDef{In: "input: T", Out: "output: T", Attrs: "T: type", Shape: core.UnchangedShape, Kernels: core.AnyType(forward)}
	with := func(name string, change func(*core.OpDef)) {
		d := pass
		d.Name = name
		change(&d)
		core.Register(d)
	}
	with("Identity", func(d *core.OpDef) {
		d.Traits, d.Grad, d.SparseGrad = core.View|core.Passthrough, tf.GradFunc(passGrad), tf.SparseGradFunc(passSparse)
	})
	with("StopGradient", func(d *core.OpDef) { d.Traits, d.NoGrad = core.View|core.Marker, core.NotDifferentiable })
	with("Snapshot", func(d *core.OpDef) { d.Traits, d.NoGrad = core.Marker, core.NoGradientDefined })
	with("GuaranteeConst", func(d *core.OpDef) {
		d.NoGrad, d.Stateful, d.Kernels = core.NoGradientDefined, true, core.AnyType(guaranteeConst)
	})
	with("_EagerConst", func(d *core.OpDef) { d.NoGrad = core.NoGradientDefined })
	with("PreventGradient", func(d *core.OpDef) {
		d.Traits, d.Attrs = core.View|core.Marker, d.Attrs+"; message: string = ''"
		d.Grad = tf.GradFunc(preventedGrad)
	})
	core.Register(core.OpDef{
		Name: "IdentityN", In: "input: T", Out: "output: T", Attrs: "T: list(type) >= 1",
		Shape: likeInputs, Grad: tf.GradFunc(passGrad), SparseGrad: tf.SparseGradFunc(passSparse), Kernels: core.AnyType(identityN),
	})
	// Arguments of functions that are lists, from and to one by one.
	core.Register(core.OpDef{
		Name: "_ArrayToList", In: "input: N * T", Out: "output: out_types", Attrs: "T: type; N: int >= 1; out_types: list(type) >= 1",
		Shape: likeInputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(rewrapped),
	})
	core.Register(core.OpDef{
		Name: "_ListToArray", In: "input: Tin", Out: "output: N * T", Attrs: "Tin: list(type) >= 1; T: type; N: int >= 1",
		Shape: likeInputs, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(rewrapped),
	})
	core.Register(core.OpDef{Name: "NoOp", Shape: noOutputs, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(noOp)})
}

// guaranteeConst passes values on, but no handles: what lies behind one changes.
func guaranteeConst(n *core.Node) (core.Kernel, error) {
	if n.Type("T") == tf.Resource {
		return core.Compute(func(*core.OpContext) error {
			return tf.Errorf(tf.InvalidArgument, "Input tensor cannot be a resource variable handle.")
		}), nil
	}
	return forward(n)
}

// Identity returns x itself, under a name and on a device of its own. x is of
// any type and shape, none of which is refused; its elements are not copied.
func Identity(x tf.Output, opts ...tf.Option) tf.Output { return apply("Identity", opts, x) }

// IdentityN returns all of xs as outputs of one operation: none is ready
// before all are. xs has at least one element, each of a type and shape of
// its own.
func IdentityN(xs []tf.Output, opts ...tf.Option) []tf.Output {
	return outputs(len(xs), "IdentityN", opts, xs...)
}

// StopGradient returns x, which counts as a constant when gradients are taken.
// x is of any type and shape; none is refused.
func StopGradient(x tf.Output, opts ...tf.Option) tf.Output { return apply("StopGradient", opts, x) }

// PreventGradientOpts are the optional attributes of PreventGradient: the
// reason that the error gives.
type PreventGradientOpts struct{ Message string }

// Apply sets the attributes.
func (o PreventGradientOpts) Apply(s *tf.Spec) { s.Set("message", o.Message) }

// PreventGradient returns x; taking a gradient through it is an error.
// Its options are [PreventGradientOpts]. x is of any type and shape. The code
// of the error is FAILED_PRECONDITION, and its text ends with the option's
// message.
func PreventGradient(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("PreventGradient", opts, x)
}

// Snapshot returns x. x is of any type and shape; none is refused. No gradient
// is defined.
func Snapshot(x tf.Output, opts ...tf.Option) tf.Output { return apply("Snapshot", opts, x) }

// NoOp adds an operation that does nothing, to be run for what it comes
// After. It has neither inputs nor outputs. A g that is nil is refused with
// INVALID_ARGUMENT.
func NoOp(g *tf.Graph, opts ...tf.Option) *tf.Operation { return tf.Apply(g, "NoOp", nil, opts...) }

func likeInputs(c *core.Infer) error {
	if c.NumIn() != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "there must be as many outputs as inputs, got %d and %d", c.NumOut(), c.NumIn())
	}
	for i := range c.NumIn() {
		c.Set(i, c.In(i))
	}
	return nil
}

func passGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(dy...) }

func passSparse(_ *tf.Operation, dy []tf.Gradient) []tf.Gradient { return dy }

func preventedGrad(op *tf.Operation, _ []tf.Output) []tf.Gradient {
	err := tf.Errorf(tf.FailedPrecondition, "Gradient explicitly disabled. Reason: %s", op.Str("message"))
	return tf.Grads(apply("PreventGradient", []tf.Option{invalid{err}}, op.Input(0)))
}

func identityN(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		for i := range c.In {
			c.Forward(i, i)
		}
		return nil
	}), nil
}

func noOp(*core.Node) (core.Kernel, error) {
	return core.Compute(func(*core.OpContext) error { return nil }), nil
}

// rewrapped is identityN for a node that lists its types twice.
func rewrapped(n *core.Node) (core.Kernel, error) {
	if !slices.Equal(n.InTypes, n.OutTypes) {
		return nil, tf.Errorf(tf.InvalidArgument, "values must come out in the types in which they went in: %v and %v", n.InTypes, n.OutTypes)
	}
	return identityN(n)
}
