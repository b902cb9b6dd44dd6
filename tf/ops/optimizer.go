package ops

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

// An optimizer declares one way of training in its two flavours: Apply... on
// reference variables and ResourceApply... on resources.
type optimizer struct {
	name  string
	vars  string // the variables that are updated, "var" first
	in    string // the other inputs, in order; "grad" or "delta" is the gradient, the others are scalars
	attrs string // beside T and use_locking
	// only says that TensorFlow has the resource flavour alone.
	only bool
	f32  rule[float32]
	f64  rule[float64]
}

// A rule reads the attributes of n and the scalars s, in the order of the
// inputs, and returns what updates stretches of the variables by one of the
// gradient.
type rule[T kernel.Float] func(n *tf.Node, s []T) func(v [][]T, g []T)

// OptimizerOpts are the optional attributes that all Apply operations have.
type OptimizerOpts struct{ UseLocking bool }

// Apply sets the attributes.
func (o OptimizerOpts) Apply(s *tf.Spec) { s.Set("use_locking", o.UseLocking) }

// register declares both flavours.
func (o optimizer) register() {
	attrs := "T: numbertype; use_locking: bool = false"
	if o.attrs != "" {
		attrs += "; " + o.attrs
	}
	d := tf.OpDef{
		Name: "ResourceApply" + o.name, In: o.signature("resource"), Attrs: attrs, Stateful: true, Expensive: true,
		Shape: o.shape, NoGrad: tf.NoGradientDefined,
		Kernels: tf.ByType("T", byType{tf.Float32: optimizerKernel(o, o.f32), tf.Float64: optimizerKernel(o, o.f64)}),
	}
	tf.Register(d)
	if o.only {
		return
	}
	d.Name, d.In, d.Out, d.Stateful = "Apply"+o.name, o.signature("Ref(T)"), "out: Ref(T)", false
	tf.Register(d)
}

// signature lists the inputs, the variables as the given type.
func (o *optimizer) signature(variable string) string {
	var args []string
	for _, v := range strings.Fields(o.vars) {
		args = append(args, v+": "+variable)
	}
	for _, x := range strings.Fields(o.in) {
		args = append(args, x+": T")
	}
	return strings.Join(args, "; ")
}

func isGradient(name string) bool { return name == "grad" || name == "delta" }

// shape checks that scalars are scalars and that the rest agrees.
func (o *optimizer) shape(c *tf.Infer) error {
	vars, in := strings.Fields(o.vars), strings.Fields(o.in)
	s, err := o.variableShapes(c, vars)
	if err != nil {
		return err
	}
	for i, name := range in {
		k := len(vars) + i
		if !isGradient(name) {
			if _, err := c.Rank(k, 0); err != nil {
				return err
			}
			continue
		}
		merged, ok := s.Merge(c.In(k))
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "the gradient must have the variable's shape: variable %v, %s %v", s, name, c.In(k))
		}
		s = merged
	}
	if c.NumOut() > 0 {
		c.Set(0, s)
	}
	return nil
}

func (o *optimizer) variableShapes(c *tf.Infer, vars []string) (s tf.Shape, err error) {
	for i, name := range vars {
		vs := c.In(i)
		if c.NumOut() == 0 {
			_, vs = c.Handle(i)
		}
		merged, ok := s.Merge(vs)
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "an optimizer's variables must have one shape: var %v, %s %v", s, name, vs)
		}
		s = merged
	}
	return s, nil
}

func optimizerKernel[T kernel.Float](o optimizer, r rule[T]) tf.NewKernel {
	vars, in := strings.Fields(o.vars), strings.Fields(o.in)
	return func(n *tf.Node) (tf.Kernel, error) {
		ref := len(n.OutTypes) > 0
		return tf.Compute(func(c *tf.OpContext) error {
			refs, err := variableRefs(c, len(vars))
			if err != nil {
				return err
			}
			err = updateAll(refs, func(ts []*tf.Tensor) error {
				s, g, err := optimizerInputs[T](c, vars, in, ts)
				if err != nil {
					return err
				}
				runRule(c, r(n, s), ts, g)
				return nil
			})
			if err == nil && ref {
				c.Out[0].Ref = c.In[0].Ref
			}
			return err
		}), nil
	}
}

// variableRefs returns the cells of the variables in the first n inputs, which
// are references or handles.
func variableRefs(c *tf.OpContext, n int) ([]*tf.Ref, error) {
	refs := make([]*tf.Ref, n)
	for i := range refs {
		if refs[i] = c.In[i].Ref; refs[i] != nil {
			continue
		}
		if c.In[i].T == nil {
			return nil, tf.Errorf(tf.Internal, "Invalid variable reference.")
		}
		v, err := lookupVariable(c, i)
		if err != nil {
			return nil, err
		}
		refs[i] = &v.Ref
	}
	return refs, nil
}

// updateAll calls f with the values of all refs for f to change, holding all
// their locks. They are taken in the order of their addresses, so that two
// steps that update the same variables cannot wait for each other.
func updateAll(refs []*tf.Ref, f func([]*tf.Tensor) error) error {
	values := make([]*tf.Tensor, len(refs))
	order := slices.Clone(refs)
	slices.SortFunc(order, func(a, b *tf.Ref) int {
		return cmp.Compare(uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(b)))
	})
	order = slices.Compact(order)
	var lock func(k int) error
	lock = func(k int) error {
		if k == len(order) {
			return f(values)
		}
		return order[k].Update(func(t *tf.Tensor) error {
			for i, r := range refs {
				if r == order[k] {
					values[i] = t
				}
			}
			return lock(k + 1)
		})
	}
	return lock(0)
}

// optimizerInputs checks variables and inputs and returns the scalars and the
// gradient.
func optimizerInputs[T kernel.Float](c *tf.OpContext, vars, in []string, ts []*tf.Tensor) (s []T, g *tf.Tensor, err error) {
	for i, t := range ts {
		switch {
		case t == nil:
			return nil, nil, tf.Errorf(tf.FailedPrecondition, "Attempting to use uninitialized variables: input %s has no value", vars[i])
		case t.DType() != tf.TypeOf[T]():
			return nil, nil, tf.Errorf(tf.InvalidArgument, "Trying to update a variable of type %s as %s", t.DType().CName(), tf.TypeOf[T]().CName())
		case !t.Shape().Equal(ts[0].Shape()):
			return nil, nil, unlikeVar(vars[i], ts[0], t)
		}
	}
	for i, name := range in {
		t := c.Input(len(vars) + i)
		switch {
		case isGradient(name):
			if g = t; !t.Shape().Equal(ts[0].Shape()) {
				return nil, nil, unlikeVar(name, ts[0], t)
			}
		case t.Rank() != 0:
			return nil, nil, tf.Errorf(tf.InvalidArgument, "%s is not a scalar: %s", name, t.Shape().Text())
		default:
			s = append(s, tf.Data[T](t)[0])
		}
	}
	return s, g, nil
}

func unlikeVar(name string, v, t *tf.Tensor) error {
	return tf.Errorf(tf.InvalidArgument, "var and %s do not have the same shape%s %s", name, v.Shape().Text(), t.Shape().Text())
}

// runRule runs f over all elements, on several threads if there are many.
func runRule[T kernel.Float](c *tf.OpContext, f func(v [][]T, g []T), vars []*tf.Tensor, grad *tf.Tensor) {
	g := tf.Data[T](grad)
	c.ParallelFor(len(g), elementGrain, func(lo, hi int) {
		v := make([][]T, len(vars))
		for i, t := range vars {
			v[i] = tf.Data[T](t)[lo:hi]
		}
		f(v, g[lo:hi])
	})
}
